/* The command line of hprof-gen. */
#ifndef HPROF_GEN_OPTIONS_H
#define HPROF_GEN_OPTIONS_H

#include <stdio.h>

#include "generate.h"
#include "terminal.h"

/* ACTION_USAGE: there are no arguments. */
enum action {
    ACTION_GENERATE,
    ACTION_EACH_FAULT,
    ACTION_FIT,
    ACTION_LIST_VIOLATIONS,
    ACTION_LIST_DAMAGE,
    ACTION_HELP,
    ACTION_HELP_ALL,
    ACTION_VERSION,
    ACTION_USAGE
};

/* An option on the command line, for the manifest: "--shape", "list". */
struct given {
    const char *option; /* without the dashes */
    const char *value;
};

enum { GIVEN_MOST = 64 };

struct cli_options {
    enum action action;
    const char *output;                           /* NULL: standard output */
    const char *manifest;                         /* NULL: none */
    const char *folder;                           /* --each-fault */
    const char *from;                             /* NULL: a made-up heap */
    const char *from_profile;                     /* NULL: likewise */
    const char *fit;                              /* ACTION_FIT: the dump */
    const char *serve, *serve_format, *serve_cpu; /* what became hprof-serve; NULL: not given */
    bool takes_orders, has_monitors;
    struct generate_request request;
    const char **violate;       /* request.violate */
    char *violate_text;         /* all of them, separated by commas, */
    char *violate_words;        /* and each by itself */
    struct damage_spec *damage; /* request.damage */
    char *damage_text;          /* all of them, separated by commas */
    bool quiet;
    enum when progress;
    struct given given[GIVEN_MOST]; /* options that decide the bytes, each once, as given last */
    size_t given_count;
};

/* --help and --help all */
void options_help(FILE *out, size_t width);
void options_help_all(FILE *out, size_t width);

/* False if the command line is wrong, which was reported on standard error, or memory ran out (*no_memory). */
bool options_parse(struct cli_options *options, int argc, char **argv, bool *no_memory);
/* For the manifest: as if --violate had named this fault, and not --each-fault. */
void options_note_violate(struct cli_options *options, const char *what);
void options_free(struct cli_options *options);

#endif
