/* Memory that grows. A tool that runs a command a hundred times has nothing to save when memory ends: it prints that and exits. */
#ifndef HPROF_REDUCE_STORE_H
#define HPROF_REDUCE_STORE_H

#include <stddef.h>

#define STATUS_MEMORY 4

/* Room for one more element in an array of `count` elements that has room for *room. */
void *store_grow(void *array, size_t count, size_t *room, size_t element);
void *store_zeroed(size_t count, size_t element);

#endif
