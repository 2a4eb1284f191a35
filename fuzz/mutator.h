/* Changes a dump, plain or gzip, record by record. The entry points of libFuzzer and AFL++ are in mutator.c: both call these. */
#ifndef HPROF_FUZZ_MUTATOR_H
#define HPROF_FUZZ_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* Writes a changed copy of `data` to `out`, at most `max` bytes, and returns its size. `other`, which may be empty, is a second
 * input whose records may be spliced in. The same arguments give the same result. */
size_t mutate_dump(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t max,
                   uint64_t seed);

#endif
