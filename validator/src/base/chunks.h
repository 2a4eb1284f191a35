/* A list of equal elements that never moves them: blocks of 64 KiB, so that growing copies nothing and wastes little. */
#ifndef HPROF_CHUNKS_H
#define HPROF_CHUNKS_H

#include "base/memory.h"

struct chunks {
    struct memory *memory;
    uint8_t **blocks;
    size_t block_capacity; /* of the table of blocks */
    size_t block_count;
    size_t element;   /* bytes */
    size_t per_block; /* elements */
    size_t count;     /* elements in use */
};

void chunks_init(struct chunks *c, struct memory *memory, size_t element);
void chunks_clear(struct chunks *c);

/* A new element at the end, not zeroed; NULL when memory ran out. */
void *chunks_add(struct chunks *c);

static inline void *chunks_at(const struct chunks *c, size_t i)
{
    return c->blocks[i / c->per_block] + i % c->per_block * c->element;
}

/* Forgets the elements from `count` on; keeps the memory. */
static inline void chunks_shrink(struct chunks *c, size_t count)
{
    c->count = count;
}

#endif
