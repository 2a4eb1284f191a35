#define _GNU_SOURCE
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combinations.h"
#include "decimals.h"
#include "messages.h"
#include "nearest.h"
#include "option_table.h"
#include "option_values.h"
#include "processors.h"

static bool say_no_memory(bool *no_memory)
{
    *no_memory = true;
    say_failure("options", "out of memory");
    return false;
}

/* Several --violate, or --damage, are joined by commas. */
static bool add_words(char **all, const char *text, bool *no_memory)
{
    size_t old = *all ? strlen(*all) + 1 : 0;
    char *joined = realloc(*all, old + strlen(text) + 1);

    if (!joined)
        return say_no_memory(no_memory);
    if (old)
        joined[old - 1] = ',';
    memcpy(joined + old, text, strlen(text) + 1);
    *all = joined;
    return true;
}

/* A rule or a variant without a row may be mistyped. faults_create() reports other mistakes. */
static bool check_name(const char *word)
{
    char id[32], before[128], question[NEAREST_QUESTION_SIZE];
    const char *variant = strchr(word, '/');
    size_t n = variant ? (size_t)(variant - word) : strlen(word);
    struct nearest rule, way;
    const struct fault *row;
    bool has_rule = false;

    if (!n || n >= sizeof id)
        return true;
    snprintf(id, sizeof id, "%.*s", (int)n, word);
    nearest_init(&rule, id);
    nearest_init(&way, variant ? variant + 1 : "");
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (strcmp(hprof_rule_at(i)->id, id) == 0)
            has_rule = true;
        nearest_offer(&rule, hprof_rule_at(i)->id);
    }
    if (!has_rule) {
        say_usage_asking("--violate: no rule is called '", id, "' (--list-violations shows them all)",
                         nearest_question(&rule, "", question));
        return false;
    }
    has_rule = false;
    for (size_t i = 0; (row = fault_at(i)); i++) {
        if (strcmp(fault_rule(row), id) != 0)
            continue;
        if (!variant || strcmp(fault_variant(row), way.word) == 0)
            return true;
        has_rule = true;
        nearest_offer(&way, fault_variant(row));
    }
    if (!has_rule)
        return true;
    snprintf(before, sizeof before, "--violate: %s has no variant '", id);
    say_usage_asking(before, way.word, "' (--list-violations shows them all)", nearest_question(&way, "", question));
    return false;
}

static size_t count_words(const char *text)
{
    size_t count = 1;

    for (const char *p = text; *p; p++)
        count += *p == ',';
    return count;
}

static bool split_faults(struct cli_options *o, bool *no_memory)
{
    if (!o->violate_text)
        return true;
    o->violate = calloc(count_words(o->violate_text), sizeof *o->violate);
    o->violate_words = strdup(o->violate_text);
    if (!o->violate || !o->violate_words)
        return say_no_memory(no_memory);
    for (char *p = o->violate_words; p;) {
        char *comma = strchr(p, ',');

        if (comma)
            *comma++ = '\0';
        o->violate[o->request.violate_count++] = p;
        if (!check_name(p))
            return false;
        p = comma;
    }
    o->request.violate = o->violate;
    return true;
}

static bool read_damage(const char *text, struct damage_spec *spec)
{
    char wrong[200], question[NEAREST_QUESTION_SIZE], name[40];
    struct nearest nearest;

    if (damage_parse(text, spec, wrong))
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":@"), text);
    nearest_init(&nearest, name);
    for (size_t i = 0; damage_name(i); i++)
        if (strcmp(name, damage_name(i)) == 0)
            nearest.best = NULL;
        else
            nearest_offer(&nearest, damage_name(i));
    say_usage_asking("--damage: ", wrong, "", nearest_question(&nearest, "", question));
    return false;
}

static bool split_damage(struct cli_options *o, bool *no_memory)
{
    char *words;
    bool good = true;

    if (!o->damage_text)
        return true;
    o->damage = calloc(count_words(o->damage_text), sizeof *o->damage);
    words = strdup(o->damage_text);
    if (!o->damage || !words) {
        free(words);
        return say_no_memory(no_memory);
    }
    for (char *p = words; good && p;) {
        char *comma = strchr(p, ',');

        if (comma)
            *comma++ = '\0';
        good = read_damage(p, &o->damage[o->request.damage_count++]);
        p = comma;
    }
    free(words);
    o->request.damage = o->damage;
    return good;
}

