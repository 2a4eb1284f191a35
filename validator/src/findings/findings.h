/* The findings: all are counted, as many as will be shown are kept, and severities are given at the end, when the profile is
 * known. */
#ifndef HPROF_FINDINGS_H
#define HPROF_FINDINGS_H

#include "base/chunks.h"
#include "findings/rules.h"

/* A kept finding. `order` decides which findings are the first of their rule. It is the offset, except for findings whose offset
 * may never be known. */
struct finding {
    uint64_t order;
    uint64_t number; /* findings counted up to this one */
    uint32_t dump;   /* the number of the heap dump: decides between findings of the same order */
    uint64_t offset;
    uint64_t related_offset;
    size_t wanted; /* 1 + the index in findings.wanted of offset or related_offset, if that must still be found; else 0 */
    char *texts;   /* path, expected and found: three strings in a row, or NULL */
    size_t texts_size;
};

/* An offset that the second look finds: of the first definition of `subject`, or of its first use. */
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
    char *name; /* what uses `subject` there, or NULL */
};

/* Findings are counted by rule, and by shape if they have one. */
enum { WITHDRAWN_MOST = 4 }; /* more are kept than are shown, because so many single ones may be withdrawn from among them */
enum { GROUP_COUNT = (int)RULE_COUNT + (int)SHAPE_COUNT - 1 };

static inline size_t group_of(enum rule rule, enum finding_shape shape)
{
    return shape == SHAPE_ANY ? (size_t)rule : (size_t)RULE_COUNT + (size_t)shape - 1;
}

enum { LATEST_FINDINGS = 64 };

struct findings {
    struct memory *memory;
    uint32_t dump;                        /* the number of the present heap dump */
    uint64_t counted;                     /* findings so far, including those rolled back */
    bool silent;                          /* only findings of the GZ family are counted */
    uint64_t cap;                         /* findings kept for each rule and shape; UINT64_MAX for all */
    struct chunks wanted;                 /* struct wanted_offset */
    bool wants_offsets, wants_references; /* whether anybody will see these offsets: any, and those of references */
    struct shown *shown;                  /* room for all kept findings, from findings_prepare() on */
    size_t shown_capacity;
    struct finding_group {
        enum rule rule; /* rule and shape are set by the first finding */
        enum finding_shape shape;
        uint64_t total;
        struct finding *kept; /* a heap, the last by order on top */
        size_t count, capacity;
    } groups[GROUP_COUNT];
    struct withdrawal { /* see findings_withdraw() */
        struct finding_group *group;
        uint64_t from, until, findings;
    } withdrawn[2];
    unsigned withdrawn_count;
    struct counted_finding { /* the last ones: see findings_expect_again() */
        enum rule rule;
        enum finding_shape shape;
        uint64_t order, number;
    } latest[LATEST_FINDINGS];
    uint64_t again_from, again_until;
};

void findings_init(struct findings *d, struct memory *memory, uint64_t max_errors);
void findings_clear(struct findings *d);

/* Counts a finding. Returns it if it is kept, so that the caller can complete it before the next call; NULL if it is not. */
struct finding *findings_count(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t order);

/* What lies between two offsets is read again: what was found there lately, and is found again, counts once, and is described
 * anew. */
void findings_expect_again(struct findings *d, uint64_t from, uint64_t until);

/* Withdraws the findings of a rule from an offset on, and before another: `findings` of them. It takes effect in findings_end(),
 * unless findings_roll_back() comes first. At most two may wait for that. */
void findings_withdraw(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t from, uint64_t until,
                       uint64_t findings);

/* A checkpoint to which findings_roll_back() returns. After findings_silence() nothing is counted any more. Neither applies to
 * findings of the GZ family. */
struct findings_checkpoint {
    uint64_t counted;
    uint64_t totals[GROUP_COUNT];
    uint64_t again_from, again_until;
};
void findings_checkpoint(const struct findings *d, struct findings_checkpoint *checkpoint);
void findings_roll_back(struct findings *d, const struct findings_checkpoint *checkpoint);
void findings_silence(struct findings *d);

/* Called after reading, before findings_verdict(); before, where checking goes on after findings were withdrawn. */
void findings_end(struct findings *d);

/* Gives a finding its texts. `path` may be NULL. */
void findings_describe(struct findings *d, struct finding *f, const char *path, const char *expected, const char *found);

/* Before the first finding: which offsets the second look is to find. By default all. */
void findings_want(struct findings *d, bool offsets, bool references);

/* Has the second look find an offset of the finding, if these are wanted. */
void findings_want_offset(struct findings *d, struct finding *f, enum wanted_kind kind, uint64_t subject);

/* Says what uses the subject at the offset. */
void findings_name_wanted(struct findings *d, struct wanted_offset *wanted, const char *name);

/* Findings by rule and by severity. */
struct verdict {
    uint64_t totals[RULE_COUNT];
    uint64_t quirk_notes[RULE_COUNT]; /* notes because of a quirk */
    uint64_t errors, warnings, notes;
};

struct severity_choice {
    enum profile profile;
    const uint8_t *changed; /* by rule: a severity, or HPROF_UNCHANGED for that of the profile; NULL for none */
    bool werror;
    const bool *in_baseline; /* by rule: its findings are notes; NULL for none */
};

enum hprof_severity findings_severity(const struct severity_choice *choice, enum rule rule, enum finding_shape shape,
                                      const char **quirk);

/* Counts the findings by their severity in `choice`; with `other`, only those that `other` makes notes because of a quirk of its
 * profile. Rules that every profile except strict softens do not count there. */
void findings_verdict(const struct findings *d, const struct severity_choice *choice, const struct severity_choice *other,
                      struct verdict *v);

/* Allocates the memory that findings_show() needs, once all findings are counted. False if memory ran out. */
bool findings_prepare(struct findings *d);
/* Calls on_finding for each finding to be shown, in order, until it returns anything but 0. Returns what it last returned; 0 if it
 * was not called, as when findings_prepare() failed. */
int findings_show(struct findings *d, const struct severity_choice *choice, uint64_t max_errors,
                  int (*on_finding)(void *context, const struct hprof_finding *finding), void *context);

#endif
