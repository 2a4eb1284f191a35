/* The command line of hprof-reduce. */
#ifndef HPROF_REDUCE_OPTIONS_H
#define HPROF_REDUCE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum action { ACTION_REDUCE, ACTION_HELP, ACTION_VERSION };

struct options {
    enum action action;
    const char *in, *out, *match;
    char **command;
    double timeout;
    uint64_t runs;
    unsigned jobs;
    bool keep_valid, quiet;
};

/* False if the command line is wrong, which was printed. */
bool options_parse(struct options *options, int argc, char **argv);

#endif
