#define _DEFAULT_SOURCE
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decimals.h"
#include "messages.h"

#define MAX_JOBS 1024

enum option_id {
    OPTION_HELP = 'h',
    OPTION_VERSION = 'V',
    OPTION_PROFILE = 256,
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_MAX_ERRORS,
    OPTION_DISABLE,
    OPTION_WARN,
    OPTION_ERROR,
    OPTION_WERROR,
    OPTION_MAX_MEMORY,
    OPTION_JOBS,
    OPTION_EXPLAIN,
    OPTION_LIST_RULES,
    OPTION_LIST_PROFILES,
    OPTION_QUIET,
    OPTION_COLOR,
    OPTION_PROGRESS,
};

static const struct option long_options[] = {
    {"profile", required_argument, NULL, OPTION_PROFILE},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"max-errors", required_argument, NULL, OPTION_MAX_ERRORS},
    {"disable", required_argument, NULL, OPTION_DISABLE},
    {"warn", required_argument, NULL, OPTION_WARN},
    {"error", required_argument, NULL, OPTION_ERROR},
    {"werror", no_argument, NULL, OPTION_WERROR},
    {"max-memory", required_argument, NULL, OPTION_MAX_MEMORY},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"explain", required_argument, NULL, OPTION_EXPLAIN},
    {"list-rules", no_argument, NULL, OPTION_LIST_RULES},
    {"list-profiles", no_argument, NULL, OPTION_LIST_PROFILES},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"progress", required_argument, NULL, OPTION_PROGRESS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* ---- Arguments of options ---------------------------------------------------------------------------------------- */

static bool read_max_errors(const char *text, uint64_t *value)
{
    if (parse_count(text, value))
        return true;
    say_usage("--max-errors takes a whole number, 0 for all findings, not '", text, "'");
    return false;
}

static bool read_jobs(const char *text, unsigned *jobs)
{
    uint64_t value;

    if (!parse_count(text, &value) || value < 1 || value > MAX_JOBS) {
        say_usage("--jobs takes a whole number from 1 to 1024, not '", text, "'");
        return false;
    }
    *jobs = (unsigned)value;
    return true;
}

static bool read_max_memory(const char *text, uint64_t *bytes)
{
    if (parse_size(text, bytes) && *bytes > 0)
        return true;
    say_usage("--max-memory takes a size above 0 in bytes, or with K, M, G or T (of 1024) such as 512M or 2G, not '", text,
              "'");
    return false;
}

static bool read_when(const char *option, const char *text, enum when *when)
{
    if (parse_when(text, when))
        return true;
    say_usage(option, text, "'");
    return false;
}

static bool read_format(const char *text, enum format *format)
{
    static const char *const names[] = {
        [FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_SARIF] = "sarif", [FORMAT_JUNIT] = "junit"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *format = (enum format)i;
            return true;
        }
    }
    say_usage("--format takes text, json, sarif or junit, not '", text, "'");
    return false;
}

static bool read_profile(const char *text, size_t *profile)
{
    *profile = hprof_profile_find(text);
    if (*profile != SIZE_MAX)
        return true;

    char names[256] = "' (there are ";
    for (size_t i = 0; hprof_profile_at(i) != NULL; i++) {
        const char *name = hprof_profile_at(i)->name;
        if (strlen(names) + strlen(name) + 4 < sizeof names) {
            strcat(names, i > 0 ? ", " : "");
            strcat(names, name);
        }
    }
    strcat(names, ")");
    say_usage("no profile is called '", text, names);
    return false;
}

/* ---- RULE[,RULE...] ---------------------------------------------------------------------------------------------- */

static bool no_such_rule(const char *name)
{
    say_usage("no rule or family is called '", name, "' (--list-rules shows them all)");
    return false;
}

static bool refuse_framing(const char *name, const char *is)
{
    say_usage("", name, is);
    return false;
}

/* One name: of a rule, or of a family and so of all its rules. */
static bool choose(const char *name, bool softening, bool *chosen)
{
    size_t rule = hprof_rule_find(name);
    if (rule != SIZE_MAX) {
        if (softening && hprof_rule_at(rule)->framing)
            return refuse_framing(hprof_rule_at(rule)->id, " is about framing and cannot be disabled or softened: nothing "
                                                           "behind such an error can be judged");
        chosen[rule] = true;
        return true;
    }

    size_t members = 0, fixed = 0;
    const char *family = name;
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (strcasecmp(hprof_rule_at(i)->family, name) == 0) {
            family = hprof_rule_at(i)->family;
            chosen[i] = true;
            members++;
            fixed += hprof_rule_at(i)->framing;
        }
    }
    if (members == 0)
        return no_such_rule(name);
    if (softening && fixed == members)
        return refuse_framing(family, " rules are about framing and cannot be disabled or softened: nothing behind such an "
                                      "error can be judged");
    return true;
}

static bool choose_all(const char *option, const char *list, bool softening, bool *chosen)
{
    for (const char *item = list;;) {
        char name[64];
        size_t length = strcspn(item, ",");
        if (length == 0) {
            say_usage(option, list, "'");
            return false;
        }
        if (length >= sizeof name)
            return no_such_rule(item);
        memcpy(name, item, length);
        name[length] = '\0';
        if (!choose(name, softening, chosen))
            return false;
        if (item[length] == '\0')
            return true;
        item += length + 1;
    }
}

