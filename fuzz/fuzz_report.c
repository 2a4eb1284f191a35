/* A dump, with hostile names in it and as its own file name, reported in each format with options drawn from the input. JSON and
 * SARIF parse again with jansson: both have the rules of all findings that the library handed out, JSON also their offsets and
 * texts. JUnit parses again with libxml2, with a failure for each rule that has an error. All text is printable
 * (expect_printable.h), and a coloured report differs from a plain one by its colours alone. */
#define _GNU_SOURCE /* open_memstream */
#include <jansson.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "expect_printable.h"
#include "hash.h"
#include "hprof/testing.h"
#include "report.h"
#include "target.h"
#include "wrap.h"

enum format { CONCISE, COLOURED_CONCISE, FULL, COLOURED_FULL, VERDICT, MANY, LINES, GITHUB, JSON, SARIF, JUNIT, FORMATS };

static const struct report_writer *const writers[FORMATS] = {[CONCISE] = &report_concise, [COLOURED_CONCISE] = &report_concise,
                                                             [FULL] = &report_full,       [COLOURED_FULL] = &report_full,
                                                             [VERDICT] = &report_verdict, [MANY] = &report_many,
                                                             [LINES] = &report_lines,     [GITHUB] = &report_github,
                                                             [JSON] = &report_json,       [SARIF] = &report_sarif,
                                                             [JUNIT] = &report_junit};

struct output {
    struct report report;
    FILE *stream;
    char *text;
    size_t size;
};

enum {
    RULES_MOST = 512,
    FINDINGS_MOST = 256,       /* that are compared */
    SARIF_RESULTS_MOST = 25000 /* README.md */
};

struct run {
    struct output outputs[FORMATS];
    const char *file;
    size_t findings;
    struct {
        const char *rule;
        uint64_t offset, texts;
    } first[FINDINGS_MOST];
    bool has_error[RULES_MOST], is_readable, is_incomplete;
};

static uint64_t hash_of(const char *path, const char *message, const char *expected, const char *found)
{
    uint64_t hash = 0;

    add_text_to_hash(&hash, path);
    add_text_to_hash(&hash, message);
    add_text_to_hash(&hash, expected);
    add_text_to_hash(&hash, found);
    return hash;
}

static int on_summary(void *context, const struct hprof_summary *summary)
{
    struct run *run = context;

    run->is_incomplete = summary->incomplete;
    for (int i = 0; i < FORMATS; i++)
        report_file(&run->outputs[i].report, run->file, run->is_readable, summary);
    return 0;
}

static int on_finding(void *context, const struct hprof_finding *finding)
{
    struct run *run = context;

    if (run->findings < FINDINGS_MOST) {
        run->first[run->findings].rule = hprof_rule_at(finding->rule)->id;
        run->first[run->findings].offset = finding->offset;
        run->first[run->findings].texts = hash_of(finding->path, finding->message, finding->expected, finding->found);
    }
    run->findings++;
    run->has_error[finding->rule] |= finding->severity == HPROF_ERROR;
    for (int i = 0; i < FORMATS; i++)
        report_finding(&run->outputs[i].report, finding);
    return 0;
}

/* ---- What must hold of each format ---- */

static void expect_only_colours(const struct output *plain, const struct output *coloured)
{
    size_t at = 0;

    for (const char *p = coloured->text; *p; p++) {
        if (*p == '\x1b')
            p += strcspn(p, "m");
        else if (at >= plain->size || plain->text[at++] != *p)
            fail_target("a coloured report has other text than the plain one, after %zu bytes", at);
    }
    if (at != plain->size)
        fail_target("a coloured report has %zu bytes of text, the plain one %zu", at, plain->size);
}

/* Each line is a command: of any other line, GitHub's runner would look for a command within. */
static void expect_commands(const struct output *output)
{
    for (const char *line = output->text, *end; *line; line = end + 1) {
        if (strncmp(line, "::error ", 8) != 0 && strncmp(line, "::warning ", 10) != 0 && strncmp(line, "::notice ", 9) != 0)
            fail_target("a line of the github format is no command");
        end = strchr(line, '\n');
        if (!end)
            fail_target("the last line of the github format has no end");
    }
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    if (!text)
        fail_target("a finding has no %s", key);
    return text;
}

