# Derived from the tables of options by ci/derive.
# shellcheck shell=bash
_hprof_diff() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' before=''
    COMPREPLY=()
    # --option=value is three words: = is in COMP_WORDBREAKS
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $prev in
    -f|--format)
        words='text json'
        ;;
    --max-differences) compopt +o default; return ;;
    --by)
        words='id content auto'
        ;;
    --rounds) compopt +o default; return ;;
    --ignore)
        before=${cur%"${cur##*,}"}
        words='payload identity-hash order-of-maps'
        ;;
    --heap-dumps) compopt +o default; return ;;
    --constants) compopt +o default; return ;;
    -j|--jobs) compopt +o default; return ;;
    *)
        [[ $cur == -* ]] || return
        words='--format --max-differences --by --rounds --ignore --heap-dumps --assert-redacted --constants --names --quiet --jobs --help --version -f -q -j -h -V'
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur#"$before"}")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
complete -o default -F _hprof_diff hprof-diff
