/* Compresses like HotSpot (-gz): a gzip member for each block of at most 1 MiB, and in the first member a comment with the size
 * of the blocks. Can plant one fault. */
#ifndef HPROF_GEN_BYTES_GZIP_H
#define HPROF_GEN_BYTES_GZIP_H

#include "bytes.h"

enum { GZIP_BLOCK = 1 << 20 };

/* The GZ rule to break, and the member in which to break it, from 0. */
struct gzip_fault {
    int rule; /* index; NO_RULE for none */
    uint64_t member;
    uint64_t offset; /* set when the fault is planted: its offset in the file */
    bool done;
};

struct bytes_gzip;

/* `level` from 1 to 9. `fault` may be NULL. NULL without memory. */
struct bytes_gzip *bytes_gzip_new(struct bytes *next, int level, struct gzip_fault *fault);
struct bytes *bytes_gzip_bytes(struct bytes_gzip *gzip);
void bytes_gzip_free(struct bytes_gzip *gzip);

#endif
