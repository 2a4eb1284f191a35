/* A file that gets its name when it is complete. Until then its bytes are in the same folder, in a file of the same name with a
 * number and `.part` appended, which is removed if something fails or a signal ends the process. */
#ifndef HPROF_CLI_PART_H
#define HPROF_CLI_PART_H

#include <stdbool.h>

struct part {
    char *final; /* the final path, with links followed */
    char *path;  /* the path until then */
    int fd;      /* the caller closes it */
};

/* Opens a part for a path that leads to a regular file or to none. If false, errno says why. part_close() must follow in any
 * case. */
bool part_open(struct part *part, const char *path);
/* The same. The file gets the permissions of an open file, if that is a regular file: a copy is as secret as its original. */
bool part_open_like(struct part *part, const char *path, int like);
/* Whether a path leads to the final path. */
bool part_is_at(const struct part *part, const char *path);
/* Renames the file to its final path, replacing any file there. If false, errno says why. */
bool part_name(struct part *part);
/* Removes the file unless it has its final name. */
void part_close(struct part *part);

#endif
