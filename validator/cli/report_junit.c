/* --format junit: a test suite for each file, a test case for each rule. A rule with an error fails; warnings and
 * notes stand in the case's system-out; a rule that was not judged, or not to the end of the file, is skipped. Findings
 * come by offset and are wanted by rule, so their texts are gathered: FINDINGS_TOLD of each rule at most, the number is
 * told in any case. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "messages.h"
#include "printable.h"
#include "report.h"

#define FINDINGS_TOLD 100
#define TEXT_SIZE 4096

/* The writer's state is an array of these, by rule. */
struct rule_case {
    uint64_t told;
    enum hprof_severity gravest;
    char *texts; /* of the findings told, a line each; NULL while there is none */
    size_t length, capacity;
};

/* XML 1.0 can hold most characters, but not all; what it cannot is replaced. */
static void write_escaped(FILE *out, const char *text)
{
    while (*text != '\0') {
        uint32_t c = REPLACEMENT_CHARACTER;
        size_t length = utf8_sequence(text, &c);
        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (length == 0 || (c < 0x20 && c != '\n' && c != '\t') || c == 0xFFFE || c == 0xFFFF)
            fputs("\xEF\xBF\xBD", out);
        else
            fwrite(text, 1, length, out);
        text += length > 0 ? length : 1;
    }
}

static void write_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    write_escaped(out, value);
    putc('"', out);
}

/* The name of the file, of any length, free of what XML cannot hold. */
static void write_file_attribute(FILE *out, const char *name, const char *file)
{
    fprintf(out, " %s=\"", name);
    for (; *file != '\0';) { /* piece by piece: print_safely knows nothing of XML */
        char piece[5] = "", safe[32];
        uint32_t c;
        size_t length = utf8_sequence(file, &c);
        length += length == 0;
        memcpy(piece, file, length);
        format_safely(safe, sizeof safe, piece);
        write_escaped(out, safe);
        file += length;
    }
    putc('"', out);
}

static size_t state_size(const struct report *report)
{
    (void)report;
    return hprof_rule_count() * sizeof(struct rule_case);
}

static void begin(struct report *report)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", report->out);
    write_attribute(report->out, "name", program_name);
    fputs(">\n", report->out);
}

static void file(struct report *report)
{
    (void)report;
}

static bool append(struct rule_case *c, const char *line)
{
    size_t size = strlen(line) + 1;
    if (c->length + size > c->capacity) {
        size_t capacity = 2 * (c->length + size);
        char *texts = realloc(c->texts, capacity);
        if (texts == NULL)
            return false;
        c->texts = texts;
        c->capacity = capacity;
    }
    memcpy(c->texts + c->length, line, size);
    c->length += size - 1;
    return true;
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct rule_case *c = (struct rule_case *)report->state + f->rule;
    char place[32] = "", what[TEXT_SIZE] = "", first[32] = "", line[2 * TEXT_SIZE];

    (void)rule;
    if (f->severity > c->gravest)
        c->gravest = f->severity;
    if (c->told == FINDINGS_TOLD)
        return;
    if (f->offset != HPROF_NO_OFFSET)
        snprintf(place, sizeof place, " at 0x%" PRIx64, f->offset);
    if (f->expected[0] != '\0')
        snprintf(what, sizeof what, ": expected %s; found %s", f->expected, f->found);
    if (f->related_offset != HPROF_NO_OFFSET)
        snprintf(first, sizeof first, ", first at 0x%" PRIx64, f->related_offset);
    snprintf(line, sizeof line, "%s%s%s%s: %s%s%s\n", severity_name(f->severity), place, f->path[0] != '\0' ? ": " : "",
             f->path, f->message, what, first);
    if (append(c, line))
        c->told++;
    else
        report->shortened = true;
}

static void write_property(FILE *out, const char *name, const char *value)
{
    fputs("      <property", out);
    write_attribute(out, "name", name);
    write_attribute(out, "value", value);
    fputs("/>\n", out);
}

static void write_number(void *out, const char *name, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    write_property(out, name, digits);
}

