/* The findings: counted all, kept as many as will be shown, given a severity at the end, when the profile is known. Knows rules,
 * nothing of dumps. */
#ifndef HPROF_FINDINGS_H
#define HPROF_FINDINGS_H

#include "base/chunks.h"
#include "findings/rules.h"

/* What will be shown of a finding. `order` decides which findings are the first of their rule and is its offset, but for those
 * whose offset may never be known. */
struct finding {
    uint64_t order;
    uint64_t number; /* it was the so-many-th to be counted */
    uint32_t dump;   /* decides between findings of the same order: the number of the heap dump */
    uint64_t offset;
    uint64_t related_offset;
    size_t wanted; /* in `wanted`, plus 1: where offset or related_offset will be found; 0 for none */
    char *texts;   /* path, expected, found: three strings, one behind the other; NULL while there is none */
    size_t texts_size;
};

/* What a second look will find: where `subject` is defined first, or named first. */
enum wanted_kind {
    WANTED_STRING,
    WANTED_FRAME,
    WANTED_CLASS_SERIAL,
    WANTED_OBJECT,
    WANTED_THREAD_ROOT,
    WANTED_REFERENCE,
    WANTED_ELEMENT
};
struct wanted_offset {
    uint64_t subject; /* an ID or a serial */
    uint64_t at;      /* HPROF_NO_OFFSET until it is found */
    enum wanted_kind kind;
};

/* Findings are counted by rule; those in a shape, which one rule alone has, apart. */
enum { GROUP_COUNT = (int)RULE_COUNT + (int)SHAPE_COUNT - 1 };

static inline size_t group_of(enum rule rule, enum finding_shape shape)
{
    return shape == SHAPE_ANY ? (size_t)rule : (size_t)RULE_COUNT + (size_t)shape - 1;
}

struct findings {
    struct memory *memory;
    uint32_t dump;        /* the number of the present heap dump */
    uint64_t counted;     /* findings so far, also those taken back */
    bool silent;          /* only findings of the GZ family are taken */
    uint64_t cap;         /* kept for each rule and shape; UINT64_MAX for all */
    struct chunks wanted; /* struct wanted_offset, in the order in which they were asked for */
    struct shown *shown;  /* room for all that is kept, from findings_prepare() on */
    size_t shown_capacity;
    struct finding_group {
        enum rule rule; /* these two are known from the first finding on */
        enum finding_shape shape;
        uint64_t total;
        struct finding *kept; /* a heap: the last by order on top */
        size_t count, capacity;
    } groups[GROUP_COUNT];
};

void findings_init(struct findings *d, struct memory *memory, uint64_t max_errors);
void findings_clear(struct findings *d);

/* Counts a finding. Returns it if it is to be kept, to be completed by the caller before the next call; NULL if it will not
 * be shown. */
struct finding *findings_count(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t order);

/* Takes back the findings of a rule from an offset on; none of it came before one that stays. */
void findings_withdraw(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t offset, uint64_t findings);

/* What was found so far. findings_roll_back() takes back what was found after that; after findings_silence() nothing is taken any more.
 * Neither is for the findings of the GZ family. */
struct findings_checkpoint {
    uint64_t counted;
    uint64_t totals[GROUP_COUNT];
};
void findings_checkpoint(const struct findings *d, struct findings_checkpoint *mark);
void findings_roll_back(struct findings *d, const struct findings_checkpoint *mark);
void findings_silence(struct findings *d);

/* Gives a finding its texts. `where` may be NULL. */
void findings_describe(struct findings *d, struct finding *f, const char *where, const char *expected, const char *found);

/* Asks for an offset that the finding lacks. */
void findings_want_offset(struct findings *d, struct finding *f, enum wanted_kind kind, uint64_t subject);

/* Findings of a rule by what the profile makes of them. */
struct verdict {
    uint64_t totals[RULE_COUNT];
    uint64_t errors, warnings, notes;
};

struct severity_choice {
    enum profile profile;
    const uint8_t *changed; /* by rule, HPROF_UNCHANGED where the profile decides; or NULL */
    bool werror;
    const bool *in_baseline; /* by rule: notes only; or NULL */
};

enum hprof_severity findings_severity(const struct severity_choice *choice, enum rule rule, enum finding_shape shape,
                                      const char **quirk);

/* Of the findings, those that are notes by the other choice because its profile names a quirk: not merely softened, as all profiles
 * but strict soften some rules. */
struct quirk_count {
    uint64_t totals[RULE_COUNT];
    uint64_t errors, warnings; /* of these, by the first choice */
};
void findings_count_quirks(const struct findings *d, const struct severity_choice *choice, const struct severity_choice *other,
                           struct quirk_count *count);
void findings_verdict(const struct findings *d, const struct severity_choice *choice, struct verdict *v);

/* To be called when all is counted: takes the memory that findings_show() needs. False when there is none. */
bool findings_prepare(struct findings *d);
/* Hands out what is to be shown, in order; nothing if findings_prepare() failed. */
void findings_show(struct findings *d, const struct severity_choice *choice, uint64_t max_errors,
                   void (*on_finding)(void *context, const struct hprof_finding *finding), void *context);

#endif
