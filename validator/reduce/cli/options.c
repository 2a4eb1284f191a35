/* See options.h. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "decimals.h"
#include "messages.h"
#include "option_table.h"
#include "reduction.h"

enum { MOST_SECONDS = 1000000 };

static bool take_count(const char *text, uint64_t most, const char *before, uint64_t *value)
{
    if (parse_count(text, value) && *value >= 1 && *value <= most)
        return true;
    say_usage(before, text, "'");
    return false;
}

static bool take_option(struct options *o, int id)
{
    uint64_t value = 0;

    switch ((enum option_id)id) {
    case OPTION_HELP:
        o->action = ACTION_HELP;
        return true;
    case OPTION_VERSION:
        o->action = ACTION_VERSION;
        return true;
    case OPTION_OUTPUT:
        o->out = optarg;
        return true;
    case OPTION_MATCH:
        o->match = optarg;
        if (!*optarg)
            say_usage("--match is a text, not ''", "", "");
        return *optarg != '\0';
    case OPTION_TIMEOUT:
        if (!parse_decimal(optarg, 3, &value) || value == 0 || value / 1000 > MOST_SECONDS) {
            say_usage("--timeout is a number of seconds, such as 30 or 0.5, not '", optarg, "'");
            return false;
        }
        o->timeout = (double)value / 1000;
        return true;
    case OPTION_RUNS:
        return take_count(optarg, UINT64_MAX, "--runs is a whole number from 1 on, not '", &o->runs);
    case OPTION_JOBS:
        if (!take_count(optarg, MOST_JOBS, "--jobs is a whole number from 1 to 64, not '", &value))
            return false;
        o->jobs = (unsigned)value;
        return true;
    case OPTION_KEEP_VALID:
        o->keep_valid = true;
        return true;
    case OPTION_QUIET:
        o->quiet = true;
        return true;
    }
    return false; /* the mistake has been printed */
}

bool options_parse(struct options *o, int argc, char **argv)
{
    struct command_line line;
    int id;

    *o = (struct options){.jobs = 1};
    command_line_init(&line, option_rows, option_row_count, argc, argv);
    while ((id = command_line_next(&line)) != -1)
        if (!take_option(o, id))
            return false;
    if (o->action != ACTION_REDUCE)
        return true;
    if (optind >= argc) {
        say_usage("which dump, and which command? hprof-reduce IN -o OUT -- COMMAND", "", "");
        return false;
    }
    o->in = argv[optind];
    o->command = argv + optind + 1;
    if (*o->command == NULL) {
        say_usage("no command follows '", o->in, "': hprof-reduce IN -o OUT -- COMMAND");
        return false;
    }
    if (o->out == NULL || !*o->out) {
        say_usage("the smallest dump needs a name: -o OUT", "", "");
        return false;
    }
    return true;
}
