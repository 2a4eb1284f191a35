/* Where a report goes: standard output or a file. Knows whether all of it has arrived. */
#ifndef HPROF_CLI_OUTPUT_H
#define HPROF_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "part.h"

struct output {
    FILE *stream; /* NULL: nothing is wanted */
    int fd;
    const char *name;
    struct part part; /* of a regular file, which gets its name when the report is complete; else all NULL */
    int error;        /* errno of the first write that failed; 0 if none did */
    char buffer[1 << 15];
};

/* If the tool was started with a standard descriptor closed, the next file opened would take its place. Puts something
 * there that fails when used: only then is it an error. */
void fill_standard_descriptors(void);

/* Once it is sure not to be an input, opens it. If that fails it has been said why, and the exit status is
 * given; otherwise HPROF_VALID. It must stay where it is while it is open. */
enum hprof_status output_open(struct output *output, const struct cli_options *options);

/* To be called after writing: false from the first failure on. */
bool output_good(const struct output *output);

/* True if all has arrived. If not, it has been said, but for a reader that went away (`| head`). */
bool output_close(struct output *output);

#endif
