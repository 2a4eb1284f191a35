# Derived from the tables of options by ci/derive.
# shellcheck shell=bash
_hprof_fleet() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' before=''
    COMPREPLY=()
    # --option=value is three words: = is in COMP_WORDBREAKS
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $prev in
    --profile)
        words='strict auto hotspot jdk8-agent jvmpi-agent sa android graalvm mat'
        ;;
    --storage) compopt +o default; return ;;
    --scheduler) compopt +o default; return ;;
    -j|--jobs) compopt +o default; return ;;
    -o|--output) return ;;
    --prometheus) return ;;
    *)
        [[ $cur == -* ]] || return
        words='--profile --allow-incomplete --storage --scheduler --jobs --output --prometheus --quiet --version --help -j -o -q -V -h'
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur#"$before"}")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
complete -o default -F _hprof_fleet hprof-fleet
