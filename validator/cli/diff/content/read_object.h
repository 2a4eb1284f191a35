/* Reads what an object holds: a digest of its values, and its references. */
#ifndef HPROF_CLI_DIFF_READ_OBJECT_H
#define HPROF_CLI_DIFF_READ_OBJECT_H

#include "shapes.h"

/* The last item of the reader. Calls `reference` for each, in the order of its shape. False if reading failed. */
bool read_object(struct hprof_reader *reader, const struct hprof_item *item, const struct shape *shape, uint64_t seed,
                 void (*reference)(void *context, uint64_t id), void *context, uint64_t *digest);

/* A value of a type at `at`, as a number. */
uint64_t value_at(const uint8_t *at, unsigned size);
unsigned size_of_type(uint8_t type, unsigned id_size);

#endif
