/* A chain of consumers of the bytes of a dump: hash, compression, a file at the end. */
#ifndef HPROF_GEN_BYTES_H
#define HPROF_GEN_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    /* False when no more bytes are wanted: this or a later consumer has failed, or the reader of a pipe has gone. */
    bool (*put)(struct bytes *bytes, const void *data, size_t size);
    /* Called once, after the last byte, unless put() failed. False as above. */
    bool (*finish)(struct bytes *bytes);
    struct bytes *next; /* NULL for the last */
};

static inline bool bytes_put(struct bytes *bytes, const void *data, size_t size)
{
    return bytes->put(bytes, data, size);
}

static inline bool bytes_finish(struct bytes *bytes)
{
    return bytes->finish(bytes);
}

#endif
