/* Rules, shapes and profiles as C sees them: rules.def, explanations.def, profiles.def. */
#ifndef HPROF_RULES_H
#define HPROF_RULES_H

#include "hprof/hprof.h"

enum rule {
#define RULE(family, number, name, severity, clause, rows, summary) RULE_##family##_##number,
#include "findings/rules.def"
#undef RULE
    RULE_COUNT
};

/* In which shape a rule is broken, where a quirk of some producer asks for it (profiles.def). A shape is of one rule alone. */
enum finding_shape {
    SHAPE_ANY,              /* none of those below */
    SHAPE_ARRAY_CLASS,      /* CLS-004: an array class */
    SHAPE_ARRAY_ELEMENT,    /* REF-002: only elements of Object[] name it */
    SHAPE_STICKY_CLASS,     /* REF-001: a sticky class */
    SHAPE_LOAD_OR_START,    /* STK-012: named by LOAD_CLASS or START_THREAD */
    SHAPE_UNPREPARED_CLASS, /* CLS-017: instance size 0, no fields of its own */
    SHAPE_EMPTY_STRING,     /* STR-002: the empty string */
    SHAPE_EMPTY_TRACE,      /* ROOT-005: the stack trace of the thread has no frames */
    SHAPE_NO_TRACE_MARK,    /* STK-012: 0xffffffff of a thread root */
    SHAPE_THREAD_ONE,       /* STK-011: thread 1 */
    SHAPE_CLASS_ZERO,       /* OBJ-003: class 0 */
    SHAPE_COUNT
};

enum profile {
    PROFILE_STRICT,
    PROFILE_AUTO,
    PROFILE_HOTSPOT,
    PROFILE_JDK8_AGENT,
    PROFILE_JVMPI_AGENT,
    PROFILE_SA,
    PROFILE_ANDROID,
    PROFILE_GRAALVM,
    PROFILE_MAT,
    PROFILE_COUNT
};

/* What a finding counts as in a profile; *quirk is the reason when it is one of the profile's quirks, else NULL. */
enum hprof_severity rule_severity(enum rule rule, enum finding_shape shape, enum profile profile, const char **quirk);

#endif
