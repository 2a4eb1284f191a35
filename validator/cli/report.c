#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "closing.h"
#include "messages.h"
#include "numbers.h"

/* A copy that outlives the callback; NULL stays NULL. */
static const char *keep(char copy[REPORT_TEXT_SIZE], const char *text)
{
    if (text == NULL)
        return NULL;
    snprintf(copy, REPORT_TEXT_SIZE, "%s", text);
    return copy;
}

static void keep_summary(struct report *report, const struct hprof_summary *summary)
{
    struct hprof_summary *s = &report->summary;

    *s = *summary;
    s->hint = keep(report->hint, summary->hint); /* the only text that may be the tool's */
}

bool report_prepare(struct report *report, const struct report_writer *writer)
{
    report->writer = writer;
    report->state = calloc(1, writer->state_size(report));
    return report->state != NULL;
}

void report_release(struct report *report)
{
    free(report->state);
    report->state = NULL;
}

void report_begin(struct report *report, FILE *out)
{
    report->out = out;
    report->writer->begin(report);
}

void report_file(struct report *report, const char *file, bool opened, const struct hprof_summary *summary)
{
    report->is_stdin = strcmp(file, "-") == 0;
    report->file = input_name(file, report->stdin_name);
    report->name = display_name(report->file);
    report->opened = opened;
    keep_summary(report, summary);
    report->writer->file(report);
}

void report_finding(struct report *report, const struct hprof_finding *finding)
{
    const struct hprof_rule *rule = hprof_rule_at(finding->rule);
    if (rule != NULL)
        report->writer->finding(report, rule, finding);
}

void report_file_end(struct report *report, double seconds)
{
    report->writer->file_end(report, seconds);
}

void report_end(struct report *report, enum hprof_status worst)
{
    report->writer->end(report, worst);
}

uint64_t count_roots(const struct hprof_summary *s)
{
    uint64_t roots = 0;

    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = hprof_subrecord_name((uint8_t)tag);
        if (name != NULL && strncmp(name, "ROOT_", 5) == 0)
            roots += s->subrecord_counts[tag];
    }
    return roots;
}

bool is_changed_as_text(const struct hprof_summary *s)
{
    unsigned everywhere = HPROF_TRANSFER_CRLF | HPROF_TRANSFER_LATIN1 | HPROF_TRANSFER_SEVEN_BIT | HPROF_TRANSFER_ASCII;

    /* A string may have U+FFFD. */
    return (s->transfer & everywhere) != 0 || ((s->transfer & HPROF_TRANSFER_REPLACED) != 0 && count_objects(s) == 0);
}

bool is_checked(const struct hprof_summary *s)
{
    return s->status == HPROF_VALID || s->status == HPROF_INVALID;
}

/* False also after a gzip fault: the inflated bytes may be well-formed, yet incomplete. */
bool is_well_formed(const struct hprof_summary *s)
{
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        if (s->totals[rule] > 0 && is_of_gzip(hprof_rule_at(rule)))
            return false;
    return s->sound_until >= s->bytes && s->bytes > 0;
}

bool is_complete(const struct hprof_summary *s)
{
    bool has_end = s->totals[hprof_rule_find("REC-007")] == 0 && s->totals[hprof_rule_find("REC-016")] == 0;

    return is_checked(s) && is_well_formed(s) && has_end && !s->incomplete && s->skipped == 0 && s->missing_objects == 0;
}

const char *report_missing(const struct hprof_summary *s, char text[MISSING_SIZE])
{
    char number[NUMBER_SIZE];

    if (s->missing_objects > 0)
        snprintf(text, MISSING_SIZE, "at least %s object%s missing", format_exact(number, s->missing_objects),
                 s->missing_objects == 1 ? " is" : "s are");
    else if (s->missing_undecided)
        snprintf(text, MISSING_SIZE, "objects may be missing");
    else if (s->is_part)
        snprintf(text, MISSING_SIZE, "a part of a dump");
    else if (s->totals[hprof_rule_find("REC-007")] > 0)
        snprintf(text, MISSING_SIZE, "the end of the heap dump is missing");
    else
        snprintf(text, MISSING_SIZE, "the heap dump is missing");
    return text;
}

uint64_t report_shown(const struct report *report, size_t rule)
{
    uint64_t total = report->summary.totals[rule];
    return report->max_errors > 0 && report->max_errors < total ? report->max_errors : total;
}

bool report_lacks_baseline(const struct report *report)
{
    return report->baseline_kind == BASELINE_LACKS_FILE && report->summary.errors + report->summary.warnings > 0;
}

enum hprof_severity report_severity(const struct report *report, size_t rule)
{
    uint8_t chosen = report->severities[rule];

    return chosen != HPROF_UNCHANGED ? (enum hprof_severity)chosen : severity_in(rule, report->summary.profile);
}

bool report_checks(const struct report *report, size_t rule)
{
    const struct hprof_rule *r = hprof_rule_at(rule);
    if (r->framing)
        return true;
    return report_severity(report, rule) != HPROF_OFF;
}

const char *report_place(const struct report *report, const struct hprof_rule *rule, uint64_t offset, char text[PLACE_SIZE])
{
    char number[NUMBER_SIZE];

    text[0] = '\0';
    if (offset != HPROF_NO_OFFSET)
        snprintf(text, PLACE_SIZE, "at %s%s", format_offset(number, offset, report->decimal),
                 is_of_gzip(rule) ? " of the compressed file" : "");
    return text;
}

const char *report_detail(const struct report *report, const struct hprof_finding *f, char text[DETAIL_SIZE])
{
    char related[NUMBER_SIZE + 16] = "", number[NUMBER_SIZE];

    if (f->related_offset != HPROF_NO_OFFSET)
        snprintf(related, sizeof related, ", first at %s", format_offset(number, f->related_offset, report->decimal));
    if (f->expected[0] != '\0')
        snprintf(text, DETAIL_SIZE, "expected %s; found %s%s", f->expected, f->found, related);
    else
        snprintf(text, DETAIL_SIZE, "%s%s", f->message, related);
    return text;
}

void report_each_count(const struct hprof_summary *summary, void (*visit)(void *context, const char *name, uint64_t count),
                       void *context)
{
    uint64_t unknown = 0;
    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = hprof_record_name((uint8_t)tag);
        if (name != NULL)
            visit(context, name, summary->record_counts[tag]);
        else
            unknown += summary->record_counts[tag];
    }
    for (unsigned tag = 0; tag < 256; tag++) {
        const char *name = hprof_subrecord_name((uint8_t)tag);
        if (name != NULL)
            visit(context, name, summary->subrecord_counts[tag]);
    }
    visit(context, "unknown", unknown);
    visit(context, "loaded_classes", summary->loaded_classes);
    visit(context, "roots", count_roots(summary));
    visit(context, "classes", summary->classes);
    visit(context, "instances", summary->instances);
    visit(context, "object_arrays", summary->object_arrays);
    visit(context, "primitive_arrays", summary->primitive_arrays);
    visit(context, "references", summary->references);
    visit(context, "strings", summary->strings);
}
