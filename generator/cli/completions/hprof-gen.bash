# Derived from the tables of options by ci/derive.
# shellcheck shell=bash
_hprof_gen() {
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
    --manifest) return ;;
    --gz)
        words='1 2 3 4 5 6 7 8 9'
        ;;
    --objects) compopt +o default; return ;;
    --bytes) compopt +o default; return ;;
    --seed) compopt +o default; return ;;
    --dump-version)
        words='1.0.1 1.0.2 1.0.3'
        ;;
    --id-size)
        words='4 8'
        ;;
    --segment-size) compopt +o default; return ;;
    --heap-dumps) compopt +o default; return ;;
    --records)
        words='heap sites samples all'
        ;;
    --like)
        words='android graalvm hotspot hotspot-11 hotspot-17 hotspot-21 hotspot-25 hotspot-28 hotspot-8 jdk8-agent jvmpi-agent mat plain sa sa-11 sa-17 sa-21 sa-25 sa-28'
        ;;
    --shape)
        words='arrays deep graph list mixed strings threads tree wide'
        ;;
    --load)
        words='none javac map web'
        ;;
    --classes) compopt +o default; return ;;
    --threads) compopt +o default; return ;;
    --stack-depth) compopt +o default; return ;;
    --references) compopt +o default; return ;;
    --array-length) compopt +o default; return ;;
    --string-length) compopt +o default; return ;;
    --violate)
        before=${cur%"${cur##*,}"}
        words='HDR-001/next-version HDR-001/version-1.1.0 HDR-001/longer-version HDR-001/lower-case HDR-001/no-nul HDR-001/byte-order-mark HDR-001/zeros HDR-001/java-class HDR-002/version-1.0 HDR-003/version-1.0.3 HDR-004/five HDR-004/zero HDR-004/two HDR-004/sixteen HDR-004/little-endian HDR-004/minus-one HDR-005/empty HDR-005/in-format HDR-005/before-nul HDR-005/in-id-size HDR-005/in-timestamp HDR-006/zero HDR-007/year-2100 HDR-007/microseconds HDR-007/all-bits REC-001/tag-alone REC-001/in-time REC-001/in-length REC-001/byte-after REC-001/bytes-after REC-002/record REC-002/record-header REC-002/last-byte REC-002/sub-record REC-002/at-sub-record REC-003/0x77 REC-003/0x00 REC-003/0x08 REC-003/0x10 REC-003/0xff REC-004/back REC-004/almost-a-wrap REC-005/segment REC-005/end REC-005/old-header REC-006/heap-dump REC-007/dropped REC-007/added REC-008/byte REC-008/eight-bytes REC-009/end REC-010/segment REC-010/heap-dump REC-011/zero REC-012/wrapped REC-013/0x77 REC-013/0x00 REC-013/0x09 REC-013/0x24 REC-013/android REC-014/values REC-014/head REC-014/tag-alone REC-014/class REC-015/elements REC-015/elements-wrap REC-015/root REC-015/tag-alone REC-015/instance REC-015/class REC-016/definition REC-016/header STR-001/byte-short STR-001/empty STR-002/text STR-002/empty STR-003/again STR-004/other-text STR-004/empty STR-004/longer STR-005/ff STR-005/latin-1 STR-005/continuation STR-005/overlong STR-005/cut-at-end STR-005/cut-in-the-middle STR-005/utf-16 STR-005/above-10ffff STR-005/five-bytes STR-006/class STR-006/method STR-006/signature STR-006/source STR-006/thread STR-006/group STR-006/parent-group STR-006/static STR-006/field STR-006/last-field STR-006/heap STR-007/class STR-007/method STR-007/signature STR-007/source STR-007/thread STR-007/group STR-007/parent-group STR-007/static STR-007/field STR-007/heap STR-008/class STR-008/method STR-008/signature STR-008/thread STR-008/static STR-008/field STR-008/heap STR-009/terminated STR-009/nul-alone CLS-001/byte-more CLS-001/byte-less CLS-001/four-more CLS-001/empty CLS-001/says-0 CLS-001/says-more CLS-002/zero CLS-003/other-class CLS-003/same-class CLS-004/reloaded CLS-005/zero CLS-006/byte-more CLS-006/byte-less CLS-006/eight-more CLS-006/empty CLS-006/says-0 CLS-006/says-more CLS-007/never-loaded CLS-007/loaded-later CLS-008/class CLS-008/with-instance CLS-009/same CLS-009/other-layout CLS-010/missing CLS-010/with-instance CLS-010/object CLS-011/own-superclass CLS-011/two-classes CLS-012/class CLS-013/first CLS-013/second CLS-013/all-bits CLS-014/3 CLS-014/0 CLS-014/1 CLS-014/12 CLS-014/255 CLS-015/3 CLS-015/0 CLS-015/1 CLS-015/12 CLS-015/255 CLS-016/3 CLS-016/0 CLS-016/1 CLS-016/12 CLS-016/255 CLS-017/larger CLS-017/smaller CLS-017/zero CLS-017/superclass-forgotten CLS-017/unprepared CLS-018/renamed CLS-018/renamed-after-unload CLS-019/twice CLS-020/field CLS-021/superclass CLS-022/class CLS-023/array CLS-023/instance STK-001/byte-more STK-001/byte-less STK-001/no-line STK-001/empty STK-001/says-0 STK-001/says-more STK-002/again STK-003/other-line STK-003/no-source STK-004/minus-4 STK-004/minus-100 STK-004/smallest STK-005/zero STK-006/undefined STK-007/byte-more STK-007/byte-less STK-007/frame-more STK-007/frame-less STK-007/count-wraps STK-007/no-count STK-007/empty STK-007/says-0 STK-007/says-more STK-008/again STK-009/more-frames STK-009/fewer-frames STK-009/no-frames STK-009/other-order STK-010/first-frame STK-010/last-frame STK-011/unknown STK-012/instance STK-012/object-array STK-012/primitive-array STK-012/class STK-012/thread-root STK-012/load-class STK-012/start-thread STK-012/site STK-012/sample STK-013/zero STK-014/zero THR-001/byte-more THR-001/byte-less THR-001/empty THR-001/says-0 THR-001/says-more THR-002/byte-more THR-002/byte-less THR-002/empty THR-002/says-0 THR-002/says-more THR-003/zero THR-004/live THR-004/after-reuse THR-005/never-started THR-005/started-later THR-006/twice PRF-001/byte-more PRF-001/byte-less PRF-001/site-more PRF-001/site-less PRF-001/no-count PRF-001/empty PRF-001/says-0 PRF-001/says-more PRF-002/1 PRF-002/3 PRF-002/12 PRF-002/255 PRF-003/undefined PRF-004/8 PRF-004/0x8007 PRF-004/all-bits PRF-005/live-bytes PRF-005/live-instances PRF-005/allocated-bytes PRF-005/allocated-instances PRF-005/sum-wraps PRF-006/byte-more PRF-006/byte-less PRF-006/narrow PRF-006/empty PRF-006/says-0 PRF-006/says-more PRF-007/byte-more PRF-007/byte-less PRF-007/trace-more PRF-007/trace-less PRF-007/count-wraps PRF-007/no-count PRF-007/empty PRF-007/says-0 PRF-007/says-more PRF-008/sum PRF-008/sum-wraps PRF-009/byte-more PRF-009/byte-less PRF-009/wide PRF-009/no-depth PRF-009/empty PRF-009/says-0 PRF-009/says-more PRF-010/4 PRF-010/7 PRF-010/highest PRF-011/site-bytes PRF-011/site-instances PRF-011/total-bytes PRF-011/summary-instances ROOT-001/unknown ROOT-001/jni-global ROOT-001/jni-local ROOT-001/java-frame ROOT-001/native-stack ROOT-001/sticky-class ROOT-001/thread-block ROOT-001/monitor-used ROOT-001/interned-string ROOT-001/jni-monitor ROOT-002/same ROOT-002/other-object ROOT-003/java-frame ROOT-003/jni-local ROOT-003/native-stack ROOT-003/thread-block ROOT-003/jni-monitor ROOT-004/java-frame ROOT-004/jni-local ROOT-004/native-stack ROOT-004/thread-block ROOT-005/java-frame ROOT-005/jni-local ROOT-005/no-frames ROOT-005/far ROOT-006/java-frame ROOT-006/jni-local ROOT-006/smallest ROOT-007/zero ROOT-008/class ROOT-009/array ROOT-009/instance ROOT-010/array ROOT-010/instance OBJ-001/instance OBJ-001/object-array OBJ-001/primitive-array OBJ-001/class OBJ-002/missing OBJ-002/object OBJ-002/zero OBJ-003/missing OBJ-003/object OBJ-003/zero OBJ-004/instance OBJ-004/object-array OBJ-004/primitive-array OBJ-004/other-kind OBJ-005/object-first OBJ-005/class-first OBJ-006/byte-more OBJ-006/byte-less OBJ-006/empty OBJ-006/no-fields OBJ-006/superclass-forgotten OBJ-006/class-later OBJ-006/says-more OBJ-006/says-less OBJ-006/count-too-large OBJ-006/count-too-small OBJ-007/class OBJ-008/2 OBJ-008/0 OBJ-008/1 OBJ-008/3 OBJ-008/12 OBJ-008/255 OBJ-008/nodata OBJ-009/only OBJ-009/last-of-many OBJ-009/far OBJ-010/field OBJ-010/inherited-field OBJ-010/class-later OBJ-010/static OBJ-010/constant OBJ-011/instance OBJ-012/int-array REF-001/unknown REF-001/jni-global REF-001/jni-local REF-001/java-frame REF-001/native-stack REF-001/sticky-class REF-001/thread-block REF-001/monitor-used REF-001/thread-object REF-001/interned-string REF-001/finalizing REF-001/debugger REF-001/reference-cleanup REF-001/vm-internal REF-001/jni-monitor REF-001/unreachable REF-002/element REF-002/last-element REF-002/far-element REF-002/field REF-002/inherited-field REF-002/class-later REF-002/static REF-002/constant REF-002/loader REF-002/signers REF-002/domain GZ-001/header GZ-002/data GZ-003/checksum GZ-004/size GZ-005/truncated GZ-006/trailing-bytes GZ-007/nested GZ-008/zeros'
        ;;
    --at) compopt +o default; return ;;
    --violations) compopt +o default; return ;;
    --each-fault) compopt +o default; return ;;
    --damage)
        before=${cur%"${cur##*,}"}
        words='truncate disk-full tag type count length record-tag record-length zero-page lose insert double swap lose-segment crlf latin1 seven-bit text-before gz-cut gz-no-trailer gz-damage-member gz-lose-member parts'
        ;;
    --from) return ;;
    --fit) return ;;
    --from-profile) return ;;
    --serve) compopt +o default; return ;;
    --format)
        words='b a'
        ;;
    --cpu)
        words='samples times old'
        ;;
    *)
        [[ $cur == -* ]] || return
        words='--output --manifest --digests --answers --gz --objects --bytes --seed --dump-version --id-size --segment-size --heap-dumps --records --like --shape --load --classes --threads --stack-depth --references --array-length --string-length --violate --at --violations --each-fault --list-violations --damage --list-damage --from --fit --from-profile --serve --format --cpu --monitor --orders --progress= --quiet --version= --help= -o -q -V -h'
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur#"$before"}")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
complete -o default -F _hprof_gen hprof-gen
