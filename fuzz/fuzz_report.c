/* A dump, with hostile names in it and as its own file name, reported in each format. JSON and SARIF parse again with jansson, and
 * have the rules, and JSON the offsets, of all findings that the library handed out. JUnit parses again with libxml2, with a failure
 * for each rule that has an error. No format has a control character, a character that turns the direction of text, or an escape
 * sequence except the colours when they are asked for. */
#define _GNU_SOURCE /* open_memstream, memmem */
#include <jansson.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "report.h"
#include "target.h"

enum format { SUMMARY, COLOURED_SUMMARY, TEXT, COLOURED_TEXT, VERDICT, LINES, GITHUB, JSON, SARIF, JUNIT, FORMATS };

static const struct report_writer *const writers[FORMATS] = {[SUMMARY] = &report_summary, [COLOURED_SUMMARY] = &report_summary,
                                                             [TEXT] = &report_text,       [COLOURED_TEXT] = &report_text,
                                                             [VERDICT] = &report_verdict, [LINES] = &report_lines,
                                                             [GITHUB] = &report_github,   [JSON] = &report_json,
                                                             [SARIF] = &report_sarif,     [JUNIT] = &report_junit};

struct output {
    struct report report;
    FILE *stream;
    char *text;
    size_t size;
};

enum { RULES_MOST = 512, FINDINGS_MOST = 256 };

struct run {
    struct output outputs[FORMATS];
    const char *file;
    size_t findings;
    struct {
        const char *rule;
        uint64_t offset;
    } first[FINDINGS_MOST];
    bool has_error[RULES_MOST];
};

static void on_summary(void *context, const struct hprof_summary *summary)
{
    struct run *run = context;

    for (int i = 0; i < FORMATS; i++)
        report_file(&run->outputs[i].report, run->file, true, summary);
}

static void on_finding(void *context, const struct hprof_finding *finding)
{
    struct run *run = context;

    if (run->findings < FINDINGS_MOST) {
        run->first[run->findings].rule = hprof_rule_at(finding->rule)->id;
        run->first[run->findings].offset = finding->offset;
    }
    run->findings++;
    run->has_error[finding->rule] |= finding->severity == HPROF_ERROR;
    for (int i = 0; i < FORMATS; i++)
        report_finding(&run->outputs[i].report, finding);
}

/* ---- What must hold of each format ---- */

static void expect_printable(const char *text, size_t size, bool coloured)
{
    for (size_t i = 0; i < size;) {
        uint32_t c = 0;
        size_t n = utf8_sequence(text + i, &c);

        if (coloured && text[i] == '\x1b' && text[i + 1] == '[') { /* ESC [ digits and semicolons m */
            size_t end = i + 2 + strspn(text + i + 2, "0123456789;");

            if (text[end] != 'm')
                fail_target("an escape sequence that is no colour");
            i = end + 1;
            continue;
        }
        if (n == 0)
            fail_target("byte 0x%02x in text is not UTF-8", (unsigned char)text[i]);
        if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0))
            fail_target("control character U+%04X in text", c);
        if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029)
            fail_target("U+%04X, which turns or breaks lines, in text", c);
        i += n;
    }
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

/* JSON and SARIF have a list with one file, whose findings are a list; each names its rule. */
static void expect_json(const struct run *run, enum format format, const char *files, const char *findings, const char *rule)
{
    const struct output *output = &run->outputs[format];
    json_error_t error;
    /* As real numbers: jansson takes no integer above 2^63, and a timestamp may be any of 64 bits. */
    json_t *root = json_loadb(output->text, output->size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    json_t *list, *finding;
    size_t i;

    if (!root)
        fail_target("JSON cannot be parsed: %s at %d", error.text, error.position);
    list = json_object_get(json_array_get(json_object_get(root, files), 0), findings);
    if (json_array_size(list) != run->findings)
        fail_target("%zu findings in the JSON, %zu came", json_array_size(list), run->findings);
    json_array_foreach(list, i, finding)
    {
        const char *id = json_string_value(json_object_get(finding, rule));
        const json_t *offset = json_object_get(finding, "offset");
        const char *expected = i < FINDINGS_MOST ? run->first[i].rule : id;

        if (!id || strcmp(id, expected) != 0)
            fail_target("finding %zu is of %s, not %s", i, id ? id : "no rule", expected);
        if (format == JSON && i < FINDINGS_MOST &&
            (run->first[i].offset == HPROF_NO_OFFSET ? !json_is_null(offset)
                                                     : json_real_value(offset) != (double)run->first[i].offset))
            fail_target("finding %zu, of %s, has another offset", i, id);
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
    size_t cases, failures, expected = 0;

    if (!document)
        fail_target("XML cannot be parsed");
    cases = count_elements(xmlDocGetRootElement(document), "testcase");
    failures = count_elements(xmlDocGetRootElement(document), "failure");
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        expected += run->has_error[rule];
    if (cases != 1 + hprof_rule_count() || failures != expected)
        fail_target("%zu cases and %zu failures in the XML; %zu rules, %zu of them with errors", cases, failures,
                    hprof_rule_count(), expected);
    xmlFreeDoc(document);
}

/* ---- One input ---- */

static void open_outputs(struct run *run, const struct hprof_options *options)
{
    for (int i = 0; i < FORMATS; i++) {
        struct output *o = &run->outputs[i];

        o->report = (struct report){.color = i == COLOURED_SUMMARY || i == COLOURED_TEXT,
                                    .width = i == SUMMARY ? 60 : SIZE_MAX,
                                    .max_errors = options->max_errors,
                                    .severities = options->severities,
                                    .file_count = 1};
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

/* The end of the input, up to a NUL, is the name of the file. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char file[48];
    static uint8_t severities[RULES_MOST];
    const uint8_t *bytes = copy_to_guard_page(data, size);
    uint32_t bits = drawn_bits(data, size);
    struct hprof_testing testing = {.hash_seed = 1};
    struct run run = {.file = file};
    struct hprof_options options;
    size_t profiles = 0;

    while (hprof_profile_at(profiles))
        profiles++;
    take_file_name(data, size, file, sizeof file);
    hprof_options_init(&options);
    options.profile = draw(&bits, (uint32_t)profiles);
    options.max_errors = draw(&bits, 4);
    options.testing = &testing;
    if (hprof_rule_count() > RULES_MOST)
        fail_target("too many rules");
    memset(severities, HPROF_UNCHANGED, sizeof severities);
    options.severities = severities;
    options.on_summary = on_summary;
    options.on_finding = on_finding;
    options.context = &run;
    open_outputs(&run, &options);
    close_outputs(&run, hprof_validate_memory(bytes, size, false, &options));
    for (int i = 0; i < FORMATS; i++)
        expect_printable(run.outputs[i].text, run.outputs[i].size, i == COLOURED_SUMMARY || i == COLOURED_TEXT);
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
