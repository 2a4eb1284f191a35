/* Numbers that occur nowhere in a dump, as IDs or serials: drawn at first, and struck out as they are met. */
#ifndef HPROF_GEN_POOL_H
#define HPROF_GEN_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool {
    uint64_t *values; /* in order; those that stay come first in `free` once the look is over */
    uint64_t *free;
    bool *met;
    size_t count, free_count;
    unsigned width; /* 4 or 8 bytes */
    uint8_t filter[1 << 15];
    uint8_t carry[7]; /* the last bytes of the body's part in front */
    size_t carried;
};

/* False without memory; pool_free() must follow all the same. */
bool pool_fill(struct pool *p, uint64_t wanted, unsigned width, bool is_serial, uint64_t seed);
void pool_free(struct pool *p);

void pool_strike(struct pool *p, uint64_t value);
/* A body, or a part of one, behind those in front. */
void pool_scan_on(struct pool *p, const uint8_t *bytes, uint64_t n);

/* Those that stay, in an order that the seed decides. False if they are too few. */
bool pool_settle(struct pool *p, uint64_t wanted, uint64_t seed);

static inline size_t pool_filter_bit(uint64_t value)
{
    return (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 46);
}

/* Most numbers are none of ours, and a bit tells. */
static inline void pool_meet(struct pool *p, uint64_t value)
{
    size_t bit = pool_filter_bit(value);

    if (p->filter[bit >> 3] >> (bit & 7) & 1)
        pool_strike(p, value);
}

#endif
