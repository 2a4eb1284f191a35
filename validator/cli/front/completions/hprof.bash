# Derived from the tables of options by ci/derive.
# shellcheck shell=bash
_hprof() {
    local cur=${COMP_WORDS[COMP_CWORD]} tool='' file=${BASH_SOURCE[0]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'check repair show stats diff reduce gen serve explain --help --version' -- "$cur")
        return
    fi
    case ${COMP_WORDS[1]} in
    check|repair|show|stats|explain) tool=hprof-validate ;;
    diff) tool=hprof-diff ;;
    reduce) tool=hprof-reduce ;;
    gen) tool=hprof-gen ;;
    serve) tool=hprof-serve ;;
    *) return ;;
    esac
    # The completions of the tool lie beside this file.
    if ! declare -F "_${tool//-/_}" > /dev/null; then
        # shellcheck source=/dev/null
        source "${file%/*}/$tool${file##*/hprof}"
    fi
    "_${tool//-/_}"
}
complete -o default -F _hprof hprof
