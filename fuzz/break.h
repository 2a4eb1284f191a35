/* Breaks a dump with a fault of the generator, for the mutator. */
#ifndef HPROF_FUZZ_BREAK_H
#define HPROF_FUZZ_BREAK_H

#include <stddef.h>
#include <stdint.h>

#include "dice.h"

/* Writes a copy of a dump with one fault, which is drawn, to `out`, at most `max` bytes. Returns its size; 0, with anything in
 * `out`, if the dump cannot have that fault, or there is no room. Where the mutator is linked without the generator, there is no
 * such function. */
__attribute__((weak)) size_t break_dump(const uint8_t *data, size_t size, uint8_t *out, size_t max, struct dice *dice);

#endif
