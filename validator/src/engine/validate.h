/* A check that also says how it read the dump: for repair. */
#ifndef HPROF_VALIDATE_H
#define HPROF_VALIDATE_H

#include "hprof/hprof.h"
#include "input/input_source.h"
#include "state/jumps.h"

/* As hprof_validate_source(), with options of this version. Hands over, in their order, all places where reading did not go on at
 * the end of a record or sub-record, with the context of the options. */
enum hprof_status validate_with_jumps(struct input_source source, const struct hprof_options *options,
                                      void (*on_jump)(void *context, const struct jump *jump));

#endif
