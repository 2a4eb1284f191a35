/* Sources of events: a made-up heap, written like a producer does, or an existing dump. */
#ifndef HPROF_GEN_SOURCE_H
#define HPROF_GEN_SOURCE_H

#include "stream/event.h"

/* What filters and sink need of the sub-records of objects. These are nearly all of a dump, so less is faster. */
enum detail {
    DETAIL_FIELDS, /* everything: each is a SUBRECORD, with PARTs */
    DETAIL_COUNTS, /* bytes and the numbers of references: objects without quirks may come in a BATCH */
    DETAIL_BYTES,  /* only bytes: likewise, and references are not counted */
    DETAIL_SIZES   /* only sizes: likewise, and bodies may be NULL or undefined, without PARTs */
};

struct source {
    /* Gives all events, HEADER to END, to `first`; the same ones each time. Ends early, without a failure, once *stop is true.
     * False on failure, with `failure`, which is NULL if memory ran out. */
    bool (*run)(struct source *source, struct stage *first, const bool *stop);
    void (*free)(struct source *source);
    const char *failure;
    bool malformed;   /* the dump that is read is malformed: a copy of what can be read may be used instead */
    unsigned id_size; /* 4 or 8 */
    enum version version;
    /* Set by the caller: no filter changes the records, so the source may state lengths that it knows. */
    bool unchanged;
    enum detail detail; /* likewise */
    /* If set: an upper limit for heap dump records without a stated length; UINT64_MAX if unknown before a pass. */
    uint64_t longest_heap_record;
};

#endif
