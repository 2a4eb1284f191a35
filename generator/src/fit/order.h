/* The classes of objects in the order of the dump, and in which octave the lengths of object arrays are: of stretches of 64 objects
 * each; when there are too many, of every second one, of every fourth, and so on. */
#ifndef HPROF_GEN_ORDER_H
#define HPROF_GEN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_STRETCH = 64 };

struct ordered {
    uint32_t class;
    uint32_t bits; /* of the length */
};

struct order {
    struct ordered *objects;
    size_t count;
    unsigned shift; /* one of 1 << shift stretches is kept */
    uint64_t seen;
};

/* False without memory. */
bool order_init(struct order *o);
void order_free(struct order *o);
void order_add(struct order *o, struct ordered object);

#endif
