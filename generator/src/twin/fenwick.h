/* Numbers of which one is drawn in proportion to its size, and changed, in logarithmic time (Fenwick 1994). */
#ifndef HPROF_GEN_FENWICK_H
#define HPROF_GEN_FENWICK_H

#include <stdint.h>
#include <string.h>

struct fenwick {
    uint64_t *sums;      /* count + 1 */
    uint32_t count, top; /* top: the largest power of two up to count */
    uint64_t total;
};

static inline void fenwick_clear(struct fenwick *f, uint32_t count)
{
    f->count = count;
    f->total = 0;
    for (f->top = 1; f->top <= count / 2;)
        f->top *= 2;
    memset(f->sums, 0, (count + (size_t)1) * sizeof *f->sums);
}

/* As if these numbers were added. */
static inline void fenwick_fill(struct fenwick *f, const uint32_t *numbers, uint32_t count)
{
    fenwick_clear(f, count);
    for (uint32_t i = 1; i <= count; i++) {
        uint32_t above = i + (i & (0 - i));

        f->total += numbers[i - 1];
        f->sums[i] += numbers[i - 1];
        if (above > i && above <= count)
            f->sums[above] += f->sums[i];
    }
}

/* Of the first numbers. */
static inline uint64_t fenwick_sum(const struct fenwick *f, uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = count; i; i &= i - 1)
        sum += f->sums[i];
    return sum;
}

/* Modulo 2^64, so that `change` may be negative. */
static inline void fenwick_add(struct fenwick *f, uint32_t at, uint64_t change)
{
    f->total += change;
    for (uint32_t i = at + 1; i <= f->count; i += i & (0 - i))
        f->sums[i] += change;
}

/* The number within whose share `point`, below the total, falls. */
static inline uint32_t fenwick_find(const struct fenwick *f, uint64_t point)
{
    uint32_t at = 0;

    for (uint32_t step = f->top; step; step /= 2)
        if (at + step <= f->count && f->sums[at + step] <= point) {
            at += step;
            point -= f->sums[at];
        }
    return at;
}

#endif
