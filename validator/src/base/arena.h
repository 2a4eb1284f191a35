/* Memory that is given back all at once: pieces of any size cut from blocks. */
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

/* size bytes, aligned to 8; NULL when memory ran out. Not zeroed. */
void *arena_get(struct arena *a, size_t size);

#endif
