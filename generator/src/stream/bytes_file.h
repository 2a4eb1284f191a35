/* The last consumer of bytes: a file or standard output. A regular file gets its name when it is complete: see part.h. */
#ifndef HPROF_GEN_BYTES_FILE_H
#define HPROF_GEN_BYTES_FILE_H

#include "part.h"
#include "stream/bytes.h"

struct bytes_file {
    struct bytes bytes;
    const char *path; /* NULL: standard output */
    struct part part; /* all NULL when the file is written directly */
    int fd;
    uint64_t written;
    int error; /* errno of a failure, or 0. EPIPE: the reader of the pipe has gone */
    bool held; /* set by the caller: only bytes_file_name() gives the file its name */
};

/* False if it cannot be opened: `error` says why. */
bool bytes_file_open(struct bytes_file *file, const char *path);
/* The same. A new regular file gets the permissions of an open file; -1 for none. */
bool bytes_file_open_like(struct bytes_file *file, const char *path, int like);
/* Gives its name to a complete file that was held back until another file was complete, too. */
bool bytes_file_name(struct bytes_file *file);
/* Removes an incomplete file. */
void bytes_file_close(struct bytes_file *file);

#endif
