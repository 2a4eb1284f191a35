/* A check that also says how it read the dump: for who reads it again. */
#ifndef HPROF_VALIDATE_H
#define HPROF_VALIDATE_H

#include "hprof/hprof.h"
#include "input/input_source.h"
#include "state/counted.h"
#include "state/jumps.h"

/* What takes another look at the dump. */
enum {
    WANT_REFERENCES = 1, /* where those of REF-002 are, and what names their objects */
    WANT_LOST = 2        /* lost objects (lost_objects.c) wherever they are; a check without jumps seeks them where it must */
};

/* As hprof_validate_source(), with options of this version. Adds to `jumps`, if that is not NULL, all places where reading did not
 * go on at the end of a record or sub-record, and whether lost objects are left. */
enum hprof_status validate_with_jumps(struct input_source source, const struct hprof_options *options, struct jumps *jumps,
                                      unsigned wanted);

/* The same, and counts objects if `counted` is not NULL. Its memory must have a lock. */
enum hprof_status validate_and_count(struct input_source source, const struct hprof_options *options, struct jumps *jumps,
                                     struct counted *counted);

#endif
