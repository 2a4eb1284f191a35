/* The options, as --help prints them. */
#ifndef HPROF_CLI_OPTION_ROWS_H
#define HPROF_CLI_OPTION_ROWS_H

#include <stddef.h>

#include "command_line.h"

/* An option is added here, in option_rows.c and in take_option(). */
enum option_id {
    OPTION_FORMAT = 'f',
    OPTION_HELP = 'h',
    OPTION_JOBS = 'j',
    OPTION_OUTPUT = 'o',
    OPTION_QUIET = 'q',
    OPTION_VERBOSE = 'v',
    OPTION_VERSION = 'V',
    OPTION_PROFILE = 256,
    OPTION_DECIMAL,
    OPTION_STDIN_NAME,
    OPTION_MAX_ERRORS,
    OPTION_SELECT,
    OPTION_DISABLE,
    OPTION_IGNORE,
    OPTION_WARN,
    OPTION_ERROR,
    OPTION_WERROR,
    OPTION_ALLOW_INCOMPLETE,
    OPTION_BASELINE,
    OPTION_MAX_MEMORY,
    OPTION_SHOW,
    OPTION_REPAIR,
    OPTION_STATS,
    OPTION_THREADS,
    OPTION_PARTS,
    OPTION_NO_STAND_INS,
    OPTION_FORCE,
    OPTION_EXPLAIN,
    OPTION_LIST_RULES,
    OPTION_LIST_PROFILES,
    OPTION_COLOR,
    OPTION_PROGRESS,
};

const struct option_row *option_rows(size_t *count);

#endif
