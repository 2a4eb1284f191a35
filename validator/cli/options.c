#define _DEFAULT_SOURCE
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "option_rows.h"
#include "option_values.h"
#include "rule_choice.h"

#define PROFILE_NOT_GIVEN SIZE_MAX
#define MAX_ERRORS_CONCISE 5

static bool set_action(struct cli_options *options, enum action action)
{
    if (options->action != ACTION_VALIDATE && options->action != action) {
        say_usage("", "--show, --repair, --stats, --explain, --list-rules and --list-profiles", " do not go together");
        return false;
    }
    options->action = action;
    return true;
}

static bool take_option(struct cli_options *options, int code)
{
    switch (code) {
    case OPTION_PROFILE:
        return read_profile(optarg, &options->profile);
    case OPTION_FORMAT:
        return read_format(optarg, &options->format);
    case OPTION_OUTPUT:
        options->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
        return true;
    case OPTION_MAX_ERRORS:
        options->has_max_errors = true;
        return read_max_errors(optarg, &options->max_errors);
    case OPTION_SELECT:
        return select_rules(options->severities, "--select takes rules or families with commas between, not '", optarg,
                            options->chosen);
    case OPTION_IGNORE:
        return set_severity(options->severities, "--ignore takes rules or families with commas between, not '", HPROF_OFF,
                            optarg, options->chosen);
    case OPTION_DISABLE:
        return set_severity(options->severities, "--disable takes rules or families with commas between, not '", HPROF_OFF,
                            optarg, options->chosen);
    case OPTION_WARN:
        return set_severity(options->severities, "--warn takes rules or families with commas between, not '", HPROF_WARNING,
                            optarg, options->chosen);
    case OPTION_ERROR:
        return set_severity(options->severities, "--error takes rules or families with commas between, not '", HPROF_ERROR,
                            optarg, options->chosen);
    case OPTION_WERROR:
        options->werror = true;
        return true;
    case OPTION_ALLOW_INCOMPLETE:
        options->allow_incomplete = true;
        return true;
    case OPTION_STDIN_NAME:
        options->stdin_name = optarg;
        return true;
    case OPTION_BASELINE:
        options->baseline = optarg;
        return true;
    case OPTION_MAX_MEMORY:
        return read_max_memory(optarg, &options->max_memory);
    case OPTION_JOBS:
        return read_jobs(optarg, &options->jobs);
    case OPTION_SHOW:
        return set_action(options, ACTION_SHOW) && read_show(optarg, &options->show_offset, &options->show_around);
    case OPTION_REPAIR:
        if (strcmp(optarg, "-") == 0) {
            say_usage("--repair takes the name of a file, not '", optarg, "': the copy is checked before it gets that name");
            return false;
        }
        options->repair = optarg;
        return set_action(options, ACTION_REPAIR);
    case OPTION_STATS:
        return set_action(options, ACTION_STATS);
    case OPTION_THREADS:
        options->threads = true;
        return true;
    case OPTION_PARTS:
        if (optarg[strspn(optarg, ",")] == '\0') {
            say_usage("--parts takes files with commas between, not '", optarg, "'");
            return false;
        }
        options->parts = optarg;
        return true;
    case OPTION_NO_STAND_INS:
        options->no_stand_ins = true;
        return true;
    case OPTION_FORCE:
        options->force = true;
        return true;
    case OPTION_EXPLAIN:
        return set_action(options, ACTION_EXPLAIN) &&
               choose_rules("--explain takes rules or families with commas between, not '", optarg, false, options->explain);
    case OPTION_LIST_RULES:
        return set_action(options, ACTION_LIST_RULES);
    case OPTION_LIST_PROFILES:
        return set_action(options, ACTION_LIST_PROFILES);
    case OPTION_VERBOSE:
        options->verbose = true;
        return true;
    case OPTION_DECIMAL:
        options->decimal = true;
        return true;
    case OPTION_QUIET:
        options->quiet++;
        return true;
    case OPTION_COLOR:
        return read_when("--color takes auto, always or never, not '", optarg, &options->color);
    case OPTION_PROGRESS:
        return read_when("--progress takes auto, always or never, not '", optarg, &options->progress);
    default: /* what is wrong has been said */
        return false;
    }
}

static bool check_stats(const struct cli_options *options)
{
    if (options->file_count != 1) {
        say_usage("", "--stats", " takes one FILE");
        return false;
    }
    if (options->stdin_name != NULL && strcmp(options->files[0], "-") != 0) {
        say_usage("--stdin-name '", options->stdin_name, "' names standard input, and no FILE is -");
        return false;
    }
    if (options->format != FORMAT_CONCISE && options->format != FORMAT_JSON && options->format != FORMAT_HTML) {
        say_usage("", "--stats", " has the formats concise, json and html only");
        return false;
    }
    return true;
}

