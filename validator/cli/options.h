/* The command line of hprof-validate. */
#ifndef HPROF_CLI_OPTIONS_H
#define HPROF_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "files.h"
#include "hprof/hprof.h"
#include "terminal.h"

enum action {
    ACTION_VALIDATE,
    ACTION_SHOW,
    ACTION_REPAIR,
    ACTION_STATS,
    ACTION_EXPLAIN,
    ACTION_LIST_RULES,
    ACTION_LIST_PROFILES,
    ACTION_HELP,
    ACTION_VERSION
};

enum format {
    FORMAT_CONCISE,
    FORMAT_FULL,
    FORMAT_LINES,
    FORMAT_GITHUB,
    FORMAT_JSON,
    FORMAT_JSONL,
    FORMAT_SARIF,
    FORMAT_JUNIT,
    FORMAT_HTML,
};

struct cli_options {
    enum action action;
    enum format format;
    const char *output;   /* NULL for standard output */
    const char *baseline; /* NULL for none */
    size_t profile;
    uint64_t max_errors;
    bool has_max_errors; /* an option gives the number */
    uint64_t show_offset, show_around;
    const char *repair; /* the path of the copy */
    const char *parts;  /* of FILE, with commas between; NULL if not given */
    bool no_stand_ins;
    bool threads; /* only the threads of --stats */
    bool force;
    uint64_t max_memory; /* 0 for no limit */
    unsigned jobs;       /* 0 if not given */
    bool werror;
    bool allow_incomplete;
    const char *stdin_name; /* NULL if not given */
    bool verbose;
    bool decimal;
    unsigned quiet; /* how often --quiet was given */
    enum when color;
    enum when progress;
    uint8_t *severities; /* by rule; HPROF_UNCHANGED if no option changes it */
    bool *explain;       /* by rule */
    bool *chosen;        /* by rule: those that the present option names */
    struct files found;  /* owns the names of `files` */
    char **files;
    int file_count;
};

/* --help */
void options_help(FILE *out, size_t width);

/* Returns HPROF_VALID, or prints what is wrong and returns HPROF_USAGE or HPROF_LIMIT. options_free() must follow in any case. */
enum hprof_status options_parse(struct cli_options *options, int argc, char **argv);
void options_free(struct cli_options *options);

#endif
