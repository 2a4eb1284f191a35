/* A caller's allocator for tests: counts what is in use, fails on request, and notices whether every block is released once
 * and with its size. */
#ifndef HPROF_TESTS_CALLER_H
#define HPROF_TESTS_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hprof/hprof.h"

struct caller {
    uint64_t left; /* allocations until all fail */
    bool refused;
    bool wrong_size; /* a block was released with another size than it was allocated with */
    uint64_t blocks, bytes, peak;
    uint64_t all_blocks, all_bytes; /* including released ones */
};

struct caller_block {
    size_t size;
    max_align_t memory[];
};

static inline void *caller_allocate(void *context, size_t size)
{
    struct caller *caller = context;
    struct caller_block *block = caller->left ? malloc(sizeof *block + size) : NULL;

    if (!block) {
        caller->refused = true;
        return NULL;
    }
    caller->left--;
    caller->blocks++;
    caller->bytes += size;
    caller->all_blocks++;
    caller->all_bytes += size;
    if (caller->bytes > caller->peak)
        caller->peak = caller->bytes;
    block->size = size;
    memset(block->memory, 0xa5, size < 4096 ? size : 4096);
    return block->memory;
}

static inline void caller_release(void *context, void *memory, size_t size)
{
    struct caller *caller = context;
    struct caller_block *block = (void *)((char *)memory - offsetof(struct caller_block, memory));

    caller->wrong_size |= block->size != size;
    caller->blocks--;
    caller->bytes -= block->size;
    free(block);
}

static inline struct hprof_allocator caller_allocator(struct caller *caller)
{
    return (struct hprof_allocator){caller_allocate, caller_release, caller};
}

/* Whether every block was released, with its size. */
static inline bool caller_has_all_back(const struct caller *caller)
{
    return caller->blocks == 0 && caller->bytes == 0 && !caller->wrong_size;
}

#endif
