/* The parts of a dump, as files: those beside FILE, or those that --parts names. */
#ifndef HPROF_CLI_PARTS_NAMED_H
#define HPROF_CLI_PARTS_NAMED_H

#include <stdbool.h>
#include <stddef.h>

struct parts_named {
    char **names;
    int *fds; /* -1 until they are opened */
    size_t count, capacity;
};

/* FILE.p0, FILE.p1 and so on, in the order of their numbers. False without memory. */
bool parts_find(struct parts_named *parts, const char *file);
/* Names with commas between. False without memory. */
bool parts_split(struct parts_named *parts, const char *list);
/* Opens them. If one cannot be opened, returns its name, and errno says why; else NULL. */
const char *parts_open(struct parts_named *parts);
void parts_close(struct parts_named *parts);

#endif
