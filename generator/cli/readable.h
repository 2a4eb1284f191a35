/* What can be read of a malformed dump, for --from. */
#ifndef HPROF_GEN_READABLE_H
#define HPROF_GEN_READABLE_H

#include <stdbool.h>

/* A descriptor of a copy of what can be read of the dump: of a file that has no name and is gone when it is closed. -1: there is no
 * such copy. Unless it is to be quiet, the user learns what was left out. */
int open_readable(int fd, const char *name, bool quiet);

#endif
