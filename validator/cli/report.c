#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "catalog.h"

/* A copy that outlives the callback; NULL stays NULL. */
static bool keep(const char **text)
{
    if (*text == NULL)
        return true;
    *text = strdup(*text);
    return *text != NULL;
}

static void forget_summary(struct report *report)
{
    struct hprof_summary *s = &report->summary;
    free((void *)s->version);
    free((void *)s->producer);
    free((void *)s->accepted_by);
    free((void *)s->hint);
    free((void *)s->failure);
    free((void *)s->totals);
    memset(s, 0, sizeof *s);
}

static bool keep_summary(struct report *report, const struct hprof_summary *summary)
{
    struct hprof_summary *s = &report->summary;
    size_t rules = hprof_rule_count();
    uint64_t *totals = calloc(rules, sizeof *totals);

    *s = *summary;
    if (totals != NULL && summary->totals != NULL)
        memcpy(totals, summary->totals, rules * sizeof *totals);
    s->totals = totals;

    bool good = totals != NULL;
    good = keep(&s->version) && good;
    good = keep(&s->producer) && good;
    good = keep(&s->accepted_by) && good;
    good = keep(&s->hint) && good;
    return keep(&s->failure) && good;
}

bool report_begin(struct report *report, const struct report_writer *writer, FILE *out)
{
    report->writer = writer;
    report->out = out;
    return writer->begin(report);
}

bool report_file(struct report *report, const char *file, bool opened, const struct hprof_summary *summary)
{
    report->file = file;
    report->opened = opened;
    return keep_summary(report, summary) && report->writer->file(report);
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
    forget_summary(report);
}

void report_end(struct report *report, enum hprof_status worst)
{
    forget_summary(report); /* of a file that did not come to its end */
    report->writer->end(report, worst);
}

uint64_t report_shown(const struct report *report, size_t rule)
{
    uint64_t total = report->summary.totals[rule];
    return report->max_errors > 0 && report->max_errors < total ? report->max_errors : total;
}

bool report_checks(const struct report *report, size_t rule)
{
    const struct hprof_rule *r = hprof_rule_at(rule);
    if (r->framing)
        return true;
    if (report->severities[rule] != HPROF_UNCHANGED)
        return report->severities[rule] != HPROF_OFF;
    return severity_in(rule, report->summary.profile) != HPROF_OFF;
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
    visit(context, "classes", summary->classes);
    visit(context, "instances", summary->instances);
    visit(context, "object_arrays", summary->object_arrays);
    visit(context, "primitive_arrays", summary->primitive_arrays);
    visit(context, "references", summary->references);
    visit(context, "strings", summary->strings);
}
