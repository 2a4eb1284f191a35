/* Events from an existing dump, gzip or not, to break it: `hprof-gen --from`. Its framing must be well-formed. */
#ifndef HPROF_GEN_SOURCE_FILE_H
#define HPROF_GEN_SOURCE_FILE_H

#include "source.h"

/* The descriptor must be one that can be read again from the start (a regular file) and stays the caller's. NULL, and
 * *failure says why: it cannot be read twice, is no dump, or has an ID size that is neither 4 nor 8. *failure is NULL when memory ran out. */
struct source *source_file_new(int fd, const char **failure);

#endif