/* ---- What is given ---- */

static void note_given(struct cli_options *o, int id, const char *value)
{
    const char *name = option_name(id);
    size_t i = 0;

    while (i < o->given_count && strcmp(o->given[i].option, name) != 0)
        i++;
    o->given[i] = (struct given){name, value};
    if (i == o->given_count)
        o->given_count++;
}

void options_note_violate(struct cli_options *o, const char *what)
{
    note_given(o, OPTION_VIOLATE, what);
}

/* ---- The command line ---- */

static bool take_option(struct cli_options *o, int id, const char *text, bool *no_memory)
{
    struct source_settings *made = &o->request.made;
    uint64_t value;

    switch ((enum option_id)id) {
    case OPTION_HELP:
        o->action = text ? ACTION_HELP_ALL : ACTION_HELP;
        return !text || strcmp(text, "all") == 0 || wrong(id, "alone, or --help all", text);
    case OPTION_EACH_FAULT:
        if (!*text)
            return wrong(id, "the name of a folder", text);
        o->action = ACTION_EACH_FAULT;
        o->folder = text;
        return true;
    case OPTION_FIT:
        if (!*text)
            return wrong(id, "the name of a dump", text);
        o->action = ACTION_FIT;
        o->fit = text;
        return true;
    case OPTION_LIST_VIOLATIONS:
        o->action = ACTION_LIST_VIOLATIONS;
        return true;
    case OPTION_LIST_DAMAGE:
        o->action = ACTION_LIST_DAMAGE;
        return true;
    case OPTION_OUTPUT:
        if (!*text)
            return wrong(id, "the name of a file, or -", text);
        o->output = strcmp(text, "-") == 0 ? NULL : text;
        return true;
    case OPTION_MANIFEST:
        if (!*text)
            return wrong(id, "the name of a file", text);
        o->manifest = text;
        return true;
    case OPTION_DIGESTS:
        o->request.digests = true;
        return true;
    case OPTION_ANSWERS:
        o->request.answers = true;
        return true;
    case OPTION_QUIET:
        o->quiet = true;
        return true;
    case OPTION_PROGRESS:
        return read_when(text, &o->progress);
    case OPTION_VERSION:
        if (!text) {
            o->action = ACTION_VERSION;
            return true;
        }
        if (!read_version(text, &made->version))
            return false;
        note_given(o, OPTION_DUMP_VERSION, text);
        fprintf(stderr, "%s: --version %s is --dump-version %s now\n", program_name, text, text);
        return true;
    default:
        break;
    }

    note_given(o, id, text);
    switch ((enum option_id)id) {
    case OPTION_OBJECTS:
        if (!read_many(id, text, &made->model.objects))
            return false;
        o->request.twin_objects = made->model.objects;
        return true;
    case OPTION_BYTES:
        return read_size(id, text, &o->request.bytes);
    case OPTION_SEED:
        if (!read_count(id, text, 0, UINT64_MAX, "a whole number below 2^64", &made->model.seed))
            return false;
        o->request.how.seed = made->model.seed;
        return true;
    case OPTION_DUMP_VERSION:
        o->request.converts = true;
        return read_version(text, &made->version);
    case OPTION_ID_SIZE:
        if (!parse_count(text, &value) || (value != 4 && value != 8))
            return wrong(id, "4 or 8", text);
        made->id_size = (unsigned)value;
        return true;
    case OPTION_SEGMENT_SIZE:
        return read_size(id, text, &made->segment_size) &&
               (made->segment_size <= UINT32_MAX || wrong(id, "at most 4294967295 bytes: a length has 32 bits", text));
    case OPTION_HEAP_DUMPS:
        if (!read_count(id, text, 1, 1000000, "a whole number from 1 to 1000000", &value))
            return false;
        made->heap_dumps = (unsigned)value;
        return true;
    case OPTION_LIKE:
        return read_producer(text, &made->producer);
    case OPTION_SHAPE:
        return read_shape(text, &made->shape);
    case OPTION_LOAD:
        return read_load(text, &made->model.load);
    case OPTION_CLASSES:
        return read_many(id, text, &made->model.classes);
    case OPTION_THREADS:
        return read_many(id, text, &made->model.threads);
    case OPTION_STACK_DEPTH:
        return read_many(id, text, &made->model.stack_depth);
    case OPTION_REFERENCES:
        return read_mean(id, text, &made->model.references);
    case OPTION_ARRAY_LENGTH:
        return read_mean(id, text, &made->model.array_length);
    case OPTION_STRING_LENGTH:
        return read_mean(id, text, &made->model.string_length);
    case OPTION_RECORDS:
        return read_records(text, &made->records);
    case OPTION_FROM:
        o->from = text;
        return true;
    case OPTION_FROM_PROFILE:
        o->from_profile = text;
        return true;
    case OPTION_VIOLATE:
        if (!add_words(&o->violate_text, text, no_memory))
            return false;
        note_given(o, id, o->violate_text);
        return true;
    case OPTION_DAMAGE:
        if (!add_words(&o->damage_text, text, no_memory))
            return false;
        note_given(o, id, o->damage_text);
        return true;
    case OPTION_AT:
        return read_at(text, &o->request.how.at);
    case OPTION_VIOLATIONS:
        return read_count(id, text, 1, 1000000, "a whole number from 1 to 1000000", &o->request.how.count);
    case OPTION_SERVE:
        o->serve = text;
        return true;
    case OPTION_FORMAT:
        o->serve_format = text;
        return true;
    case OPTION_CPU:
        o->serve_cpu = text;
        return true;
    case OPTION_MONITOR:
        o->has_monitors = true;
        return true;
    case OPTION_ORDERS:
        o->takes_orders = true;
        return true;
    case OPTION_GZ:
        if (!read_count(id, text, 1, 9, "a level from 1 (fast) to 9 (small)", &value))
            return false;
        o->request.gzip_level = (int)value;
        o->request.threads = processor_count();
        return true;
    default: /* the mistake has been reported */
        return false;
    }
}

