/* Rules, shapes and profiles in C, from rules.def, explanations.def and profiles.def. */
#ifndef HPROF_RULES_H
#define HPROF_RULES_H

#include "hprof/hprof.h"

enum rule {
#define RULE(family, number, name, severity, clause, rows, summary) RULE_##family##_##number,
#include "findings/rules.def"
#undef RULE
    RULE_COUNT
};

/* Of totals by rule: how many faults a gzip file has, not counting that it is compressed twice or followed by zeros. */
static inline uint64_t count_gzip_faults(const uint64_t *totals)
{
    uint64_t count = 0;

    for (int rule = RULE_GZ_001; rule <= RULE_GZ_006; rule++)
        count += totals[rule];
    return count;
}

/* What OBJ-002, OBJ-003 and CLS-010 found, if an object has the ID: a repair makes no class for it. */
#define IS_NO_CLASS "which is no class"

/* The shape of a finding, if a quirk in profiles.def depends on it. Each shape belongs to one rule. */
enum finding_shape {
    SHAPE_ANY,         /* none of the following */
    SHAPE_ARRAY_CLASS, /* CLS-004: an array class */
    SHAPE_ARCHIVED,    /* REF-002: only one Object[] refers to it, to which only itself and one ROOT_JNI_GLOBAL refer */
    SHAPE_ARCHIVED_WITHOUT_ROOT, /* the same, without the root */
    SHAPE_COMPONENT_TYPE,        /* REF-002: only static fields $class$componentType, and elements of Object[], refer to it */
    SHAPE_ONLY_ROOT,             /* REF-001: only roots name it, and not only as a sticky class */
    SHAPE_STICKY_CLASS,          /* REF-001: only a ROOT_STICKY_CLASS names it */
    SHAPE_EVENT_CLASS,           /* REF-001: the same, and it is loaded under the name jdk/internal/event/... */
    SHAPE_LOAD_OR_START,         /* STK-012: named by LOAD_CLASS or START_THREAD */
    SHAPE_UNPREPARED_CLASS,      /* CLS-017: instance size 0, no fields of its own */
    SHAPE_EMPTY_STRING,          /* STR-002: the empty string */
    SHAPE_EMPTY_TRACE,           /* ROOT-005: the stack trace of the thread has no frames */
    SHAPE_NO_TRACE_MARK,         /* STK-012: 0xffffffff of a thread root */
    SHAPE_SERIALS_ARE_IDS,       /* STK-012: classes have their IDs as serials, and a class or an object names the trace */
    SHAPE_THREAD_ONE,            /* STK-011: thread 1 */
    SHAPE_CLASS_ZERO,            /* OBJ-003: class 0 */
    SHAPE_SOURCE_FILE,           /* STR-006: only source files of frames have this name */
    SHAPE_COUNT
};

enum profile {
#define PROFILE(identifier, name, description) PROFILE_##identifier,
#include "findings/profiles.def"
    PROFILE_COUNT
};

/* The severity of a finding in a profile. *quirk is the reason if the finding is one of the profile's quirks, else NULL. */
enum hprof_severity rule_severity(enum rule rule, enum finding_shape shape, enum profile profile, const char **quirk);

#endif
