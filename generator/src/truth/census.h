/* A filter that counts events and changes nothing. */
#ifndef HPROF_GEN_CENSUS_H
#define HPROF_GEN_CENSUS_H

#include "stream/event.h"
#include "truth/truth.h"

struct census;

/* Fills the counts, classes and quirks of `truth`. NULL without memory. */
struct census *census_new(struct stage *next, struct truth *truth);
struct stage *census_stage(struct census *census);
/* False if memory ran out, so that the counts are incomplete. */
bool census_finish(struct census *census);
void census_free(struct census *census);

#endif
