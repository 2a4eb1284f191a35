/* Where the object arrays of a heap dump stand, and roughly what they name: for each stretch of a MiB of the dump one small filter
 * of the pages of IDs that elements of its arrays lie in. So who looks for an ID again reads only the stretches that may
 * name it: in real dumps a few in a thousand. */
#ifndef HPROF_ARRAY_LOG_H
#define HPROF_ARRAY_LOG_H

#include "bytelog.h"
#include "idset.h"

/* A set of page numbers that may take one for another. */
struct page_filter {
    uint64_t words[16];
};

static inline void page_filter_add(struct page_filter *f, uint64_t page)
{
    uint64_t bit = page * UINT64_C(0x9E3779B97F4A7C15) >> 54;

    f->words[bit >> 6] |= UINT64_C(1) << (bit & 63);
}

static inline bool page_filters_meet(const struct page_filter *a, const struct page_filter *b)
{
    uint64_t both = 0;

    for (size_t i = 0; i < sizeof a->words / sizeof *a->words; i++)
        both |= a->words[i] & b->words[i];
    return both != 0;
}

struct array_log {
    struct bytelog offsets;  /* as differences */
    struct bytelog filters;  /* of the stretches with arrays, but for the last */
    struct page_filter last; /* add pages of elements here */
    uint64_t last_offset;
};

void array_log_init(struct array_log *log, struct memory *memory);
void array_log_clear(struct array_log *log);

/* Notes an array; offsets only grow. */
void array_log_note(struct array_log *log, uint64_t offset);

/* Reads the log from its start. */
struct array_reader {
    const struct array_log *log;
    const struct page_filter *sought;
    uint64_t next_offset, next_filter;
    uint64_t offset;
    bool met; /* the stretch of this offset may name what is sought */
};

struct array_reader array_log_read(const struct array_log *log, const struct page_filter *sought);
/* Moves to the next array whose elements may lie in one of the pages sought. False at the end. */
bool array_reader_next(struct array_reader *r);

#endif
