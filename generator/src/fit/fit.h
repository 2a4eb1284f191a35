/* --fit: describes the heap of a dump by its structure, without any value of it. */
#ifndef HPROF_GEN_FIT_H
#define HPROF_GEN_FIT_H

#include <stdio.h>

#include "hprof/read.h"

/* What a profile holds of the dump's names and lengths. */
struct revealed {
    uint64_t classes, kept_classes; /* names */
    uint64_t fields, kept_fields;
    uint64_t methods, kept_methods;                    /* of frames */
    uint64_t lengths, shared_lengths, pooled, rounded; /* arrays: of a length that is kept, of a mean, of one digit */
    uint64_t objects, unknown, sampled_one_of, ordered_one_of, nowhere; /* unknown: objects of an unknown class */
    uint64_t follow;     /* objects that begin where the one before ends, in the VM; 0 if it is fewer than half */
    uint64_t heap_dumps; /* the last one is described */
};

struct fit_result {
    enum hprof_status status; /* HPROF_VALID: the profile was written */
    char failure[200];
    struct revealed revealed;
};

/* Reads a dump, twice, and writes its profile. */
void fit_dump(int fd, FILE *out, struct fit_result *result);

#endif
