/* Heapsort: in place, and never quadratic. qsort may allocate memory that the caller's allocator does not see. Inline, so that the
 * compiler knows the size and the order. */
#ifndef HPROF_SORT_H
#define HPROF_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SORT_SIZE_MAX = 32 }; /* bytes of an entry */

/* Sorts n entries of `size` bytes each. */
static inline void sort_in_place(void *entries, size_t n, size_t size, bool (*less)(const void *a, const void *b))
{
    uint8_t *at = entries;
    _Alignas(max_align_t) uint8_t moved[SORT_SIZE_MAX];

    for (size_t start = n / 2, end = n; end > 1;) {
        size_t hole = 0, child;

        if (start) {
            hole = --start;
            memcpy(moved, at + hole * size, size);
        } else {
            end--;
            memcpy(moved, at + end * size, size);
            memcpy(at + end * size, at, size);
        }
        while ((child = 2 * hole + 1) < end) {
            if (child + 1 < end && less(at + child * size, at + (child + 1) * size))
                child++;
            if (!less(moved, at + child * size))
                break;
            memcpy(at + hole * size, at + child * size, size);
            hole = child;
        }
        memcpy(at + hole * size, moved, size);
    }
}

static inline bool number_is_less(const void *a, const void *b)
{
    uint64_t one, other;

    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return one < other;
}

static inline void sort_numbers(uint64_t *numbers, size_t n)
{
    sort_in_place(numbers, n, sizeof *numbers, number_is_less);
}

#endif
