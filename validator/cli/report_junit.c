/* --format junit: a test suite for each file, as Jenkins and others read it (schema: report.junit.xsd). One test case says
 * whether the file could be read, one whether the dump is complete, and there is one for each rule. A rule with an error fails;
 * warnings and notes are in the case's system-out; a rule that was not checked is skipped. Findings arrive by offset, so their
 * texts are gathered by rule: at most FINDINGS_SHOWN of each. Their number is exact in any case. */
#define _GNU_SOURCE /* fopencookie */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "messages.h"
#include "printable.h"
#include "report.h"

#define FINDINGS_SHOWN 100

struct held {
    char *bytes;
    size_t length, capacity;
};

struct rule_case {
    uint64_t shown;
    enum hprof_severity gravest;
    struct held texts; /* of the findings, a line each */
};

/* The outermost element comes first and has the totals, which are known only at the end, so its contents are held in memory. If
 * memory runs out, the element is written without totals, which no reader needs. */
struct junit {
    struct report *report;
    FILE *out; /* writes to `held`, or directly to the report */
    struct held held;
    bool without_totals;
    size_t tests, failures, errors;
    double seconds;
    struct rule_case cases[]; /* by rule */
};

static struct junit *junit_of(const struct report *report)
{
    return report->state;
}

/* ---- Held bytes -------------------------------------------------------------------------------------------------- */

static bool hold(struct held *held, const char *bytes, size_t size)
{
    if (held->length + size > held->capacity) {
        size_t capacity = 2 * (held->length + size) + 4096;
        char *larger = realloc(held->bytes, capacity);
        if (larger == NULL)
            return false;
        held->bytes = larger;
        held->capacity = capacity;
    }
    memcpy(held->bytes + held->length, bytes, size);
    held->length += size;
    return true;
}

static void give_up_totals(struct junit *junit)
{
    FILE *out = junit->report->out;

    if (junit->without_totals)
        return;
    junit->without_totals = junit->report->shortened = true;
    fputs("<testsuites>\n", out);
    if (junit->held.length > 0)
        fwrite(junit->held.bytes, 1, junit->held.length, out);
}

static ssize_t write_held(void *cookie, const char *bytes, size_t size)
{
    struct junit *junit = cookie;

    if (!junit->without_totals && hold(&junit->held, bytes, size))
        return (ssize_t)size;
    give_up_totals(junit);
    fwrite(bytes, 1, size, junit->report->out);
    return (ssize_t)size;
}

/* ---- XML --------------------------------------------------------------------------------------------------------- */

/* XML 1.0 lacks some characters; they are replaced. */
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

/* Writes the name of the file, which may have any length, without characters that XML lacks. */
static void write_file_attribute(FILE *out, const char *name, const char *file)
{
    fprintf(out, " %s=\"", name);
    for (; *file != '\0';) { /* in pieces, because print_safely does not escape for XML */
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
    return sizeof(struct junit) + hprof_rule_count() * sizeof(struct rule_case);
}

static void begin(struct report *report)
{
    const cookie_io_functions_t functions = {.write = write_held};
    struct junit *junit = junit_of(report);

    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", report->out);
    junit->report = report;
    junit->out = fopencookie(junit, "w", functions);
    if (junit->out == NULL) {
        give_up_totals(junit);
        junit->out = report->out;
    }
}

static void file(struct report *report)
{
    (void)report;
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct rule_case *c = &junit_of(report)->cases[f->rule];
    char place[PLACE_SIZE], detail[DETAIL_SIZE], line[2 * DETAIL_SIZE];

    if (f->severity > c->gravest)
        c->gravest = f->severity;
    if (c->shown == FINDINGS_SHOWN)
        return;
    report_place(report, rule, f->offset, place);
    snprintf(line, sizeof line, "%s%s%s%s%s: %s: %s\n", severity_name(f->severity), place[0] != '\0' ? " " : "", place,
             f->path[0] != '\0' ? ": " : "", f->path, f->message, report_detail(report, f, detail));
    if (hold(&c->texts, line, strlen(line) + 1)) {
        c->texts.length--; /* the next line overwrites the NUL */
        c->shown++;
    } else {
        report->shortened = true;
    }
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

/* A property for each part. */
static void write_parts(const struct report *report)
{
    const struct parts_beside *parts = &report->parts;
    char name[PATH_MAX];

    for (unsigned part = 0; part < PARTS_SOUGHT; part++)
        if ((parts->numbers & UINT64_C(1) << part) && name_part(report->file, part, name, sizeof name))
            write_property(junit_of(report)->out, parts->is_stale ? "stale_part" : "part", name);
}

static void write_properties(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    FILE *out = junit_of(report)->out;

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
    if (!s->missing_undecided || !is_complete(s))
        write_property(out, "complete", is_complete(s) ? "true" : "false");
    write_property(out, "incomplete", s->incomplete ? "true" : "false");
    write_number(out, "missing_objects", s->missing_objects);
    write_parts(report);
    write_number(out, "sound_until", s->sound_until);
    write_number(out, "skipped_bytes", s->skipped);
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
    FILE *out = junit_of(report)->out;
    fputs("    <testcase", out);
    write_file_attribute(out, "classname", report->name);
    write_attribute(out, "name", name);
}

static void write_texts(FILE *out, const struct rule_case *c, uint64_t total)
{
    if (c->texts.length > 0)
        write_escaped(out, c->texts.bytes);
    if (total > c->shown)
        fprintf(out, "%" PRIu64 " findings, %" PRIu64 " shown\n", total, c->shown);
}

enum outcome { PASSED, FAILED, SKIPPED };

/* Whether missing or skipped bytes may contain what the rule requires: a definition, or an end. */
static bool needs_the_whole_dump(const struct hprof_rule *rule)
{
    static const char *const rules[] = {"REC-007", "STR-006", "CLS-008", "CLS-010", "STK-006", "STK-010",  "STK-011", "STK-012",
                                        "PRF-003", "OBJ-002", "OBJ-003", "REF-001", "REF-002", "ROOT-003", "ROOT-005"};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(rule->id, rules[i]) == 0)
            return true;
    }
    return false;
}

