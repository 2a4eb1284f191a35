/* The table of the options of hprof-serve. */
#ifndef HPROF_SERVE_OPTION_TABLE_H
#define HPROF_SERVE_OPTION_TABLE_H

#include "command_line.h"

/* An option is added here, in option_table.c and in take_option() of options.c. */
enum option_id {
    OPTION_HELP = 'h',
    OPTION_VERSION = 'V',
    OPTION_FORMAT = 256,
    OPTION_CPU,
    OPTION_MONITOR,
    OPTION_ORDERS,
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

#endif
