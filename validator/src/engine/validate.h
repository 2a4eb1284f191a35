/* A check that also says how it read the dump: for who reads it again. */
#ifndef HPROF_VALIDATE_H
#define HPROF_VALIDATE_H

#include "hprof/hprof.h"
#include "input/input_source.h"
#include "state/counted.h"
#include "state/jumps.h"

/* What the caller does not need of such a check, which saves it another look at the dump. */
enum {
    WITHOUT_LOST_OBJECTS = 1, /* the jumps that lead to lost objects */
    WITHOUT_REFERENCES = 2    /* where the references of REF-002 are, and what names their objects */
};

/* As hprof_validate_source(), with options of this version. Adds to `jumps`, if that is not NULL, all places where reading did not
 * go on at the end of a record or sub-record. */
enum hprof_status validate_with_jumps(struct input_source source, const struct hprof_options *options, struct jumps *jumps,
                                      unsigned without);

/* The same, and counts objects if `counted` is not NULL. Its memory must have a lock. */
enum hprof_status validate_and_count(struct input_source source, const struct hprof_options *options, struct jumps *jumps,
                                     struct counted *counted);

#endif
