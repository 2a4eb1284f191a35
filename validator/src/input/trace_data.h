/* Which bytes that a damaged gzip member gave are not those that were compressed. Deflate data (RFC 1951) repeats earlier bytes: what
 * was damaged is copied on and on, and a wrong code moves all that follows. So the data is read once more, without its bytes: each
 * byte is known or not. */
#ifndef HPROF_TRACE_DATA_H
#define HPROF_TRACE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "input/input_source.h"

struct traced_data {
    const struct input_source *source;
    uint64_t offset;          /* of the data in the file */
    uint64_t size;            /* of what it gave */
    bool keeps_size;          /* that is the size that was compressed */
    const uint64_t *failures; /* where reading of what it gave failed, in order */
    size_t failure_count;
    void (*on_unknown)(void *context, uint64_t from, uint64_t to); /* called for unknown bytes, in order */
    void *context;
};

/* Where reading failed, and no unknown bytes explain that, damage begins. Everything from there to the next block is unknown: its
 * header is so redundant that none is met by chance. From there on codes are right, and a byte is known if it is not a copy of one
 * that is not, or of one before the damage, unless the size shows that nothing was moved. False if memory ran out. */
bool trace_data(const struct traced_data *asked, struct memory *memory);

#endif
