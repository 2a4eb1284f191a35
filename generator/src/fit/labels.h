/* What classes are called in a profile: the name of a class of the JDK, "class57" for any other, both with "[]" for arrays. */
#ifndef HPROF_GEN_LABELS_H
#define HPROF_GEN_LABELS_H

#include "fit/gathered.h"

enum { LABEL_SIZE = 512 };

struct label {
    uint32_t jdk;     /* number of the name of the class, or of the elements of its arrays */
    uint32_t element; /* the class of the elements, without dimensions, if its name is none of the JDK's */
    uint8_t type;     /* of the elements, if they are primitive */
    uint8_t dimensions;
    bool has_name; /* in the dump */
};

/* One for each class. NULL without memory; the caller frees it. */
struct label *labels_new(struct gathered *g);

void label_write(const struct label *labels, uint32_t class, char out[LABEL_SIZE]);

/* Whether the name is the JDK's. */
static inline bool label_is_kept(const struct label *label)
{
    return label->jdk || label->type;
}

const char *type_word(uint8_t type); /* "int" */

#endif
