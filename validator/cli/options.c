#define _DEFAULT_SOURCE
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command_line.h"
#include "decimals.h"
#include "messages.h"
#include "nearest.h"
#include "wrap.h"

#define MAX_JOBS 1024
#define SHOWN_AROUND 2
#define PROFILE_NOT_GIVEN SIZE_MAX

/* An option is added here, in rows[] and in take_option(). */
enum option_id {
    OPTION_FORMAT = 'f',
    OPTION_HELP = 'h',
    OPTION_JOBS = 'j',
    OPTION_OUTPUT = 'o',
    OPTION_QUIET = 'q',
    OPTION_VERBOSE = 'v',
    OPTION_VERSION = 'V',
    OPTION_PROFILE = 256,
    OPTION_DECIMAL,
    OPTION_MAX_ERRORS,
    OPTION_DISABLE,
    OPTION_WARN,
    OPTION_ERROR,
    OPTION_WERROR,
    OPTION_BASELINE,
    OPTION_MAX_MEMORY,
    OPTION_SHOW,
    OPTION_REPAIR,
    OPTION_EXPLAIN,
    OPTION_LIST_RULES,
    OPTION_LIST_PROFILES,
    OPTION_COLOR,
    OPTION_PROGRESS,
};

static const struct option_row rows[] = {
    {0, NULL, NULL, "What is checked"},
    {OPTION_PROFILE, "profile", "NAME",
     "strict (default), auto, hotspot, jdk8-agent, jvmpi-agent, sa, android, graalvm or mat"},
    {OPTION_DISABLE, "disable", "RULE[,RULE...]", ""},
    {OPTION_WARN, "warn", "RULE[,RULE...]", ""},
    {OPTION_ERROR, "error", "RULE[,RULE...]",
     "do not report these rules, or report them as warnings or errors. RULE is an ID (OBJ-004), a name (object-id-duplicate) "
     "or a family (OBJ); of several options the last wins. Framing rules stay errors: nothing after such an error can be "
     "checked"},
    {OPTION_WERROR, "werror", NULL, "warnings are errors"},
    {OPTION_BASELINE, "baseline", "REPORT",
     "an earlier report in JSON: if a rule has no more findings in a file than in that report, they are notes"},

    {0, NULL, NULL, "What is shown"},
    {OPTION_FORMAT, "format", "NAME",
     "text (default): a line for each broken rule, and the verdict; text-full: every finding; lines: one finding per line, for "
     "editors and grep; github: annotations of a workflow; json, sarif, junit"},
    {OPTION_VERBOSE, "verbose", NULL, "the same as --format text-full"},
    {OPTION_OUTPUT, "output", "FILE", "write the report to FILE, not to standard output; FILE is replaced"},
    {OPTION_DECIMAL, "decimal", NULL, "offsets in decimal, as dd, head and tail take them, not in hexadecimal"},
    {OPTION_MAX_ERRORS, "max-errors", "N",
     "how many findings of each rule are shown, 20 by default, 0 for all; totals are always exact. Findings are kept until all "
     "is read, so with 0 memory and time grow with them"},
    {OPTION_QUIET, "quiet", NULL,
     "only the verdict of each file, instead of a report as text, text-full or lines; reports as github, json, sarif and junit "
     "stay complete. Twice (-qq): nothing on standard output, only the exit status. A report to --output FILE is complete in "
     "any case, and files that cannot be read are named on standard error"},
    {OPTION_COLOR, "color", "WHEN", "auto (default), always or never"},
    {OPTION_PROGRESS, "progress", "WHEN",
     "a bar on standard error: auto (default; on a terminal, after a second), always or never"},

    {OPTION_SHOW, "show", "OFFSET[:COUNT]",
     "instead of checking FILE, show the record at this offset (such as 0x7fff9a) and COUNT before and after it, 2 by default: "
     "in the notation of the corpus, with names, and as bytes"},

    {OPTION_REPAIR, "repair", "OUT",
     "instead of checking FILE, write a valid copy of what can be read of it to OUT, and print what was left out. The profile "
     "is auto if none is given"},

    {0, NULL, NULL, "How"},
    {OPTION_MAX_MEMORY, "max-memory", "SIZE", "end with status 4 rather than use more: 512M, 2G; no limit by default"},
    {OPTION_JOBS, "jobs", "N",
     "use N threads, 1 to 1024; by default as many as there are processors for this process. Several files are checked at "
     "once; "
     "threads that are left share the parts of a file that is not compressed. Results never depend on N"},

    {0, NULL, NULL, "What is known"},
    {OPTION_EXPLAIN, "explain", "RULE[,RULE...]", "what a rule requires, why, who breaks it, how readers fare, and an example"},
    {OPTION_LIST_RULES, "list-rules", NULL, "all rules; as JSON with --format json"},
    {OPTION_LIST_PROFILES, "list-profiles", NULL, "all profiles and the quirks in each; as JSON with --format json"},
    {OPTION_HELP, "help", NULL, ""},
    {OPTION_VERSION, "version", NULL, ""},
};

