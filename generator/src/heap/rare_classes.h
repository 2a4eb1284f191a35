/* Made-up classes with few objects each, for those that load_javac.def leaves out. */
#ifndef HPROF_GEN_RARE_CLASSES_H
#define HPROF_GEN_RARE_CLASSES_H

#include "heap/parts.h"

struct rare_classes {
    uint32_t first, count;
    unsigned octaves; /* of those that have objects */
};

enum { RARE_CLASSES_LEAST = 8 };

/* Adds classes until there are `classes` in all, and unused strings. */
bool rare_classes_add(struct model *m, struct rare_classes *rare_classes, uint64_t classes);
/* Mostly an instance. The first class is as frequent as the next two together, and as the four after these. */
void rare_classes_object(const struct model *m, const struct rare_classes *rare_classes, uint64_t bits, struct object *o);

#endif
