/* How a step of a run ends. */
#ifndef HPROF_GEN_OUTCOME_H
#define HPROF_GEN_OUTCOME_H

#include "generate.h"

static inline enum generate_status refuse(struct generated *out, const char *failure)
{
    out->failure = failure;
    return failure ? GENERATE_REFUSED : GENERATE_NO_MEMORY;
}

/* A source has failed. */
static inline enum generate_status give_up(struct generated *out, const struct source *source)
{
    out->failure = source->failure;
    out->malformed = source->malformed;
    return source->failure ? GENERATE_FAILED : GENERATE_NO_MEMORY;
}

/* These passes are not stopped early. */
static inline bool run_to_end(struct source *source, struct stage *first)
{
    static const bool never = false;

    return source->run(source, first, &never);
}

#endif
