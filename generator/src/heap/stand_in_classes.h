/* The classes of a shape's nodes: the one that the shape defines, and others that stand in for it. Subclasses without fields of
 * their own serve --classes. A class with one reference more, and its subclasses, serve a mean of --references that is not a
 * whole number. */
#ifndef HPROF_GEN_STAND_IN_CLASSES_H
#define HPROF_GEN_STAND_IN_CLASSES_H

#include "heap/parts.h"

/* They have consecutive numbers. */
struct stand_in_classes {
    uint32_t first;        /* the class itself; */
    uint32_t narrow, wide; /* the number of classes like it, and the number after these that have one reference more */
    uint32_t part;         /* share of the nodes that have one reference more, in 2^32ths */
};

/* For `first`, the last class that was added. Adds classes with its name and a number, until there are `classes` in all. `more`
 * thousandths of the nodes have one reference more. */
bool stand_in_classes_add(struct model *m, struct stand_in_classes *stand_ins, const char *name, uint32_t first, uint64_t more,
                          uint64_t classes);

/* The class of node n: each class has its share, even among a few nodes. */
static inline uint32_t stand_in_classes_class(const struct model *m, const struct stand_in_classes *stand_ins, uint64_t n)
{
    uint64_t bits = even(key_of(m), n);

    if ((uint32_t)bits < stand_ins->part)
        return stand_ins->first + stand_ins->narrow + (uint32_t)below(bits, stand_ins->wide);
    return stand_ins->first + (uint32_t)below(bits, stand_ins->narrow);
}

/* The number of references before those of the class itself. */
static inline uint64_t stand_in_classes_front(const struct stand_in_classes *stand_ins, uint32_t class)
{
    return class - stand_ins->first >= stand_ins->narrow;
}

#endif
