/* Where events come from: a made-up heap in the manner of a producer, or a dump that is there. */
#ifndef HPROF_GEN_SOURCE_H
#define HPROF_GEN_SOURCE_H

#include "event.h"

struct source {
    /* Gives all events, HEADER to END, to `first`, the same each time it is called. It ends early, and that is no failure,
     * once *stop is true. False on failure, and `failure` says why; it is NULL when memory ran out. */
    bool (*run)(struct source *source, struct stage *first, const bool *stop);
    void (*free)(struct source *source);
    const char *failure;
    unsigned id_size; /* 4 or 8 */
    enum version version;
    /* Set by whoever runs it: nothing behind changes the records, so a length may be stated when it is known beforehand. */
    bool unchanged;
    /* Likewise: nobody behind looks into the bodies of objects, which may then hold anything and bring no PARTs. */
    bool sizes_alone;
    /* If it is set, no heap dump record whose length is not stated is longer than this, as far as is known without running it;
     * UINT64_MAX for not known. */
    uint64_t longest_heap_record;
};

#endif
