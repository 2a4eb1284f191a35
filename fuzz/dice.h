/* Random numbers for the mutator and the targets: the same seed gives the same numbers. */
#ifndef HPROF_FUZZ_DICE_H
#define HPROF_FUZZ_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t throw_dice(struct dice *d)
{
    uint64_t v = d->state += 0x9E3779B97F4A7C15U;

    v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9U;
    v = (v ^ v >> 27) * 0x94D049BB133111EBU;
    return v ^ v >> 31;
}

/* Below n, which is not 0. */
static inline uint64_t below(struct dice *d, uint64_t n)
{
    return throw_dice(d) % n;
}

static inline bool one_in(struct dice *d, uint64_t n)
{
    return below(d, n) == 0;
}

#endif
