/* Memory that is released all at once: pieces of any size, allocated from blocks. */
#ifndef HPROF_ARENA_H
#define HPROF_ARENA_H

#include "base/memory.h"

struct arena {
    struct memory *memory;
    struct arena_block *last;
    size_t left;
};

void arena_init(struct arena *a, struct memory *memory);
void arena_clear(struct arena *a);

/* Returns `size` bytes, aligned to 8 and not zeroed; NULL if memory ran out. */
void *arena_get(struct arena *a, size_t size);

#endif
