/* The files that the command line names: a directory stands for the dumps in it. */
#ifndef HPROF_CLI_FILES_H
#define HPROF_CLI_FILES_H

#include <stdbool.h>

struct files {
    char **names;
    int count;
    bool has_directory; /* one was walked */
};

/* Takes the names as given, and in place of a directory the files in it, and in the directories in it, whose names end in .hprof or
 * .hprof.gz, in the order of their names. A directory without any stays. False when memory ran out. files_clear() must follow
 * in any case. */
bool files_expand(struct files *files, char **names, int count);
void files_clear(struct files *files);

#endif
