# Derived from the tables of options by ci/derive.
# shellcheck shell=bash
_hprof_serve() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' before=''
    COMPREPLY=()
    # --option=value is three words: = is in COMP_WORDBREAKS
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $prev in
    --format)
        words='b a'
        ;;
    --cpu)
        words='off samples times old'
        ;;
    *)
        [[ $cur == -* ]] || return
        words='--format --cpu --monitor --orders --version --help -V -h'
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur#"$before"}")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
complete -o default -F _hprof_serve hprof-serve
