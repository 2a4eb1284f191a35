/* Compresses a file as HotSpot compresses a dump: a gzip member for each MiB, and a comment in the first. */
#ifndef HPROF_CLI_GZIP_WRITER_H
#define HPROF_CLI_GZIP_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/* Compresses the first `size` bytes of the file `from` to the end of `to`. If false, errno says why: EIO if `from` ends early. */
bool gzip_write(int from, uint64_t size, int to);

#endif
