/* Where the bytes of a dump go: one after the other, the last of which is a file. */
#ifndef HPROF_GEN_BYTES_H
#define HPROF_GEN_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    /* False once nothing more is wanted: the taker, or one after it, has failed or nobody reads. */
    bool (*put)(struct bytes *bytes, const void *data, size_t size);
    /* All has come. False as above. Called once; not after a failure. */
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