/* The value of an option that needs none, as a separate word: `--help all`, `--version 1.0.2`, `--progress never`. */
static bool takes_next_word(int id, const char *word)
{
    enum when when;

    return (id == OPTION_HELP && strcmp(word, "all") == 0) || (id == OPTION_VERSION && *word != '-') ||
           (id == OPTION_PROGRESS && parse_when(word, &when));
}

bool options_parse(struct cli_options *o, int argc, char **argv, bool *no_memory)
{
    struct command_line line;
    int id;

    *o = (struct cli_options){
        .request = {.from = -1,
                    .profile = -1,
                    .made = {.producer = producer_at(0),
                             .shape = shapes[0],
                             .heap_dumps = 1,
                             .model = {.seed = 1,
                                       .objects = 1000000,
                                       .classes = MODEL_UNSET,
                                       .threads = MODEL_UNSET,
                                       .stack_depth = MODEL_UNSET,
                                       .references = MODEL_UNSET,
                                       .array_length = MODEL_UNSET,
                                       .string_length = MODEL_UNSET}},
                    .how = {.count = 1, .seed = 1, .at = UINT32_MAX / 2}},
    };
    *no_memory = false;
    if (argc <= 1) {
        o->action = ACTION_USAGE;
        return true;
    }
    command_line_init(&line, option_rows, option_row_count, argc, argv);
    while ((id = command_line_next(&line)) != -1) {
        const char *text = optarg;

        if (id == COMMAND_LINE_REFUSED)
            return false;
        if (!text && optind < argc && takes_next_word(id, argv[optind]))
            text = argv[optind++];
        if (!take_option(o, id, text, no_memory))
            return false;
        if (o->action == ACTION_HELP || o->action == ACTION_HELP_ALL || o->action == ACTION_VERSION)
            return true;
    }
    if (optind < argc) {
        say_usage("unexpected '", argv[optind], "': the dump goes to -o FILE, or to standard output");
        return false;
    }
    if (o->action == ACTION_FIT)
        return check_fit(o);
    return (o->action != ACTION_GENERATE && o->action != ACTION_EACH_FAULT) ||
           (split_faults(o, no_memory) && split_damage(o, no_memory) && check_together(o));
}

void options_free(struct cli_options *o)
{
    free(o->violate);
    free(o->violate_text);
    free(o->violate_words);
    free(o->damage_text);
    free(o->damage);
}
