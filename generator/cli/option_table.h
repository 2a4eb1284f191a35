/* The table of the options of hprof-gen. */
#ifndef HPROF_GEN_OPTION_TABLE_H
#define HPROF_GEN_OPTION_TABLE_H

#include "command_line.h"

/* An option is added here, in option_table.c and in take_option() of options.c. */
enum option_id {
    OPTION_HELP = 'h',
    OPTION_VERSION = 'V', /* of the tool; --version 1.0.2, the old form of --dump-version, still works */
    OPTION_OUTPUT = 'o',
    OPTION_QUIET = 'q',
    OPTION_OBJECTS = 256,
    OPTION_BYTES,
    OPTION_SEED,
    OPTION_DUMP_VERSION,
    OPTION_ID_SIZE,
    OPTION_SEGMENT_SIZE,
    OPTION_HEAP_DUMPS,
    OPTION_LIKE,
    OPTION_SHAPE,
    OPTION_LOAD,
    OPTION_CLASSES,
    OPTION_THREADS,
    OPTION_STACK_DEPTH,
    OPTION_REFERENCES,
    OPTION_ARRAY_LENGTH,
    OPTION_STRING_LENGTH,
    OPTION_RECORDS,
    OPTION_FROM,
    OPTION_FROM_PROFILE,
    OPTION_VIOLATE,
    OPTION_AT,
    OPTION_VIOLATIONS,
    OPTION_EACH_FAULT,
    OPTION_LIST_VIOLATIONS,
    OPTION_DAMAGE,
    OPTION_LIST_DAMAGE,
    OPTION_GZ,
    OPTION_SERVE,
    OPTION_CPU,
    OPTION_MONITOR,
    OPTION_ORDERS,
    OPTION_FORMAT,
    OPTION_FIT,
    OPTION_MANIFEST,
    OPTION_DIGESTS,
    OPTION_ANSWERS,
    OPTION_PROGRESS,
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

/* Without dashes. */
const char *option_name(int id);

#endif
