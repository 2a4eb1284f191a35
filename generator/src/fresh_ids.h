/* Numbers that occur nowhere in a dump, as IDs or serials: drawn at first, and struck out as they are met. */
#ifndef HPROF_GEN_FRESH_IDS_H
#define HPROF_GEN_FRESH_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fresh_ids {
    uint64_t *values; /* in order; those that stay come first in `free` once the look is over */
    uint64_t *free;
    bool *met;
    size_t count, free_count;
    unsigned width; /* 4 or 8 bytes */
    uint8_t filter[1 << 15];
    uint8_t carry[7]; /* the last bytes of the part of the body before */
    size_t carried;
};

/* False without memory; fresh_ids_free() must follow all the same. */
bool fresh_ids_fill(struct fresh_ids *p, uint64_t wanted, unsigned width, bool is_serial, uint64_t seed);
void fresh_ids_free(struct fresh_ids *p);

void fresh_ids_strike(struct fresh_ids *p, uint64_t value);
/* A body, or a part of one, after those before. */
void fresh_ids_scan_on(struct fresh_ids *p, const uint8_t *bytes, uint64_t n);

/* Those that stay, in an order that the seed decides. False if they are too few. */
bool fresh_ids_settle(struct fresh_ids *p, uint64_t wanted, uint64_t seed);

static inline size_t fresh_ids_filter_bit(uint64_t value)
{
    return (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 46);
}

/* Most numbers are none of ours, and a bit says so. */
static inline void fresh_ids_meet(struct fresh_ids *p, uint64_t value)
{
    size_t bit = fresh_ids_filter_bit(value);

    if (p->filter[bit >> 3] >> (bit & 7) & 1)
        fresh_ids_strike(p, value);
}

#endif
