/* Small sizes of the library (hprof/testing.h), drawn for an input. */
#ifndef HPROF_FUZZ_SIZES_H
#define HPROF_FUZZ_SIZES_H

#include "dice.h"
#include "hprof/testing.h"

/* A seed that depends on all bytes of an input, so that each mutant draws its own sizes. */
uint64_t seed_from(const uint8_t *data, size_t size);

/* Draws all sizes on which no report depends, for an input of `size` bytes; half of them are the usual ones. */
void draw_sizes(struct hprof_testing *testing, struct dice *dice, size_t size);
/* Draws the limits on which reports depend: for runs whose reports are compared, the same ones. */
void draw_limits(struct hprof_testing *testing, struct dice *dice, size_t size);

#endif
