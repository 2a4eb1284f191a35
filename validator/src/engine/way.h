/* The way back (RULES.md M.2): where reading goes on after a failure. A pure function of the bytes in sight and of what is known of
 * classes and stack traces. It looks for the first offset from which a chain of items leads on that chance does not make. */
#ifndef HPROF_WAY_H
#define HPROF_WAY_H

#include "engine/recovery.h"
#include "state/file.h"

/* Where a chain must lead. */
struct search {
    const struct sight *sight;
    struct file *file; /* its classes and stack traces */
    uint64_t end;      /* of the heap dump record, if records follow there; else UINT64_MAX, and records are sought too */
    uint64_t past;     /* no chain counts that breaks off before this offset */
    const uint32_t (*times)[2]; /* of the last two records: the last one may be the wrong one; NULL where there is none */
    bool in_series;             /* of segments: no HEAP_DUMP follows */
    bool in_dump;               /* the search begins at a record of a dump in an array */
    /* The next offset from one on where a chain may begin; `until` if there is none before. NULL: it may begin anywhere. */
    uint64_t (*next_begin)(const void *context, uint64_t from, uint64_t until);
    /* Whether the records from a header on are in no array, as far as the bytes out of sight say; NULL if these cannot be read. */
    bool (*leads_past)(const void *context, uint64_t at);
    const void *context;
    uint64_t *spent; /* steps that chains of all searches took to see how far they lead; NULL where none are counted */
    uint64_t most;   /* how many these may become, so that time is linear */
    bool is_doubt;   /* that of a sub-record which ends at `past`: what follows it is there in any case, and is no evidence */
};

enum { LONGEST_STRING = 1 << 16 /* longer ones are not believed to be strings */ };

enum way_kind { WAY_NONE, WAY_SUBRECORD, WAY_RECORD };

struct way {
    enum way_kind kind;
    uint64_t at;  /* if there is none: up to here every offset was tried, or belongs to a dump in an array */
    bool in_dump; /* a record of such a dump begins there */
};

/* Whether the time of a record fits that of the one before it. Most producers write no times. */
bool is_time_after(uint32_t time, uint32_t before);

/* Whether the bytes from an offset up to another one, as far as they are in sight, may be a string: zero bytes are C0 80 in
 * modified UTF-8. Each record that begins there has some, so that all looks together are linear. */
bool may_be_text(const struct sight *body, size_t from, size_t until);

/* Offsets are from the start of the sight. Tries those from `from` on, up to `until`. */
struct way find_way(const struct search *search, uint64_t from, uint64_t until);

/* The first offset between two others from which plausible sub-records lead exactly to `to`, which is in sight; 0 for none. */
uint64_t find_start(const struct search *search, uint64_t from, uint64_t until, uint64_t to);

/* Whether a chain of sub-records begins before an offset. Looks at no more items than `steps`. */
bool subrecords_begin(const struct search *search, uint64_t until, uint64_t steps);

/* Whether a chain of records begins here, and none of sub-records does. Looks at no more items than `steps`. */
bool records_begin(const struct search *search, uint64_t steps);

/* Where the chain of sub-records that begins here breaks off: 0 if there is none, UINT64_MAX if it does not in sight. */
uint64_t reach_of_subrecords(const struct search *search, uint64_t steps);

#endif
