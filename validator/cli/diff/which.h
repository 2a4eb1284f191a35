/* Whether two dumps have the same IDs for the same objects. */
#ifndef HPROF_CLI_DIFF_WHICH_H
#define HPROF_CLI_DIFF_WHICH_H

#include "diff.h"

/* Of each thousand objects of the smaller dump, how many have the same ID and class in the other; and of strings, the same ID.
 * Found from at most 4,096 of each, which the IDs choose. Two runs of a program may have most objects at the same addresses, but
 * names are elsewhere. Both dumps are read as far as is needed. False if it failed: see `failure`. */
bool find_shared(struct diff *diff, unsigned jobs);

/* Whether there are enough of both for comparing by ID. */
bool shares_ids(const struct diff *diff);

#endif
