/* See store.h. */
#include "store.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("hprof-reduce: out of memory\n", stderr);
        exit(STATUS_MEMORY);
    }
    return memory;
}

void *store_grow(void *array, size_t count, size_t *room, size_t element)
{
    if (count < *room)
        return array;
    *room = *room != 0 ? 2 * *room : 64;
    return checked(*room <= SIZE_MAX / element ? realloc(array, *room * element) : NULL);
}

void *store_zeroed(size_t count, size_t element)
{
    return checked(calloc(count != 0 ? count : 1, element));
}
