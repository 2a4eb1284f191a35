/* --format concise: a healthy dump takes two lines. Each error and warning is a line, a few of each rule; then what can still be
 * read, the likely cause, the next command, and the verdict. --quiet, and a directory, have the verdict alone. */
#include <stdlib.h>
#include <string.h>

#include "closing.h"
#include "numbers.h"
#include "outlook.h"
#include "printable.h"
#include "report.h"
#include "sentence.h"
#include "text_style.h"
#include "wrap.h"

struct concise {
    struct tally tally;
    struct gravest gravest;
    uint64_t errors;  /* printed for the file */
    uint64_t shown[]; /* findings printed for the file, by rule */
};

static size_t state_size(const struct report *report)
{
    (void)report;
    return sizeof(struct concise) + hprof_rule_count() * sizeof(uint64_t);
}

static void begin(struct report *report)
{
    (void)report;
}

/* Messages are on standard error; a report in a file repeats why a file was not read. */
static void print_unopened(const struct report *report)
{
    if (!report->opened && report->apart) {
        print_file_name(report);
        fprintf(report->out, ": %s\n", report->summary.failure);
    }
}

static void file(struct report *report)
{
    struct concise *concise = report->state;

    memset(concise->shown, 0, hprof_rule_count() * sizeof concise->shown[0]);
    concise->gravest = (struct gravest){.rule = NULL};
    concise->errors = 0;
    tally_add(&concise->tally, &report->summary);
    print_unopened(report);
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct concise *concise = report->state;
    const struct hprof_summary *s = &report->summary;
    uint64_t total = s->totals[f->rule] - s->quirk_notes[f->rule];
    char text[SENTENCE_SIZE], number[NUMBER_SIZE];

    gravest_note(&concise->gravest, report, rule, f);
    if (f->severity <= HPROF_NOTE || (is_changed_as_text(s) && (f->severity < HPROF_ERROR || concise->errors > 0)))
        return;
    concise->errors += f->severity == HPROF_ERROR;
    print_finding_line(report, f->severity, rule->id, f->offset, format_sentence(report, rule, f, text));
    concise->shown[f->rule]++;
    if (!is_changed_as_text(s) && concise->shown[f->rule] == report_shown(report, f->rule) && total > concise->shown[f->rule]) {
        snprintf(text, sizeof text, "and %s more", format_exact(number, total - concise->shown[f->rule]));
        print_finding_line(report, f->severity, rule->id, HPROF_NO_OFFSET, text);
    }
}

/* What follows from one cause has one line. */
static void print_folded(const struct report *report, uint64_t printed)
{
    const struct hprof_summary *s = &report->summary;
    const uint64_t errors = s->errors - printed;
    char number[NUMBER_SIZE], line[160];
    size_t used = 0;

    if (errors > 0)
        used = (size_t)snprintf(line, sizeof line, "and %s more error%s", format_exact(number, errors), plural(errors));
    if (s->warnings > 0)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s %s warning%s", used > 0 ? "," : "and",
                                 format_exact(number, s->warnings), plural(s->warnings));
    snprintf(line + used, sizeof line - used, ": all follow from the transfer; -v lists them");
    if (used > 0)
        print_indented_line(report, line);
}

static void file_end(struct report *report, double seconds)
{
    const struct concise *concise = report->state;
    const struct hprof_summary *s = &report->summary;
    bool is_healthy = s->status == HPROF_VALID && s->warnings == 0 && !s->incomplete;

    (void)seconds;
    if (!report->opened)
        return;
    if (is_healthy)
        print_closing_line(report, false, true);
    if (is_changed_as_text(s))
        print_folded(report, concise->errors);
    print_outlook(report, &concise->gravest, false);
    if (s->failure[0] != '\0' && report->apart)
        wrap_hanging(report->out, s->failure, TEXT_INDENT, 0, report->width);
    if (!is_healthy)
        print_closing_line(report, false, !has_readable_line(s));
}

static void end(struct report *report, enum hprof_status worst)
{
    const struct concise *concise = report->state;

    (void)worst;
    if (concise->tally.files > 1)
        print_tally(report, &concise->tally);
}

const struct report_writer report_concise = {state_size, begin, file, finding, file_end, end};

/* ---- The verdicts alone ------------------------------------------------------------------------------------------ */

static size_t verdict_size(const struct report *report)
{
    (void)report;
    return sizeof(struct tally);
}

static void verdict_file(struct report *report)
{
    tally_add(report->state, &report->summary);
    print_unopened(report);
}

static void no_finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    (void)report;
    (void)rule;
    (void)f;
}

static void verdict_end(struct report *report, double seconds)
{
    (void)seconds;
    if (report->opened)
        print_closing_line(report, true, true);
}

/* The parts of a dump are files of the directory, too: what they are is said. */
static void verdict_end_of_many(struct report *report, double seconds)
{
    verdict_end(report, seconds);
    if (report->opened && (report->parts.numbers != 0 || report->summary.is_part))
        print_cause(report);
}

static void end_verdicts(struct report *report, enum hprof_status worst)
{
    (void)report;
    (void)worst;
}

static void end_many(struct report *report, enum hprof_status worst)
{
    (void)worst;
    print_tally(report, report->state);
}

const struct report_writer report_verdict = {verdict_size, begin, verdict_file, no_finding, verdict_end, end_verdicts};
const struct report_writer report_many = {verdict_size, begin, verdict_file, no_finding, verdict_end_of_many, end_many};