static void expect_finding(const struct run *run, size_t i, const json_t *finding)
{
    const json_t *offset = json_object_get(finding, "offset");
    uint64_t texts =
        hash_of(text_of(finding, "path"), text_of(finding, "message"), text_of(finding, "expected"), text_of(finding, "found"));

    if (run->first[i].offset == HPROF_NO_OFFSET
            ? !json_is_null(offset)
            : !json_is_real(offset) || json_real_value(offset) != (double)run->first[i].offset)
        fail_target("finding %zu, of %s, has another offset", i, run->first[i].rule);
    if (texts != run->first[i].texts)
        fail_target("finding %zu, of %s, has another text", i, run->first[i].rule);
}

/* JSON and SARIF have a list with one file, whose findings are a list; each names its rule. */
static void expect_json(const struct run *run, enum format format, const char *files, const char *findings, const char *rule)
{
    const struct output *output = &run->outputs[format];
    size_t expected = format == SARIF && run->findings > SARIF_RESULTS_MOST ? SARIF_RESULTS_MOST : run->findings;
    json_error_t error;
    /* As real numbers: jansson takes no integer above 2^63, and a timestamp may be any of 64 bits. */
    json_t *root = json_loadb(output->text, output->size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    json_t *list, *finding;
    size_t i;

    if (!root)
        fail_target("JSON cannot be parsed: %s at %d", error.text, error.position);
    list = json_object_get(json_array_get(json_object_get(root, files), 0), findings);
    if (!json_is_array(list) || json_array_size(list) != expected)
        fail_target("%zu findings in the JSON, %zu expected", json_array_size(list), expected);
    json_array_foreach(list, i, finding)
    {
        const char *id = text_of(finding, rule);

        if (i == FINDINGS_MOST)
            break;
        if (strcmp(id, run->first[i].rule) != 0)
            fail_target("finding %zu is of %s, not %s", i, id, run->first[i].rule);
        if (format == JSON)
            expect_finding(run, i, finding);
    }
    json_decref(root);
}

static size_t count_elements(const xmlNode *node, const char *name)
{
    size_t n = 0;

    for (; node; node = node->next)
        n += (strcmp((const char *)node->name, name) == 0) + count_elements(node->children, name);
    return n;
}

static void expect_xml(const struct run *run)
{
    const struct output *output = &run->outputs[JUNIT];
    xmlDocPtr document = xmlReadMemory(output->text, (int)output->size, "report.xml", "UTF-8",
                                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE);
    size_t cases, failures, expected = run->is_incomplete;

    if (!document)
        fail_target("XML cannot be parsed");
    cases = count_elements(xmlDocGetRootElement(document), "testcase");
    failures = count_elements(xmlDocGetRootElement(document), "failure");
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        expected += run->has_error[rule];
    if (cases != 2 + hprof_rule_count() || failures != expected)
        fail_target("%zu cases and %zu failures in the XML; %zu rules, %zu of them with errors", cases, failures,
                    hprof_rule_count(), expected);
    xmlFreeDoc(document);
}

/* ---- One input ---- */

static bool is_coloured(int format)
{
    return format == COLOURED_CONCISE || format == COLOURED_FULL;
}

static void open_outputs(struct run *run, const struct hprof_options *options, struct dice *dice)
{
    const struct report shared = {.width = one_in(dice, 2) ? WRAP_NEVER : 20 + (size_t)below(dice, 100),
                                  .decimal = one_in(dice, 2),
                                  .apart = one_in(dice, 2),
                                  .profile = options->profile,
                                  .max_errors = options->max_errors,
                                  .severities = options->severities,
                                  .baseline = options->baseline,
                                  .baseline_kind = options->baseline ? BASELINE_HAS_FILE : BASELINE_NONE,
                                  .file_count = 1};

    for (int i = 0; i < FORMATS; i++) {
        struct output *o = &run->outputs[i];

        o->report = shared;
        o->report.color = is_coloured(i);
        o->stream = open_memstream(&o->text, &o->size);
        if (!o->stream || !report_prepare(&o->report, writers[i]))
            fail_target("no memory for a report");
        report_begin(&o->report, o->stream);
    }
}

static void close_outputs(struct run *run, enum hprof_status status)
{
    for (int i = 0; i < FORMATS; i++) {
        struct output *o = &run->outputs[i];

        report_file_end(&o->report, 0.25);
        report_end(&o->report, status);
        if (o->report.shortened)
            fail_target("a report was shortened");
        report_release(&o->report);
        if (ferror(o->stream) || fclose(o->stream) != 0)
            fail_target("a report could not be written");
    }
}

/* The last bytes of the input, without NULs, are the name of the file. */
static void take_file_name(const uint8_t *data, size_t size, char *name, size_t room)
{
    size_t n = size < room - 1 ? size : room - 1, at = 0;

    for (size_t i = size - n; i < size; i++)
        if (data[i])
            name[at++] = (char)data[i];
    if (at == 0)
        name[at++] = 'x';
    name[at] = '\0';
}

/* Each option may keep its default. */
static struct hprof_options draw_options(struct dice *dice, uint32_t bits)
{
    static uint8_t severities[RULES_MOST];
    static uint64_t baseline[RULES_MOST];
    struct hprof_options options;
    uint32_t profiles = 0;

    hprof_options_init(&options);
    while (hprof_profile_at(profiles))
        profiles++;
    options.profile = draw(&bits, profiles);
    options.max_errors = draw(&bits, 4);
    if (hprof_rule_count() > RULES_MOST)
        fail_target("too many rules");
    memset(severities, HPROF_UNCHANGED, sizeof severities);
    for (uint64_t n = one_in(dice, 4) ? below(dice, 40) : 0; n; n--)
        severities[below(dice, hprof_rule_count())] = (uint8_t)below(dice, HPROF_ERROR + 1);
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        baseline[rule] = below(dice, 3);
    options.severities = severities;
    options.baseline = one_in(dice, 4) ? baseline : NULL;
    return options;
}

/* As for a file that cannot be read: a summary with a failure, and no finding. */
static enum hprof_status report_failure(struct run *run, size_t profile)
{
    const struct hprof_summary summary = {.struct_size = sizeof summary,
                                          .status = HPROF_IO,
                                          .version = "",
                                          .profile = profile,
                                          .producer = "",
                                          .failure = "it cannot be read"};

    run->is_readable = false;
    on_summary(run, &summary);
    return HPROF_IO;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char file[48];
    static struct run run;
    const uint8_t *bytes = copy_to_guard_page(data, size);
    uint32_t bits = drawn_bits(data, size);
    struct dice dice = {bits + (uint64_t)size};
    struct hprof_testing testing = {.hash_seed = 1};
    struct hprof_options options = draw_options(&dice, bits);

    memset(&run, 0, sizeof run);
    run.file = file;
    run.is_readable = true;
    take_file_name(data, size, file, sizeof file);
    options.testing = &testing;
    options.on_summary = on_summary;
    options.on_finding = on_finding;
    options.context = &run;
    open_outputs(&run, &options, &dice);
    close_outputs(&run, one_in(&dice, 32) ? report_failure(&run, options.profile)
                                          : hprof_validate_memory(bytes, size, false, &options, NULL));
    for (int i = 0; i < FORMATS; i++)
        expect_printable(run.outputs[i].text, run.outputs[i].size, true, is_coloured(i));
    expect_only_colours(&run.outputs[CONCISE], &run.outputs[COLOURED_CONCISE]);
    expect_only_colours(&run.outputs[FULL], &run.outputs[COLOURED_FULL]);
    expect_commands(&run.outputs[GITHUB]);
    if (HAS_PARSERS) {
        expect_json(&run, JSON, "files", "findings", "rule");
        expect_json(&run, SARIF, "runs", "results", "ruleId");
        expect_xml(&run);
    }
    for (int i = 0; i < FORMATS; i++)
        free(run.outputs[i].text);
    return 0;
}
