/* The files of a dump in several parts: FILE.p0, FILE.p1, ... */
#ifndef HPROF_GEN_PART_FILES_H
#define HPROF_GEN_PART_FILES_H

#include "stream/bytes_file.h"

struct part_files {
    const char *path; /* FILE */
    int like;         /* an open file, whose permissions they get; -1 for none */
    bool held;        /* only part_files_name() gives the files their names */
    struct one_part_file *first, **last;
    bool no_memory;
};

void part_files_init(struct part_files *files, const char *path, int like, bool held);
/* For generate_request.open_part; the context is the struct part_files. */
struct bytes *part_files_open(void *context, unsigned number);
/* The file that failed, or NULL. */
const struct bytes_file *part_files_failed(const struct part_files *files);
bool part_files_name(struct part_files *files);
/* Removes files without a name. */
void part_files_close(struct part_files *files);

#endif
