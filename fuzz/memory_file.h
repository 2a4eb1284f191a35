/* Files that are only in memory, for what reads a descriptor. */
#ifndef HPROF_FUZZ_MEMORY_FILE_H
#define HPROF_FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Replaces the contents of the file `*fd`, and sets its position to 0. If `*fd` is -1, makes a new file, which the caller closes.
 * Prints a sentence and aborts on failure. */
void fill_memory_file(int *fd, const uint8_t *data, size_t size);

#endif
