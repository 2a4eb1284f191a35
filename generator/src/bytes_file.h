/* The last taker of bytes: a file, or whatever standard output is. A regular file gets its name when it is complete: see part.h. */
#ifndef HPROF_GEN_BYTES_FILE_H
#define HPROF_GEN_BYTES_FILE_H

#include "bytes.h"
#include "part.h"

struct bytes_file {
    struct bytes bytes;
    const char *path; /* NULL: standard output */
    struct part part; /* all NULL when the file is written directly */
    int fd;
    uint64_t written;
    int error; /* errno of what failed; 0 for nothing. EPIPE: the reader went away */
    bool held; /* set by the caller: it gets its name by bytes_file_name() alone */
};

/* False if it cannot be opened: `error` says why. */
bool bytes_file_open(struct bytes_file *file, const char *path);
/* Gives the file its name, once its bytes are finished: if it was held, for another file that must be complete too. */
bool bytes_file_name(struct bytes_file *file);
/* Takes away what is not complete. */
void bytes_file_close(struct bytes_file *file);

#endif
