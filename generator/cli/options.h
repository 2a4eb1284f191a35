/* The command line of hprof-gen, understood or refused. */
#ifndef HPROF_GEN_OPTIONS_H
#define HPROF_GEN_OPTIONS_H

#include <stdio.h>

#include "generate.h"
#include "terminal.h"

/* ACTION_USAGE: nothing at all was given. */
enum action { ACTION_GENERATE, ACTION_LIST_VIOLATIONS, ACTION_HELP, ACTION_VERSION, ACTION_USAGE };

/* What was given on the command line, for the manifest: "--shape", "list". */
struct given {
    const char *option; /* without the dashes */
    const char *value;
};

enum { GIVEN_MOST = 64 };

struct cli_options {
    enum action action;
    const char *output;   /* NULL: standard output */
    const char *manifest; /* NULL: none */
    const char *from;     /* NULL: the heap is made up */
    char serve_host[256]; /* empty: none */
    const char *serve_port;
    bool takes_orders, has_records; /* --orders, --records */
    struct generate_request request;
    const char **violate; /* request.violate */
    char *violate_text;   /* all of them, with commas between, */
    char *violate_words;  /* and one by one: what they point into */
    bool quiet;
    enum when progress;
    struct given given[GIVEN_MOST]; /* of what decides the bytes, each once, the last one given */
    size_t given_count;
};

/* --help */
void options_help(FILE *out, size_t width);

/* False if the command line is wrong, or memory ran out (*no_memory): then it has been said on standard error. */
bool options_parse(struct cli_options *options, int argc, char **argv, bool *no_memory);
void options_free(struct cli_options *options);

#endif
