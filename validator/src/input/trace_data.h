/* Which bytes of a damaged gzip member are not those that were compressed. Deflate data (RFC 1951) repeats earlier bytes: what was
 * damaged is copied on and on, and a wrong code moves all that follows. So the data is read once more, without its bytes: each byte
 * is known or not. */
#ifndef HPROF_TRACE_DATA_H
#define HPROF_TRACE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "input/input_source.h"

enum { TRACE_DOUBTED = 4096 /* bytes before a failure that may be the damage, or follow it */ };

struct traced_data {
    const struct input_source *source;
    uint64_t offset;          /* of the data in the file */
    uint64_t size;            /* of what it gave */
    bool is_invalid;          /* the rest could not be inflated */
    bool keeps_size;          /* that is the size that was compressed */
    const uint64_t *failures; /* where reading of what it gave failed, in order */
    size_t failure_count;
    void (*on_unknown)(void *context, uint64_t from, uint64_t to); /* called for unknown bytes, in order */
    void *context;
};

/* Shortly before reading failed, if no unknown bytes explain that, damage begins. From there on nothing is known up to the next
 * block, whose header is so redundant that none is met by chance. Then codes are right again: a byte is known unless it is copied
 * from one that is not, or from before the block, where the distance leads elsewhere if the damage made more or fewer bytes.
 * Returns the errno of a read that failed; else 0. */
int trace_data(const struct traced_data *asked, struct memory *memory);

#endif
