/* The events of a made-up heap (model.h), as a producer writes them: its records in its order, with its IDs, serials, names,
 * times and quirks. */
#ifndef HPROF_GEN_SOURCE_MODEL_H
#define HPROF_GEN_SOURCE_MODEL_H

#include "heap/model.h"
#include "stream/source.h"

struct producer; /* see producer.h */

const struct producer *
producer_at(size_t index); /* the first is the specification itself, named "plain"; NULL after the last */
const char *producer_name(const struct producer *producer);
const char *producer_about(const struct producer *producer);
const char *producer_profile(
    const struct producer *producer); /* the profile of hprof-validate in which such a dump has neither errors nor warnings */

enum records_wanted { RECORDS_DEFAULT, RECORDS_HEAP, RECORDS_SITES, RECORDS_SAMPLES, RECORDS_ALL };

/* 0 means what the producer does. */
struct source_settings {
    const struct producer *producer;
    const struct shape *shape;
    struct model_options model; /* objects, always given, are those of all heap dumps; id_size is not used */
    enum version version;
    unsigned id_size;
    uint64_t segment_size; /* bytes of a segment's body */
    unsigned heap_dumps;
    enum records_wanted records;
    bool compressed; /* the serviceability agent: a segment for each sub-record */
};

/* The most objects that there can be: those of an idle VM without a load; UINT64_MAX for no limit. 0 without memory. */
uint64_t source_model_most(const struct source_settings *settings);

/* Returns NULL, with a sentence in *failure that says what is allowed, if the producer cannot write this: IDs of 8 bytes in a
 * dump of the agent, more objects than IDs of 4 bytes can name. *failure is NULL if memory ran out. */
struct source *source_model_new(const struct source_settings *settings, const char **failure);

#endif
