/* Writes the dump of a gzip file without compression. */
#ifndef HPROF_REDUCE_INFLATE_H
#define HPROF_REDUCE_INFLATE_H

#include <stdbool.h>
#include <stdint.h>

bool is_gzip(int fd);

/* Damage ends the dump. False if a file cannot be read or written: errno says why. */
bool inflate_file(int from, int to, uint64_t *size);

#endif
