/* Binary search. */
#ifndef HPROF_SEARCH_H
#define HPROF_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many of `count` structures of `size` bytes have a number up to a limit. The numbers increase, and are `at` bytes from the
 * start of each structure. */
static inline size_t count_up_to(const void *array, size_t count, size_t size, size_t at, uint64_t limit)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t number;

        memcpy(&number, (const char *)array + middle * size + at, sizeof number);
        if (number <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
