/* Sizes that a test may make small. The rows are in hprof/testing.h. */
#ifndef HPROF_SIZES_H
#define HPROF_SIZES_H

#include <stdbool.h>

#include "hprof/testing.h"

struct sizes {
#define FIELD(name, usual, least) uint32_t name;
    HPROF_SIZES(FIELD) HPROF_LIMITS(FIELD)
#undef FIELD
};

extern const struct sizes usual_sizes;

/* The sizes that a test asks for, the usual ones for the rest. `testing` may be NULL. */
struct sizes sizes_for(const struct hprof_testing *testing);
/* Whether all that a test asks for are between the least and the usual. */
bool sizes_are_allowed(const struct hprof_testing *testing);

/* For constants that are the size of an array, or are in a loop that is too hot for a variable: a second build, for tests, has
 * small ones. */
#ifdef HPROF_SMALL
#define USUAL_OR_SMALL(usual, small) (small)
#else
#define USUAL_OR_SMALL(usual, small) (usual)
#endif

#endif