/* A family's framing rules stay as they are. */
static bool set_severity(struct cli_options *options, const char *option, enum hprof_severity severity, const char *list)
{
    bool *chosen = options->chosen;
    memset(chosen, 0, hprof_rule_count() * sizeof *chosen);
    bool good = choose_all(option, list, severity != HPROF_ERROR, chosen);
    for (size_t i = 0; good && i < hprof_rule_count(); i++) {
        if (chosen[i] && !hprof_rule_at(i)->framing)
            options->severities[i] = (uint8_t)severity;
    }
    return good;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool set_action(struct cli_options *options, enum action action)
{
    if (options->action != ACTION_VALIDATE && options->action != action) {
        say_usage("", "--explain, --list-rules and --list-profiles", " do not go together");
        return false;
    }
    options->action = action;
    return true;
}

static bool take_option(struct cli_options *options, int code, char **argv)
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
        return read_max_errors(optarg, &options->max_errors);
    case OPTION_DISABLE:
        return set_severity(options, "--disable takes rules or families with commas between, not '", HPROF_OFF, optarg);
    case OPTION_WARN:
        return set_severity(options, "--warn takes rules or families with commas between, not '", HPROF_WARNING, optarg);
    case OPTION_ERROR:
        return set_severity(options, "--error takes rules or families with commas between, not '", HPROF_ERROR, optarg);
    case OPTION_WERROR:
        options->werror = true;
        return true;
    case OPTION_MAX_MEMORY:
        return read_max_memory(optarg, &options->max_memory);
    case OPTION_JOBS:
        return read_jobs(optarg, &options->jobs);
    case OPTION_EXPLAIN:
        return set_action(options, ACTION_EXPLAIN) &&
               choose_all("--explain takes rules or families with commas between, not '", optarg, false, options->explain);
    case OPTION_LIST_RULES:
        return set_action(options, ACTION_LIST_RULES);
    case OPTION_LIST_PROFILES:
        return set_action(options, ACTION_LIST_PROFILES);
    case OPTION_QUIET:
        options->quiet = true;
        return true;
    case OPTION_COLOR:
        return read_when("--color takes auto, always or never, not '", optarg, &options->color);
    case OPTION_PROGRESS:
        return read_when("--progress takes auto, always or never, not '", optarg, &options->progress);
    default:
        say_refused_option(code, optopt, optopt >= OPTION_PROFILE || optopt == OPTION_HELP || optopt == OPTION_VERSION,
                           argv[optind - 1]);
        return false;
    }
}

/* What only the whole command line tells. */
static bool check_together(const struct cli_options *options)
{
    unsigned standard_inputs = 0;

    if (options->action == ACTION_VALIDATE) {
        if (options->file_count == 0) {
            say_usage("", "no FILE is given", "; - is standard input");
            return false;
        }
        for (int i = 0; i < options->file_count; i++)
            standard_inputs += strcmp(options->files[i], "-") == 0;
        if (standard_inputs > 1) {
            say_usage("", "-", " is given twice, and standard input can be read once");
            return false;
        }
        return true;
    }
    if (options->file_count > 0) {
        say_usage("--explain, --list-rules and --list-profiles take no FILE, such as '", options->files[0], "'");
        return false;
    }
    if (options->format == FORMAT_SARIF || options->format == FORMAT_JUNIT) {
        say_usage("", "--explain, --list-rules and --list-profiles", " have the formats text and json only");
        return false;
    }
    return true;
}

enum hprof_status options_parse(struct cli_options *options, int argc, char **argv)
{
    size_t rules = hprof_rule_count();
    struct hprof_options defaults;
    int code;

    hprof_options_init(&defaults);
    *options = (struct cli_options){
        .profile = defaults.profile,
        .max_errors = defaults.max_errors,
        .max_memory = defaults.max_memory,
        .jobs = 1,
        .severities = malloc(rules),
        .explain = calloc(rules, sizeof(bool)),
        .chosen = calloc(rules, sizeof(bool)),
    };
    if (options->severities == NULL || options->explain == NULL || options->chosen == NULL) {
        say_failure("options", "out of memory");
        return HPROF_LIMIT;
    }
    memset(options->severities, HPROF_UNCHANGED, rules);

    opterr = 0;
    while ((code = getopt_long(argc, argv, ":hV", long_options, NULL)) != -1) {
        if (code == OPTION_HELP || code == OPTION_VERSION) {
            options->action = code == OPTION_HELP ? ACTION_HELP : ACTION_VERSION;
            options->output = NULL;
            return HPROF_VALID; /* whatever follows */
        }
        if (!take_option(options, code, argv))
            return HPROF_USAGE;
    }
    options->files = argv + optind;
    options->file_count = argc - optind;
    return check_together(options) ? HPROF_VALID : HPROF_USAGE;
}

void options_free(struct cli_options *options)
{
    free(options->severities);
    free(options->explain);
    free(options->chosen);
}
