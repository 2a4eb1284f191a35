/* The files that the command line names. A directory is replaced by the dumps in it. */
#ifndef HPROF_CLI_FILES_H
#define HPROF_CLI_FILES_H

#include <stdbool.h>

struct files {
    char **names;
    int count;
    bool has_directory; /* a directory was replaced by its dumps */
};

/* Copies the names, and replaces each directory by the files in it, at any depth, whose names end in .hprof or .hprof.gz, in the
 * order of their names. A directory without such files stays. False if memory ran out; files_clear() must follow in any case. */
bool files_expand(struct files *files, char **names, int count);
void files_clear(struct files *files);

#endif
