/* --format lines: one finding per line, for editors and grep: "heap.hprof:0x1cb114: warning: CLS-004 class-id-reloaded: ...". */
#include <inttypes.h>

#include "catalog.h"
#include "numbers.h"
#include "printable.h"
#include "report.h"

/* Findings of the file so far, by rule. */
struct lines {
    uint64_t shown;
};

static size_t state_size(const struct report *report)
{
    (void)report;
    return hprof_rule_count() * sizeof(struct lines);
}

static void begin(struct report *report)
{
    (void)report;
}

static void file(struct report *report)
{
    struct lines *lines = report->state;

    for (size_t i = 0; i < hprof_rule_count(); i++)
        lines[i].shown = 0;
    if (report->summary.failure[0] != '\0' && report->apart) {
        print_safely(report->out, report->name);
        fprintf(report->out, ": error: %s\n", report->summary.failure);
    }
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct lines *lines = report->state;
    char offset[NUMBER_SIZE], detail[DETAIL_SIZE];
    FILE *out = report->out;
    uint64_t total = report->summary.totals[f->rule];

    print_safely(out, report->name);
    if (f->offset != HPROF_NO_OFFSET)
        fprintf(out, ":%s", format_offset(offset, f->offset, report->decimal));
    fprintf(out, ": %s: %s %s: %s%s%s%s\n", severity_name(f->severity), rule->id, rule->name,
            is_of_gzip(rule) && f->offset != HPROF_NO_OFFSET ? "at this offset of the compressed file: " : "", f->path,
            f->path[0] != '\0' ? ": " : "", report_detail(report, f, detail));
    lines[f->rule].shown++;
    if (lines[f->rule].shown == report_shown(report, f->rule) && total > lines[f->rule].shown) {
        print_safely(out, report->name);
        fprintf(out, ": note: %s %s: %" PRIu64 " findings, %" PRIu64 " shown\n", rule->id, rule->name, total,
                lines[f->rule].shown);
    }
}

/* An incomplete dump has no error that says why the status is 1. */
static void file_end(struct report *report, double seconds)
{
    const struct hprof_summary *s = &report->summary;
    char missing[MISSING_SIZE];

    if (s->incomplete && s->status == HPROF_INVALID) {
        print_safely(report->out, report->name);
        fprintf(report->out, ": error: incomplete: %s\n", report_missing(s, missing));
    }
    (void)seconds;
}

static void end(struct report *report, enum hprof_status worst)
{
    (void)report;
    (void)worst;
}

const struct report_writer report_lines = {state_size, begin, file, finding, file_end, end};