void options_help(FILE *out, size_t width)
{
    wrap(out, "Usage: hprof-validate [OPTION]... FILE...", 0, 0, width);
    wrap(out,
         "Checks HPROF heap dumps, rule by rule, against SPEC.md. FILE is a dump, compressed by gzip or not; - is standard "
         "input; a directory means the files in it whose names end in .hprof or .hprof.gz.",
         0, 0, width);
    command_line_help(out, rows, sizeof rows / sizeof rows[0], width);
    putc('\n', out);
    wrap(out,
         "Exit status: 0 valid (there may be warnings), 1 an error was found, 2 wrong usage, 3 a file cannot be read or the "
         "output cannot be written, 4 a limit was reached. Of several files the worst status counts: 4, 3, 1, 0. No dump, "
         "whatever it contains, ends the tool by a signal. SIGINT, SIGTERM and the like end it at once, as they end any "
         "program.",
         0, 0, width);
}

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

/* OFFSET or OFFSET:COUNT; an offset in hexadecimal, as findings have it, or decimal. */
static bool read_show(const char *text, uint64_t *offset, uint64_t *around)
{
    const char *colon = strchr(text, ':');
    char *end;

    errno = 0;
    *offset = strtoull(text, &end, 0);
    *around = SHOWN_AROUND;
    if (text[0] >= '0' && text[0] <= '9' && errno == 0 && end == (colon != NULL ? colon : text + strlen(text)) &&
        (colon == NULL || parse_count(colon + 1, around)))
        return true;
    say_usage("--show takes an offset, such as 0x7fff9a, or an offset and a count, such as 0x7fff9a:5, not '", text, "'");
    return false;
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
        [FORMAT_TEXT] = "text", [FORMAT_TEXT_FULL] = "text-full", [FORMAT_LINES] = "lines", [FORMAT_GITHUB] = "github",
        [FORMAT_JSON] = "json", [FORMAT_SARIF] = "sarif",         [FORMAT_JUNIT] = "junit"};
    char question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    nearest_init(&nearest, text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *format = (enum format)i;
            return true;
        }
        nearest_offer(&nearest, names[i]);
    }
    say_usage_asking("--format takes text, text-full, lines, github, json, sarif or junit, not '", text, "'",
                     nearest_question(&nearest, "", question));
    return false;
}

static bool read_profile(const char *text, size_t *profile)
{
    char names[256] = "' (there are ", question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    *profile = hprof_profile_find(text);
    if (*profile != SIZE_MAX)
        return true;

    nearest_init(&nearest, text);
    for (size_t i = 0; hprof_profile_at(i) != NULL; i++) {
        const char *name = hprof_profile_at(i)->name;
        nearest_offer(&nearest, name);
        if (strlen(names) + strlen(name) + 4 < sizeof names) {
            strcat(names, i > 0 ? ", " : "");
            strcat(names, name);
        }
    }
    strcat(names, ")");
    say_usage_asking("no profile is called '", text, names, nearest_question(&nearest, "", question));
    return false;
}

/* ---- RULE[,RULE...] ---------------------------------------------------------------------------------------------- */

static bool no_such_rule(const char *name)
{
    char question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        nearest_offer(&nearest, hprof_rule_at(i)->id);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        nearest_offer(&nearest, hprof_rule_at(i)->name);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        nearest_offer(&nearest, hprof_rule_at(i)->family);
    say_usage_asking("no rule or family is called '", name, "' (--list-rules shows them all)",
                     nearest_question(&nearest, "", question));
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
                                                           "after such an error can be checked");
        chosen[rule] = true;
        return true;
    }

    size_t members = 0;
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (strcasecmp(hprof_rule_at(i)->family, name) == 0) {
            chosen[i] = true;
            members++;
        }
    }
    return members > 0 || no_such_rule(name);
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
        say_usage("", "--show, --repair, --explain, --list-rules and --list-profiles", " do not go together");
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
    case OPTION_EXPLAIN:
        return set_action(options, ACTION_EXPLAIN) &&
               choose_all("--explain takes rules or families with commas between, not '", optarg, false, options->explain);
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

/* What options mean together. */
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
    if (options->action == ACTION_SHOW || options->action == ACTION_REPAIR) {
        const char *option = options->action == ACTION_SHOW ? "--show" : "--repair";
        if (options->file_count != 1)
            say_usage("", option, " takes one FILE");
        else if (options->format != FORMAT_TEXT)
            say_usage("", option, " has the format text only");
        return options->file_count == 1 && options->format == FORMAT_TEXT;
    }
    if (options->file_count > 0) {
        say_usage("--explain, --list-rules and --list-profiles take no FILE, such as '", options->files[0], "'");
        return false;
    }
    if (options->format != FORMAT_TEXT && options->format != FORMAT_JSON) {
        say_usage("", "--explain, --list-rules and --list-profiles", " have the formats text and json only");
        return false;
    }
    return true;
}

enum hprof_status options_parse(struct cli_options *options, int argc, char **argv)
{
    size_t rules = hprof_rule_count();
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

    command_line_init(&line, rows, sizeof rows / sizeof rows[0], argc, argv);
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
        options->profile = options->action == ACTION_REPAIR ? hprof_profile_find("auto") : defaults.profile;
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
