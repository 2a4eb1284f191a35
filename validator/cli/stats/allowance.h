/* What --max-memory allows for --stats: the check, the reader and what is counted share it. */
#ifndef HPROF_CLI_STATS_ALLOWANCE_H
#define HPROF_CLI_STATS_ALLOWANCE_H

#include <pthread.h>

#include "hprof/hprof.h"

struct allowance {
    uint64_t limit; /* bytes; 0 for none */
    uint64_t used;
    pthread_mutex_t lock; /* of a pipe, the check and the reader run at once */
};

void allowance_init(struct allowance *a, uint64_t limit);
void allowance_end(struct allowance *a);
/* For the library; without a limit it needs none. */
struct hprof_allocator allowance_allocator(struct allowance *a);

/* Counts bytes that something else allocates; false, and nothing is counted, if they would be more than is allowed. */
bool allowance_take(struct allowance *a, size_t size);
void allowance_give(struct allowance *a, size_t size);

/* NULL if there is no memory, or no more is allowed. */
void *allowance_get(struct allowance *a, size_t size);
/* Like realloc(): then the old block stays valid. */
void *allowance_resize(struct allowance *a, void *old, size_t old_size, size_t new_size);
void allowance_put(struct allowance *a, void *block, size_t size);

#endif
