/* What a reader of the dump should answer: which objects are reachable, how large they are, the texts of Strings, and what the
 * largest objects retain. hprof-gen.1.md defines each. The source is run three times. */
#ifndef HPROF_GEN_ANSWERS_H
#define HPROF_GEN_ANSWERS_H

#include "stream/source.h"

/* Objects, and their bytes in a VM with compressed references and in one without. */
struct extent {
    uint64_t objects, compressed, uncompressed;
};

struct answer_class {
    uint64_t id; /* 0 for arrays of a primitive type, or if the dump says 0 */
    char *name;  /* in the form of descriptors; empty if unknown */
    struct extent extent;
};

struct answer_text {
    char *text; /* UTF-8; U+FFFD for U+0000 and for surrogates without their other half */
    uint64_t count;
};

struct answer_object {
    uint64_t id;
    size_t class; /* index in `classes` */
    struct extent retained;
};

enum { ANSWER_TEXTS = 1000, ANSWER_OBJECTS = 100 };

struct answers {
    uint64_t instances, object_arrays, primitive_arrays; /* that are reachable, */
    struct extent reachable;                             /* and all of them */
    struct answer_class *classes;                        /* those that have objects */
    size_t class_count;
    /* Strings by what their text is: a byte[] by its coder, a char[], or none. */
    uint64_t latin1, utf16, chars, without_text;
    uint64_t distinct;         /* texts */
    struct answer_text *texts; /* those of most Strings */
    size_t text_count;
    struct answer_object *objects; /* those that retain most bytes in a VM with compressed references */
    size_t object_count;
};

enum answer_status { ANSWERED, ANSWERS_NO_MEMORY, ANSWERS_SOURCE_FAILED, ANSWERS_REFUSED };

/* ANSWERS_REFUSED: a sentence in *failure says why there are none. */
enum answer_status answers_find(struct source *source, struct answers *answers, const char **failure);
void answers_clear(struct answers *answers);

#endif
