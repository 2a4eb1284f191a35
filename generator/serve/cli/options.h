/* The command line of hprof-serve. */
#ifndef HPROF_SERVE_OPTIONS_H
#define HPROF_SERVE_OPTIONS_H

#include <stdbool.h>

#include "serve.h"

enum action { ACTION_SERVE, ACTION_HELP, ACTION_VERSION };

struct options {
    enum action action;
    char host[256];
    const char *port, *dump;
    bool takes_orders, is_text, has_monitors;
    enum serve_cpu cpu;
};

/* False if the command line is wrong, which was printed. */
bool options_parse(struct options *options, int argc, char **argv);

#endif
