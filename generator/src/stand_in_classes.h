/* The classes of a shape's nodes: one that is as the shape wants it, and others that take its place. Subclasses without a field of
 * their own are there when --classes wants more; one with a reference more, and its subclasses, when the mean that --references
 * wants is no whole number. */
#ifndef HPROF_GEN_STAND_IN_CLASSES_H
#define HPROF_GEN_STAND_IN_CLASSES_H

#include "parts.h"

/* They have numbers in a row. */
struct stand_in_classes {
    uint32_t first;        /* the class itself; */
    uint32_t narrow, wide; /* how many are like it, and how many after those have one reference more */
    uint32_t part;         /* 2^32ths of the nodes are of the latter */
};

/* Of `first`, the last class that was added; `more` thousandths of the nodes have one reference more. Adds others, named as it is
 * and numbered, until there are `classes` in all. */
bool stand_in_classes_add(struct model *m, struct stand_in_classes *kin, const char *name, uint32_t first, uint64_t more,
                          uint64_t classes);

/* The class of the n-th node: each has its share, of a few nodes too. */
static inline uint32_t stand_in_classes_class(const struct model *m, const struct stand_in_classes *kin, uint64_t n)
{
    uint64_t bits = even(key_of(m), n);

    if ((uint32_t)bits < kin->part)
        return kin->first + kin->narrow + (uint32_t)below(bits, kin->wide);
    return kin->first + (uint32_t)below(bits, kin->narrow);
}

/* How many references come before those of the class itself. */
static inline uint64_t stand_in_classes_front(const struct stand_in_classes *kin, uint32_t class)
{
    return class - kin->first >= kin->narrow;
}

#endif
