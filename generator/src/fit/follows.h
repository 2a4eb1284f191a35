/* Whether IDs are addresses of objects that follow each other, and how large a VM has made these: the sizes with which most IDs are
 * where the object before ends. */
#ifndef HPROF_GEN_FOLLOWS_H
#define HPROF_GEN_FOLLOWS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the header of an instance, that of an array with its length, and a reference. */
struct heap_sizes {
    uint32_t header, array_header, reference;
};

enum { FOLLOW_SIZES = 7 };

struct follows {
    uint64_t ends[FOLLOW_SIZES]; /* of the object before */
    uint64_t counts[FOLLOW_SIZES];
};

/* The next object in the dump: so many references, and bytes of other values. */
void follows_see(struct follows *f, uint64_t id, bool is_array, uint64_t references, uint64_t bytes);
/* How many objects follow the one before with these sizes. */
uint64_t follows_most(const struct follows *f, struct heap_sizes *sizes);

#endif
