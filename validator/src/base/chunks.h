/* A list of equal elements that never moves them. Its blocks have about 64 KiB, so that growing copies nothing and wastes little;
 * the first has about 1 KiB, because most lists of a small dump hold a handful of elements. */
#ifndef HPROF_CHUNKS_H
#define HPROF_CHUNKS_H

#include "base/memory.h"

struct chunks {
    struct memory *memory;
    uint8_t **blocks;
    size_t block_capacity; /* of the table of blocks */
    size_t block_count;
    size_t element;      /* bytes */
    unsigned first_bits; /* the first block has 1 << first_bits elements */
    unsigned block_bits; /* every other block has 1 << block_bits */
    size_t count;        /* elements in use */
};

void chunks_init(struct chunks *c, struct memory *memory, size_t element);
void chunks_clear(struct chunks *c);

/* Adds an element at the end, not zeroed; NULL if memory ran out. */
void *chunks_add(struct chunks *c);

/* The second block leaves room for the elements of the first unused, so that no division is needed. */
static inline void *chunks_at(const struct chunks *c, size_t i)
{
    if (i >> c->first_bits == 0)
        return c->blocks[0] + i * c->element;
    return c->blocks[1 + (i >> c->block_bits)] + (i & (((size_t)1 << c->block_bits) - 1)) * c->element;
}

/* Removes the elements from `count` on, but keeps the memory. */
static inline void chunks_shrink(struct chunks *c, size_t count)
{
    c->count = count;
}

#endif
