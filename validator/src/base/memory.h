/* Memory from the caller's allocator, counted, within the caller's limit. Knows nothing of dumps. */
#ifndef HPROF_MEMORY_H
#define HPROF_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

struct memory {
    struct hprof_allocator from;
    uint64_t used;         /* bytes in use */
    uint64_t peak;         /* the most that was ever in use */
    uint64_t limit;        /* 0 for none */
    pthread_mutex_t *lock; /* the owner's, while several threads use this; else NULL */
    bool exhausted;        /* an allocation failed; whoever works on sees it here and stops */
};

/* allocator may be NULL: malloc and free, and large blocks in huge pages where the system has some. */
void memory_init(struct memory *m, const struct hprof_allocator *allocator, uint64_t limit);

/* NULL, and exhausted set, when there is none. A size of 0 is 1. Not zeroed. */
void *memory_get(struct memory *m, size_t size);
/* As memory_get, zeroed. */
/* What the run can do without: NULL, and nothing else happens, when there is none or half of the limit is in use. */
void *memory_try(struct memory *m, size_t size);
void *memory_get_zeroed(struct memory *m, size_t size);
/* A larger or smaller block with the old contents; the old one stays valid and NULL is returned when there is none. */
void *memory_resize(struct memory *m, void *old, size_t old_size, size_t new_size);
/* `size` as when it was got; a NULL block is nothing. */
void memory_put(struct memory *m, void *block, size_t size);

/* Notes that there is no more. */
void memory_exhaust(struct memory *m);

/* A block for arrays that grow: `*capacity` elements of `size` bytes become at least `wanted`, half as much again at least.
 * False, and nothing changed, when there is no memory. */
bool memory_grow(struct memory *m, void **block, size_t *capacity, size_t wanted, size_t size);

#endif
