/* Where events come from: a made-up heap in the manner of a producer, or a dump that is there. */
#ifndef HPROF_GEN_SOURCE_H
#define HPROF_GEN_SOURCE_H

#include "event.h"

/* What those after look at in the sub-records of objects, nearly all of a dump: the less, the faster they come. */
enum detail {
    DETAIL_FIELDS, /* everything: each is a SUBRECORD, with PARTs */
    DETAIL_COUNTS, /* bytes, and how many references there are: those without quirks may come in BATCHes */
    DETAIL_BYTES,  /* bytes alone: likewise, and references are not counted */
    DETAIL_SIZES   /* likewise, and bodies may be NULL, or hold anything, and bring no PARTs */
};

struct source {
    /* Gives all events, HEADER to END, to `first`, the same each time it is called. It ends early, and that is no failure,
     * once *stop is true. False on failure, and `failure` says why; it is NULL when memory ran out. */
    bool (*run)(struct source *source, struct stage *first, const bool *stop);
    void (*free)(struct source *source);
    const char *failure;
    bool malformed;   /* the failure is of the dump that is read: what can be read of it may be taken instead */
    unsigned id_size; /* 4 or 8 */
    enum version version;
    /* Set by whoever runs it: nothing after changes the records, so a length may be stated when it is known beforehand. */
    bool unchanged;
    enum detail detail; /* likewise */
    /* If it is set, no heap dump record whose length is not stated is longer than this, as far as is known without running it;
     * UINT64_MAX for not known. */
    uint64_t longest_heap_record;
};

#endif
