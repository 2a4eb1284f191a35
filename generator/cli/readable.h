/* What can be read of a malformed dump, for --from. */
#ifndef HPROF_GEN_READABLE_H
#define HPROF_GEN_READABLE_H

#include <stdbool.h>

/* A descriptor of a copy of what can be read of the dump, in a file without a name. -1 if there is no such copy. Unless
 * `quiet`, prints what was left out. */
int open_readable(int fd, const char *name, bool quiet);

#endif
