/* The options of hprof-diff. */
#ifndef HPROF_CLI_DIFF_OPTION_ROWS_H
#define HPROF_CLI_DIFF_OPTION_ROWS_H

#include <stdio.h>

#include "command_line.h"

/* An option is added here, in option_rows.c and in main.c. */
enum option_id {
    OPTION_FORMAT = 'f',
    OPTION_HELP = 'h',
    OPTION_JOBS = 'j',
    OPTION_QUIET = 'q',
    OPTION_VERSION = 'V',
    OPTION_MAX_DIFFERENCES = 256,
    OPTION_ASSERT_REDACTED,
    OPTION_CONSTANTS,
    OPTION_NAMES,
    OPTION_BY,
    OPTION_ROUNDS,
    OPTION_IGNORE,
    OPTION_HEAP_DUMPS,
};

const struct option_row *option_rows(size_t *count);
void print_help(FILE *out, size_t width);

#endif
