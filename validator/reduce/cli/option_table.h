/* The table of the options of hprof-reduce. */
#ifndef HPROF_REDUCE_OPTION_TABLE_H
#define HPROF_REDUCE_OPTION_TABLE_H

#include "command_line.h"

/* An option is added here, in option_table.c and in take_option() of options.c. */
enum option_id {
    OPTION_HELP = 'h',
    OPTION_VERSION = 'V',
    OPTION_OUTPUT = 'o',
    OPTION_JOBS = 'j',
    OPTION_QUIET = 'q',
    OPTION_MATCH = 256,
    OPTION_TIMEOUT,
    OPTION_RUNS,
    OPTION_KEEP_VALID,
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

#endif
