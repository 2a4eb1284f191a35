/* The output of a report: standard output or a file. Knows whether every write succeeded. */
#ifndef HPROF_CLI_OUTPUT_H
#define HPROF_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "part.h"

struct output {
    FILE *stream; /* NULL if no output is wanted */
    int fd;
    const char *name;
    struct part part; /* of a regular file, which gets its name when the report is complete; otherwise unused */
    int error;        /* errno of the first failed write, or 0 */
    char buffer[1 << 15];
};

/* Opens the output, unless it is also an input. Returns HPROF_VALID, or prints why it failed and returns the exit status. The
 * structure must not move while it is open. */
enum hprof_status output_open(struct output *output, const struct cli_options *options);

/* False from the first failed write on. */
bool output_good(const struct output *output);

/* Returns whether every write succeeded. Prints the error if not, except when the reader of a pipe has gone (`| head`). */
bool output_close(struct output *output);

#endif
