/* Writing to a descriptor until all is written. */
#ifndef HPROF_CLI_WRITE_ALL_H
#define HPROF_CLI_WRITE_ALL_H

#include <stdbool.h>
#include <stddef.h>

/* False if it cannot be written; errno says why. */
bool write_all(int to, const void *bytes, size_t size);

#endif
