/* Events from a made-up heap (model.h) in the manner of a producer: which records, in which order, with which IDs, serials,
 * names and times, and with which of its known quirks. */
#ifndef HPROF_GEN_SOURCE_MODEL_H
#define HPROF_GEN_SOURCE_MODEL_H

#include "model.h"
#include "source.h"

struct producer; /* a producer: like.h */

const struct producer *
producer_at(size_t index); /* the first is the specification itself, named "plain"; NULL after the last */
const char *producer_name(const struct producer *producer);
const char *producer_about(const struct producer *producer);
const char *
producer_profile(const struct producer *producer); /* of hprof-validate, in which such a dump has no error and no warning */

enum records_wanted { RECORDS_DEFAULT, RECORDS_HEAP, RECORDS_SITES, RECORDS_SAMPLES, RECORDS_ALL };

/* 0 means what the producer does. */
struct source_settings {
    const struct producer *producer;
    const struct shape *shape;
    struct model_options model; /* objects, always given, are those of all heap dumps; id_size is of no account here */
    enum version version;
    unsigned id_size;
    uint64_t segment_size; /* bytes of a segment's body */
    unsigned heap_dumps;
    enum records_wanted records;
    bool compressed; /* SA: a segment for each sub-record */
};

/* NULL, and *failure is a sentence for the user that says what is allowed, for what the producer cannot write: IDs of 8 bytes in
 * an agent's dump, more objects than IDs of 4 bytes can name. *failure is NULL when memory ran out. */
struct source *source_model_new(const struct source_settings *settings, const char **failure);

#endif
