/* The many classes of which a heap has few objects each, made up: those that mixed.def leaves out. */
#ifndef HPROF_GEN_RARE_CLASSES_H
#define HPROF_GEN_RARE_CLASSES_H

#include "parts.h"

struct rare_classes {
    uint32_t first, count;
    unsigned octaves; /* of those that have objects */
};

enum { RARE_CLASSES_LEAST = 8 };

/* Adds classes until there are `classes` in all, and the strings that nothing names. */
bool rare_classes_add(struct model *m, struct rare_classes *rest, uint64_t classes);
/* Mostly an instance: of the first class as often as of the next two together, or the next four. */
void rare_classes_object(const struct model *m, const struct rare_classes *rest, uint64_t bits, struct object *o);

#endif
