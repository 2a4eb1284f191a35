/* See order.h. */
#include "fit/order.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 19 };

bool order_init(struct order *o)
{
    *o = (struct order){.objects = malloc(MOST * sizeof *o->objects)};
    return o->objects;
}

void order_free(struct order *o)
{
    free(o->objects);
}

static void keep_every_second(struct order *o)
{
    for (size_t i = ORDER_STRETCH; i < MOST / 2; i += ORDER_STRETCH)
        memcpy(o->objects + i, o->objects + 2 * i, ORDER_STRETCH * sizeof *o->objects);
    o->count = MOST / 2;
    o->shift++;
}

void order_add(struct order *o, struct ordered object)
{
    uint64_t stretch = o->seen++ / ORDER_STRETCH;

    if (stretch & ((UINT64_C(1) << o->shift) - 1))
        return;
    if (o->count == MOST)
        keep_every_second(o);
    o->objects[o->count++] = object;
}
