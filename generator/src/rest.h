/* The many classes of which a heap has few objects each, made up: those that mixed.def leaves out. */
#ifndef HPROF_GEN_REST_H
#define HPROF_GEN_REST_H

#include "parts.h"

struct rest {
    uint32_t first, count;
    unsigned octaves; /* of those that have objects */
};

enum { REST_LEAST_CLASSES = 8 };

/* Adds classes until there are `classes` in all, and the strings that nothing names. */
bool rest_add(struct model *m, struct rest *rest, uint64_t classes);
/* Mostly an instance: of the first class as often as of the next two together, or the next four. */
void rest_object(const struct model *m, const struct rest *rest, uint64_t bits, struct object *o);

#endif
