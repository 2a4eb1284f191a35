/* Files that are only in memory, for what reads a descriptor. */
#ifndef HPROF_FUZZ_MEMORY_FILE_H
#define HPROF_FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Makes the bytes those of a file, whose position is then 0. `*fd` is the file, or -1, and a new one takes its place; the caller
 * closes it. Aborts, with a sentence, if there can be none. */
void fill_memory_file(int *fd, const uint8_t *data, size_t size);

#endif
