/* IDs and serial numbers that a dump does not contain: drawn at random, and dropped when the dump turns out to have them. */
#ifndef HPROF_GEN_FRESH_IDS_H
#define HPROF_GEN_FRESH_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fresh_ids {
    uint64_t *values; /* sorted; at the end, the remaining ones are first in `free` */
    uint64_t *free;
    bool *met;
    size_t count, free_count;
    unsigned width; /* 4 or 8 bytes */
    uint8_t filter[1 << 15];
    uint8_t carry[7]; /* the last bytes of the preceding part of the body */
    size_t carried;
};

/* False without memory. fresh_ids_free() is needed even then. */
bool fresh_ids_fill(struct fresh_ids *p, uint64_t wanted, unsigned width, bool is_serial, uint64_t seed);
void fresh_ids_free(struct fresh_ids *p);

void fresh_ids_strike(struct fresh_ids *p, uint64_t value);
/* Drops the numbers in a body, or in the next part of one. */
void fresh_ids_scan_on(struct fresh_ids *p, const uint8_t *bytes, uint64_t n);

/* Orders the remaining numbers by the seed. False if they are too few. */
bool fresh_ids_settle(struct fresh_ids *p, uint64_t wanted, uint64_t seed);

static inline size_t fresh_ids_filter_bit(uint64_t value)
{
    return (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 46);
}

/* A bit rules out most numbers. */
static inline void fresh_ids_meet(struct fresh_ids *p, uint64_t value)
{
    size_t bit = fresh_ids_filter_bit(value);

    if (p->filter[bit >> 3] >> (bit & 7) & 1)
        fresh_ids_strike(p, value);
}

#endif
