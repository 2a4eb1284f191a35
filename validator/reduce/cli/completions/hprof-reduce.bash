# Derived from the tables of options by ci/derive.
# shellcheck shell=bash
_hprof_reduce() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' before=''
    COMPREPLY=()
    # --option=value is three words: = is in COMP_WORDBREAKS
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $prev in
    -o|--output) return ;;
    --match) compopt +o default; return ;;
    --timeout) compopt +o default; return ;;
    --runs) compopt +o default; return ;;
    -j|--jobs) compopt +o default; return ;;
    *)
        [[ $cur == -* ]] || return
        words='--output --match --timeout --keep-valid --runs --jobs --quiet --version --help -o -j -q -V -h'
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur#"$before"}")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
complete -o default -F _hprof_reduce hprof-reduce
