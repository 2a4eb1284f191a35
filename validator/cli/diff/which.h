/* Whether two dumps have the same IDs for the same objects. */
#ifndef HPROF_CLI_DIFF_WHICH_H
#define HPROF_CLI_DIFF_WHICH_H

#include "diff.h"

/* Of each thousand objects of the smaller dump, how many have the same ID and class in the other; found from at most 4,096
 * objects of each, which the IDs choose. Both dumps are read as far as is needed. Below 0: it failed, see `failure`. */
int permille_shared(struct diff *diff, unsigned jobs);

/* From here on, dumps are compared by ID. */
enum { SHARED_ENOUGH = 900 };

#endif
