/* Lengths in a profile. A length that twenty arrays share says little of any of them, and is kept. The others are taken together,
 * neighbours first, until twenty have one mean. The last ones, which are the longest, are rounded to one digit. */
#ifndef HPROF_GEN_POOL_H
#define HPROF_GEN_POOL_H

#include "fit/tally.h"

enum { POOL_SHARED = 20 };

enum pooled_how { POOLED_SHARED, POOLED_MEAN, POOLED_ROUNDED };

struct pooled {
    uint64_t length, count;
    enum pooled_how how;
};

struct pool {
    struct counted_range lengths; /* by their values, in ascending order */
    size_t next_shared, next_other;
};

static inline void pool_init(struct pool *p, struct counted_range lengths)
{
    *p = (struct pool){.lengths = lengths};
}

/* The next length; false at the end. */
bool pool_next(struct pool *p, struct pooled *out);

/* To the nearest number with one digit other than zero. */
uint64_t round_to_one_digit(uint64_t number);

#endif