/* Why a rule without findings may still be broken; NULL if it was checked. */
static const char *why_skipped(const struct report *report, size_t rule)
{
    const struct hprof_summary *s = &report->summary;
    const struct hprof_rule *r = hprof_rule_at(rule);
    bool whole = (s->status == HPROF_VALID || s->status == HPROF_INVALID) && s->sound_until == s->bytes;

    if (!report_checks(report, rule))
        return "not checked: disabled, or off in the profile";
    if (!report->opened)
        return "the file could not be read";
    if (s->id_size == 0 && strcmp(r->family, "HDR") != 0 && !is_of_gzip(r))
        return "the header could not be read";
    if (!whole && needs_the_whole_dump(r))
        return "the dump could not be read to its end, where the rule is checked";
    return NULL;
}

static enum outcome outcome_of(const struct report *report, size_t rule)
{
    if (junit_of(report)->cases[rule].gravest == HPROF_ERROR)
        return FAILED;
    return report->summary.totals[rule] == 0 && why_skipped(report, rule) != NULL ? SKIPPED : PASSED;
}

static void write_rule_case(const struct report *report, size_t rule)
{
    const struct rule_case *c = &junit_of(report)->cases[rule];
    const struct hprof_rule *r = hprof_rule_at(rule);
    uint64_t total = report->summary.totals[rule];
    FILE *out = junit_of(report)->out;
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
        write_attribute(out, "message", why_skipped(report, rule));
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

/* This case has the time of the whole run, because all rules are checked in one pass. */
static void write_reading_case(const struct report *report, double seconds)
{
    const char *failure = report->summary.failure;
    FILE *out = junit_of(report)->out;

    open_case(report, "the file can be read to its end");
    fprintf(out, " time=\"%.3f\"", seconds);
    if (failure[0] != '\0') {
        fputs(">\n      <error", out);
        write_attribute(out, "message", failure);
        fputs("/>\n    </testcase>\n", out);
    } else {
        fputs("/>\n", out);
    }
}

/* Why the case about completeness has no result; NULL if it has one. */
static const char *why_undecided(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;

    if (!report->opened)
        return "the file could not be read";
    if (!is_checked(s))
        return "the file could not be checked to its end";
    if (s->missing_undecided)
        return "a pipe can be read only once, which was too little; a file decides it";
    return NULL;
}

/* An incomplete dump may have no error: then no case of a rule fails. */
static enum outcome outcome_of_completeness(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;

    return s->incomplete && s->status == HPROF_INVALID ? FAILED : why_undecided(report) != NULL ? SKIPPED : PASSED;
}

static void write_completeness_case(const struct report *report)
{
    FILE *out = junit_of(report)->out;
    char missing[MISSING_SIZE];

    open_case(report, "nothing of an otherwise valid dump is missing");
    switch (outcome_of_completeness(report)) {
    case FAILED:
        fputs(">\n      <failure", out);
        write_attribute(out, "message", report_missing(&report->summary, missing));
        write_attribute(out, "type", "incomplete");
        fputs("/>\n    </testcase>\n", out);
        break;
    case SKIPPED:
        fputs(">\n      <skipped", out);
        write_attribute(out, "message", why_undecided(report));
        fputs("/>\n    </testcase>\n", out);
        break;
    case PASSED:
        fputs("/>\n", out);
        break;
    }
}

static void file_end(struct report *report, double seconds)
{
    enum { OTHER_CASES = 2 };
    struct junit *junit = junit_of(report);
    size_t rules = hprof_rule_count(), outcomes[3] = {0}, errors = report->summary.failure[0] != '\0';
    FILE *out = junit->out;

    outcomes[outcome_of_completeness(report)]++;

    for (size_t i = 0; i < rules; i++)
        outcomes[outcome_of(report, i)]++;

    fputs("  <testsuite", out);
    write_file_attribute(out, "name", report->name);
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n", rules + OTHER_CASES,
            outcomes[FAILED], errors, outcomes[SKIPPED], seconds);
    write_properties(report);
    write_reading_case(report, seconds);
    write_completeness_case(report);
    for (size_t i = 0; i < rules; i++) {
        write_rule_case(report, i);
        free(junit->cases[i].texts.bytes);
    }
    fputs("  </testsuite>\n", out);
    if (out != report->out)
        fflush(out); /* detects at once that memory ran out */
    memset(junit->cases, 0, rules * sizeof junit->cases[0]);
    junit->tests += rules + OTHER_CASES;
    junit->failures += outcomes[FAILED];
    junit->errors += errors;
    junit->seconds += seconds;
}

static void end(struct report *report, enum hprof_status worst)
{
    struct junit *junit = junit_of(report);
    FILE *out = report->out;

    (void)worst;
    if (junit->out != out)
        fclose(junit->out);
    if (!junit->without_totals) {
        fprintf(out, "<testsuites name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\">\n", program_name,
                junit->tests, junit->failures, junit->errors, junit->seconds);
        if (junit->held.length > 0)
            fwrite(junit->held.bytes, 1, junit->held.length, out);
    }
    fputs("</testsuites>\n", out);
    free(junit->held.bytes);
    for (size_t i = 0; i < hprof_rule_count(); i++) /* texts of a file that was not completed */
        free(junit->cases[i].texts.bytes);
}

const struct report_writer report_junit = {state_size, begin, file, finding, file_end, end};
