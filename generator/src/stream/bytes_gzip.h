/* Compresses like HotSpot (-gz): a gzip member for each block of at most 1 MiB, and in the first member a comment with the size
 * of the blocks. */
#ifndef HPROF_GEN_BYTES_GZIP_H
#define HPROF_GEN_BYTES_GZIP_H

#include "stream/bytes.h"
#include "stream/gzip_hook.h"

enum { GZIP_BLOCK = 1 << 20 };

struct bytes_gzip;

/* `level` from 1 to 9. `hook` may be NULL. So many `threads` compress, the caller's among them, into the same file. NULL without
 * memory. */
struct bytes_gzip *bytes_gzip_new(struct bytes *next, int level, struct gzip_hook *hook, unsigned threads);
struct bytes *bytes_gzip_bytes(struct bytes_gzip *gzip);
void bytes_gzip_free(struct bytes_gzip *gzip);

#endif