static void write_properties(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    FILE *out = report->out;

    fputs("    <properties>\n", out);
    write_number(out, "status", s->status);
    write_property(out, "version", s->version);
    write_number(out, "id_size", s->id_size);
    write_number(out, "timestamp", s->timestamp);
    write_number(out, "bytes", s->bytes);
    write_number(out, "file_bytes", s->file_bytes);
    write_property(out, "compressed", s->compressed ? "true" : "false");
    write_property(out, "profile", hprof_profile_at(s->profile)->name);
    write_property(out, "producer", s->producer);
    if (s->accepted_by != NULL)
        write_property(out, "accepted_by", s->accepted_by);
    write_number(out, "sound_until", s->sound_until);
    write_number(out, "skipped", s->skipped);
    if (s->hint != NULL)
        write_property(out, "hint", s->hint);
    write_number(out, "errors", s->errors);
    write_number(out, "warnings", s->warnings);
    write_number(out, "notes", s->notes);
    report_each_count(s, write_number, out);
    fputs("    </properties>\n", out);
}

static void open_case(const struct report *report, const char *name)
{
    fputs("    <testcase", report->out);
    write_file_attribute(report->out, "classname", display_name(report->file));
    write_attribute(report->out, "name", name);
}

static void write_texts(FILE *out, const struct rule_case *c, uint64_t total)
{
    if (c->texts != NULL)
        write_escaped(out, c->texts);
    if (total > c->told)
        fprintf(out, "%" PRIu64 " findings, %" PRIu64 " shown\n", total, c->told);
}

enum outcome { PASSED, FAILED, SKIPPED };

/* Behind a fault of the framing bytes were skipped: of a rule that found nothing nobody knows whether it holds. */
static bool is_judged_to_the_end(const struct hprof_summary *s)
{
    return s->status != HPROF_IO && s->status != HPROF_LIMIT && s->id_size != 0 && s->sound_until == s->bytes;
}

static enum outcome outcome_of(const struct report *report, size_t rule)
{
    const struct rule_case *cases = report->state;
    const struct hprof_summary *s = &report->summary;
    if (cases[rule].gravest == HPROF_ERROR)
        return FAILED;
    if (!report_checks(report, rule) || (s->totals[rule] == 0 && !is_judged_to_the_end(s)))
        return SKIPPED;
    return PASSED;
}

static void write_rule_case(const struct report *report, size_t rule)
{
    const struct rule_case *c = (const struct rule_case *)report->state + rule;
    const struct hprof_rule *r = hprof_rule_at(rule);
    uint64_t total = report->summary.totals[rule];
    FILE *out = report->out;
    char text[128];

    snprintf(text, sizeof text, "%s %s", r->id, r->name);
    open_case(report, text);
    switch (outcome_of(report, rule)) {
    case FAILED:
        snprintf(text, sizeof text, "%" PRIu64 " finding%s", total, total == 1 ? "" : "s");
        fputs(">\n      <failure", out);
        write_attribute(out, "message", text);
        write_attribute(out, "type", r->id);
        putc('>', out);
        write_texts(out, c, total);
        fputs("</failure>\n    </testcase>\n", out);
        return;
    case SKIPPED:
        fputs(">\n      <skipped", out);
        write_attribute(out, "message", report_checks(report, rule) ? "the file was not judged to its end" : "not checked");
        fputs("/>\n    </testcase>\n", out);
        return;
    case PASSED:
        break;
    }
    if (total == 0) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n      <system-out>", out);
    write_texts(out, c, total);
    fputs("</system-out>\n    </testcase>\n", out);
}

static void file_end(struct report *report, double seconds)
{
    struct rule_case *cases = report->state;
    const char *failure = report->summary.failure;
    size_t rules = hprof_rule_count(), outcomes[3] = {0};
    FILE *out = report->out;

    (void)seconds; /* the same bytes give the same report */
    for (size_t i = 0; i < rules; i++)
        outcomes[outcome_of(report, i)]++;

    fputs("  <testsuite", out);
    write_file_attribute(out, "name", display_name(report->file));
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\">\n", rules + (failure != NULL),
            outcomes[FAILED], failure != NULL, outcomes[SKIPPED]);
    write_properties(report);
    if (failure != NULL) {
        open_case(report, "read to the end");
        fputs(">\n      <error", out);
        write_attribute(out, "message", failure);
        fputs("/>\n    </testcase>\n", out);
    }
    for (size_t i = 0; i < rules; i++) {
        write_rule_case(report, i);
        free(cases[i].texts);
    }
    fputs("  </testsuite>\n", out);
    memset(cases, 0, rules * sizeof *cases);
}

static void end(struct report *report, enum hprof_status worst)
{
    struct rule_case *cases = report->state;
    (void)worst;
    fputs("</testsuites>\n", report->out);
    for (size_t i = 0; i < hprof_rule_count(); i++) /* of a file that did not come to its end */
        free(cases[i].texts);
}

const struct report_writer report_junit = {state_size, begin, file, finding, file_end, end};
