/* A file that gets its name when it is complete. Until then its bytes are in a file beside it, named after it with a number and
 * `.part` appended, which is removed when something fails, and when a signal ends the process. */
#ifndef HPROF_CLI_PART_H
#define HPROF_CLI_PART_H

#include <stdbool.h>

struct part {
    char *final; /* what the path leads to, where the file will be */
    char *path;  /* where it is until then */
    int fd;      /* the caller's to close */
};

/* For a path that leads to a regular file or to none. False: errno says why. part_close() must follow in any case. */
bool part_open(struct part *part, const char *path);
/* Whether a path leads to where the file will be. */
bool part_is_at(const struct part *part, const char *path);
/* Gives the file its name, in place of one that has it. False: errno says why. */
bool part_name(struct part *part);
/* Removes what has not got its name. */
void part_close(struct part *part);

#endif