/* What options mean together. */
static bool check_together(const struct cli_options *options)
{
    unsigned standard_inputs = 0;

    if (options->action != ACTION_REPAIR && (options->parts != NULL || options->no_stand_ins)) {
        say_usage("", options->parts != NULL ? "--parts" : "--no-stand-ins", " goes with --repair");
        return false;
    }
    if (options->force && options->action != ACTION_REPAIR) {
        say_usage("", "--force", " is for --repair");
        return false;
    }
    if (options->baseline != NULL && options->action != ACTION_VALIDATE) {
        say_usage("", "--show, --repair, --stats, --explain, --list-rules and --list-profiles", " take no --baseline");
        return false;
    }
    if (options->threads && options->action != ACTION_STATS) {
        say_usage("", "--threads", " goes with --stats");
        return false;
    }
    if (options->format == FORMAT_HTML && (options->action != ACTION_STATS || options->threads)) {
        say_usage("", "--format html", " goes with --stats, without --threads");
        return false;
    }
    if (options->action == ACTION_STATS)
        return check_stats(options);

    if (options->action == ACTION_VALIDATE) {
        if (options->file_count == 0) {
            say_usage("", "no FILE is given", "; - is standard input");
            return false;
        }
        for (int i = 0; i < options->file_count; i++)
            standard_inputs += strcmp(options->files[i], "-") == 0;
        if (options->stdin_name != NULL && standard_inputs == 0) {
            say_usage("--stdin-name '", options->stdin_name, "' names standard input, and no FILE is -");
            return false;
        }
        if (standard_inputs > 1) {
            say_usage("", "-", " is given twice, and standard input can be read once");
            return false;
        }
        return true;
    }
    if (options->stdin_name != NULL) {
        say_usage("", "--stdin-name", " is for files that are checked");
        return false;
    }
    if (options->action == ACTION_SHOW || options->action == ACTION_REPAIR) {
        bool is_show = options->action == ACTION_SHOW;
        bool has_format = options->format == FORMAT_CONCISE || (!is_show && options->format == FORMAT_JSON);
        if (options->file_count != 1)
            say_usage("", is_show ? "--show" : "--repair", " takes one FILE");
        else if (!has_format)
            say_usage("", is_show ? "--show has the format concise only" : "--repair has the formats concise and json only",
                      "");
        return options->file_count == 1 && has_format;
    }
    if (options->file_count > 0) {
        say_usage("--explain, --list-rules and --list-profiles take no FILE, such as '", options->files[0], "'");
        return false;
    }
    if (options->format != FORMAT_CONCISE && options->format != FORMAT_JSON) {
        say_usage("", "--explain, --list-rules and --list-profiles", " have the formats concise and json only");
        return false;
    }
    return true;
}

enum hprof_status options_parse(struct cli_options *options, int argc, char **argv)
{
    size_t rules = hprof_rule_count(), row_count;
    const struct option_row *rows = option_rows(&row_count);
    struct hprof_options defaults;
    struct command_line line;
    int code;

    hprof_options_init(&defaults);
    *options = (struct cli_options){
        .profile = PROFILE_NOT_GIVEN,
        .max_errors = defaults.max_errors,
        .max_memory = defaults.max_memory,
        .severities = malloc(rules),
        .explain = calloc(rules, sizeof(bool)),
        .chosen = calloc(rules, sizeof(bool)),
    };
    if (options->severities == NULL || options->explain == NULL || options->chosen == NULL) {
        say_failure("options", "out of memory");
        return HPROF_LIMIT;
    }
    memset(options->severities, HPROF_UNCHANGED, rules);

    command_line_init(&line, rows, row_count, argc, argv);
    while ((code = command_line_next(&line)) != -1) {
        if (code == OPTION_HELP || code == OPTION_VERSION) {
            options->action = code == OPTION_HELP ? ACTION_HELP : ACTION_VERSION;
            options->output = NULL;
            return HPROF_VALID; /* whatever follows */
        }
        if (!take_option(options, code))
            return HPROF_USAGE;
    }
    if (options->profile == PROFILE_NOT_GIVEN)
        options->profile = hprof_profile_find("auto");
    if (options->quiet > 0 && options->progress == WHEN_AUTO)
        options->progress = WHEN_NEVER;
    if (!options->has_max_errors && options->format == FORMAT_CONCISE && !options->verbose)
        options->max_errors = MAX_ERRORS_CONCISE;
    options->files = argv + optind;
    options->file_count = argc - optind;
    if (!check_together(options))
        return HPROF_USAGE;
    if (options->action != ACTION_VALIDATE)
        return HPROF_VALID;
    if (!files_expand(&options->found, options->files, options->file_count)) {
        say_failure("FILE", "out of memory");
        return HPROF_LIMIT;
    }
    options->files = options->found.names;
    options->file_count = options->found.count;
    return HPROF_VALID;
}

void options_free(struct cli_options *options)
{
    free(options->severities);
    free(options->explain);
    free(options->chosen);
    files_clear(&options->found);
}
