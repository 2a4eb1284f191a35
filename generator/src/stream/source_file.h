/* Events from an existing dump, gzip or not, to break it: `hprof-gen --from`. Its framing must be well-formed. */
#ifndef HPROF_GEN_SOURCE_FILE_H
#define HPROF_GEN_SOURCE_FILE_H

#include "stream/source.h"

/* The descriptor must be that of a regular file, because it is read several times. It belongs to the caller. Returns NULL with
 * *failure if the file cannot be read twice, is not a dump, or has an ID size other than 4 or 8. *failure is NULL if memory ran
 * out. */
struct source *source_file_new(int fd, const char **failure);

#endif
