/* Memory from the caller's allocator, counted, within the caller's limit. */
#ifndef HPROF_MEMORY_H
#define HPROF_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

struct memory {
    struct hprof_allocator from;
    uint64_t used;         /* bytes in use */
    uint64_t peak;         /* the most bytes that were in use at once */
    uint64_t limit;        /* 0 for none */
    pthread_mutex_t *lock; /* the owner's, while several threads use this; else NULL */
    atomic_bool exhausted; /* an allocation failed; the run sees this and stops */
};

/* If allocator is NULL, uses malloc and free, with large blocks in huge pages if the system has them. */
void memory_init(struct memory *m, const struct hprof_allocator *allocator, uint64_t limit);

/* A block that is not zeroed. If there is no memory, sets `exhausted` and returns NULL. A size of 0 means 1. */
void *memory_get(struct memory *m, size_t size);
/* For memory that the run can do without: NULL, without setting `exhausted`, if there is none or half of the limit is in
 * use. */
void *memory_try(struct memory *m, size_t size);
/* Like memory_get(), zeroed. */
void *memory_get_zeroed(struct memory *m, size_t size);
/* A larger or smaller block with the old contents. If there is no memory, returns NULL, and the old block stays valid. */
void *memory_resize(struct memory *m, void *old, size_t old_size, size_t new_size);
/* Releases a block of that size; NULL is allowed. */
void memory_put(struct memory *m, void *block, size_t size);

/* For a run whose memory is part of this one: what it takes counts, too. */
struct hprof_allocator memory_allocator(struct memory *m);

/* Notes that there is no more. */
void memory_exhaust(struct memory *m);

/* Grows an array of `*capacity` elements of `size` bytes to at least `wanted` elements, and by at least half. If there is no
 * memory, returns false and changes nothing. */
bool memory_grow(struct memory *m, void **block, size_t *capacity, size_t wanted, size_t size);

#endif
