/* The findings: counted all, kept as many as will be shown, given a severity at the end, when the profile is known. Knows rules,
 * nothing of dumps. */
#ifndef HPROF_DIAG_H
#define HPROF_DIAG_H

#include "chunks.h"
#include "rules.h"

/* What will be shown of a finding. `order` decides which findings are the first of their rule and is its offset, but for those
 * whose offset may never be known. */
struct finding {
    uint64_t order;
    uint64_t rests_to; /* behind the last byte that it rests on */
    uint32_t dump;     /* decides between findings of the same order: the number of the heap dump */
    uint64_t offset;
    uint64_t related_offset;
    size_t place; /* in `places`, plus 1: where offset or related_offset will be found; 0 for none */
    char *texts;  /* path, expected, found: three strings, one behind the other; NULL while there is none */
    size_t texts_size;
};

/* What a second look will find: where `subject` is defined first, or named first. */
enum place_kind {
    PLACE_OF_STRING,
    PLACE_OF_FRAME,
    PLACE_OF_CLASS_SERIAL,
    PLACE_OF_OBJECT,
    PLACE_OF_THREAD_ROOT,
    PLACE_OF_REFERENCE,
    PLACE_OF_ELEMENT
};
struct place {
    uint64_t subject; /* an ID or a serial */
    uint64_t at;      /* HPROF_NO_OFFSET until it is found */
    enum place_kind kind;
};

/* Findings are counted by rule; those in a shape, which one rule alone has, apart. */
enum { GROUP_COUNT = RULE_COUNT + SHAPE_COUNT - 1 };

static inline size_t group_of(enum rule rule, enum finding_shape shape)
{
    return shape == SHAPE_ANY ? (size_t)rule : (size_t)RULE_COUNT + (size_t)shape - 1;
}

struct diag {
    struct memory *memory;
    uint32_t dump;        /* the number of the present heap dump */
    uint64_t rests_to;    /* what is found now rests on bytes up to here, and on the field where it stands */
    uint64_t changes;     /* of the totals so far */
    uint64_t closed_from; /* an offset; UINT64_MAX for none */
    uint64_t cap;         /* kept for each rule and shape; UINT64_MAX for all */
    struct chunks places; /* struct place, in the order in which they were asked for */
    struct shown *shown;  /* room for all that is kept, from diag_prepare() on */
    size_t shown_capacity;
    struct diag_group {
        enum rule rule; /* these two are known from the first finding on */
        enum finding_shape shape;
        uint64_t total;
        struct finding *kept; /* a heap: the last by order on top */
        size_t count, capacity;
    } groups[GROUP_COUNT];
};

void diag_init(struct diag *d, struct memory *memory, uint64_t max_errors);
void diag_clear(struct diag *d);

/* Counts a finding, at `order`, where a field of so many bytes is what is wrong. Returns it if it is to be kept, to be completed
 * by the caller before the next call; NULL if it will not be shown. */
struct finding *diag_count(struct diag *d, enum rule rule, enum finding_shape shape, uint64_t order, unsigned field_size);

/* Takes back the findings of a rule from an offset on; none of it came before one that stays. */
void diag_retract(struct diag *d, enum rule rule, uint64_t offset, uint64_t findings);

/* How many findings there were when judging had come to an offset. diag_return() takes back what rests on bytes from `from` on,
 * which is at or behind that offset; after diag_close() nothing that does is taken any more. Neither is for the findings of the
 * GZ family. */
struct diag_mark {
    uint64_t offset;
    uint64_t changes;
    uint64_t totals[GROUP_COUNT];
};
void diag_mark(const struct diag *d, uint64_t offset, struct diag_mark *mark);
void diag_return(struct diag *d, const struct diag_mark *mark, uint64_t from);
void diag_close(struct diag *d, uint64_t from);
bool diag_is_closed(const struct diag *d);

/* Gives a finding its texts. `where` may be NULL. */
void diag_describe(struct diag *d, struct finding *f, const char *where, const char *expected, const char *found);

/* Asks for the place of something that the finding lacks. */
void diag_seek(struct diag *d, struct finding *f, enum place_kind kind, uint64_t subject);

/* Findings of a rule by what the profile makes of them. */
struct verdict {
    uint64_t totals[RULE_COUNT];
    uint64_t errors, warnings, notes;
};

struct severity_choice {
    enum profile profile;
    const uint8_t *changed; /* by rule, HPROF_UNCHANGED where the profile decides; or NULL */
    bool werror;
};

enum hprof_severity diag_severity(const struct severity_choice *choice, enum rule rule, enum finding_shape shape,
                                  const char **quirk);
/* Whether each finding that is an error by one choice is, by the other, a quirk that its profile names: not merely softened as
 * all profiles but strict soften some rules. */
bool diag_errors_are_quirks(const struct diag *d, const struct severity_choice *choice, const struct severity_choice *other);
void diag_judge(const struct diag *d, const struct severity_choice *choice, struct verdict *v);

/* To be called when all is counted: takes the memory that diag_show() needs. False when there is none. */
bool diag_prepare(struct diag *d);
/* Hands out what is to be shown, in order; nothing if diag_prepare() failed. */
void diag_show(struct diag *d, const struct severity_choice *choice, uint64_t max_errors,
               void (*on_finding)(void *context, const struct hprof_finding *finding), void *context);

#endif
