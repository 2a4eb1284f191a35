/* The IDs of a twin's classes and objects, in ascending order. If those of the original are addresses, an object follows the one
 * before after that one's size, as in the heap of a VM, and classes are between objects; else they are equidistant. 4 bytes an
 * object. */
#ifndef HPROF_GEN_ADDRESSES_H
#define HPROF_GEN_ADDRESSES_H

#include "twin/graph.h"

struct addresses {
    uint64_t base, step; /* of an ID */
    uint32_t *at;        /* in steps: of the classes, then the objects */
};

/* Of the classes from the first on. False: *failure says why; NULL if memory ran out. */
bool addresses_lay_out(struct addresses *a, const struct heap_profile *p, uint32_t first_class, const struct graph *g,
                       const char **failure);
void addresses_free(struct addresses *a);

static inline uint64_t address_of(const struct addresses *a, uint64_t number)
{
    return a->base + a->at[number] * a->step;
}

#endif
