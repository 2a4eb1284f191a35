/* --format text: for people. */
#include <inttypes.h>
#include <string.h>

#include "catalog.h"
#include "messages.h"
#include "numbers.h"
#include "printable.h"
#include "report.h"

#define CLAUSE_COLUMN 110 /* where the clauses stand, if there is room */

struct text {
    unsigned files, by_status[5];
    char quirk[256];  /* the last one told: the same need not be told again and again */
    uint64_t shown[]; /* findings of the file so far, by rule */
};

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define GREEN "\033[1;32m"
#define YELLOW "\033[1;33m"
#define CYAN "\033[1;36m"

static void paint(const struct report *report, const char *color, const char *text)
{
    if (report->color)
        fprintf(report->out, "%s%s\033[0m", color, text);
    else
        fputs(text, report->out);
}

static const char *severity_color(enum hprof_severity severity)
{
    return severity == HPROF_ERROR ? RED : severity == HPROF_WARNING ? YELLOW : CYAN;
}

/* ---- The line about the file ------------------------------------------------------------------------------------- */

static void print_file_name(const struct report *report)
{
    if (report->color)
        fputs(BOLD, report->out);
    print_safely(report->out, display_name(report->file));
    if (report->color)
        fputs("\033[0m", report->out);
}

/* The civil date of a day since 1970-01-01, by counting in eras of 400 years that begin on the first of March. */
static void print_time(FILE *out, uint64_t milliseconds)
{
    uint64_t seconds = milliseconds / 1000, days = seconds / 86400, second = seconds % 86400;
    uint64_t shifted = days + 719468, era = shifted / 146097, day_of_era = shifted % 146097;
    uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint64_t month = (5 * day_of_year + 2) / 153, day = day_of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    uint64_t year = era * 400 + year_of_era + (month <= 2);
    fprintf(out, "%04" PRIu64 "-%02" PRIu64 "-%02" PRIu64 " %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " UTC", year, month, day,
            second / 3600, second / 60 % 60, second % 60);
}

static void print_header(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    FILE *out = report->out;
    char number[NUMBER_SIZE];

    print_file_name(report);
    if (s->version[0] != '\0')
        fprintf(out, ": JAVA PROFILE %s", s->version);
    else if (s->status == HPROF_VALID || s->status == HPROF_INVALID)
        fputs(": no header of an HPROF dump", out);
    else
        fputs(": no header was read", out);
    if (s->id_size != 0)
        fprintf(out, ", %" PRIu32 "-byte IDs", s->id_size);
    bool nothing_judged = s->bytes == 0 && !s->compressed;
    fprintf(out, ", %s", format_size(number, nothing_judged ? s->file_bytes : s->bytes));
    if (s->compressed)
        fprintf(out, " (gzip, %s)", format_size(number, s->file_bytes));
    if (s->timestamp != 0) {
        fputs(", ", out);
        print_time(out, s->timestamp);
    }
    if (s->producer[0] != '\0')
        fprintf(out, ", looks like %s", s->producer);
    if (s->profile != 0)
        fprintf(out, ", judged by profile %s", hprof_profile_at(s->profile)->name);
    putc('\n', out);
}

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

static void print_expected(const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    FILE *out = report->out;
    char related[NUMBER_SIZE] = "";
    size_t columns = 4;

    if (f->related_offset != HPROF_NO_OFFSET)
        snprintf(related, sizeof related, ", first at 0x%" PRIx64, f->related_offset);
    if (f->expected[0] != '\0') {
        fprintf(out, "    expected %s; found %s%s", f->expected, f->found, related);
        columns += 9 + text_columns(f->expected) + 8 + text_columns(f->found);
    } else {
        fprintf(out, "    %s%s", f->message, related);
        columns += text_columns(f->message);
    }
    columns += text_columns(related);
    fprintf(out, "%*sSPEC %s\n", columns + 2 < CLAUSE_COLUMN ? (int)(CLAUSE_COLUMN - columns) : 2, "", rule->clause);
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct text *text = report->state;
    const struct hprof_summary *s = &report->summary;
    FILE *out = report->out;

    paint(report, severity_color(f->severity), severity_name(f->severity));
    putc(' ', out);
    paint(report, BOLD, rule->id);
    fprintf(out, " %s", rule->name);
    if (f->offset != HPROF_NO_OFFSET)
        fprintf(out, " at 0x%" PRIx64 "%s", f->offset, strcmp(rule->family, "GZ") == 0 ? " of the compressed file" : "");
    fprintf(out, "%s%s\n", f->path[0] != '\0' ? ": " : "", f->path);
    print_expected(report, rule, f);
    if (f->quirk != NULL && strncmp(f->quirk, text->quirk, sizeof text->quirk - 1) != 0) {
        snprintf(text->quirk, sizeof text->quirk, "%s", f->quirk);
        fprintf(out, "    %s\n", f->quirk);
    }

    /* Behind the last one shown, how many there are. */
    text->shown[f->rule]++;
    if (text->shown[f->rule] == report_shown(report, f->rule) && s->totals[f->rule] > text->shown[f->rule]) {
        paint(report, severity_color(f->severity), severity_name(f->severity));
        putc(' ', out);
        paint(report, BOLD, rule->id);
        fprintf(out, " %s ... (%" PRIu64 " findings, %" PRIu64 " shown)\n", rule->name, s->totals[f->rule],
                text->shown[f->rule]);
    }
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static void print_findings_count(FILE *out, const struct hprof_summary *s)
{
    const char *before = ": ";
    if (s->errors > 0) {
        fprintf(out, "%s%" PRIu64 " error%s", before, s->errors, plural(s->errors));
        before = ", ";
    }
    if (s->warnings > 0) {
        fprintf(out, "%s%" PRIu64 " warning%s", before, s->warnings, plural(s->warnings));
        before = ", ";
    }
    if (s->notes > 0)
        fprintf(out, "%s%" PRIu64 " note%s", before, s->notes, plural(s->notes));
}

/* Also a fault of the compressed file: what it holds may be sound to its end, and yet not be all. */
static bool framing_is_sound(const struct hprof_summary *s)
{
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        if (s->totals[rule] > 0 && strcmp(hprof_rule_at(rule)->family, "GZ") == 0)
            return false;
    return s->sound_until >= s->bytes && s->bytes > 0;
}

static void print_verdict(const struct report *report, double seconds)
{
    const struct hprof_summary *s = &report->summary;
    FILE *out = report->out;
    char number[NUMBER_SIZE];
    uint64_t objects = s->instances + s->object_arrays + s->primitive_arrays;
    bool judged = s->status == HPROF_VALID || s->status == HPROF_INVALID;

    if (judged)
        paint(report, s->status == HPROF_VALID ? GREEN : RED, s->status == HPROF_VALID ? "valid" : "invalid");
    else
        paint(report, RED, "not judged to the end");
    print_findings_count(out, s);

    if (judged && framing_is_sound(s))
        fputs("; framing sound to the end", out);
    else
        fprintf(out, "; framing sound up to 0x%" PRIx64, s->sound_until);
    if (s->skipped > 0)
        fprintf(out, ", %s not judged", format_size(number, s->skipped));

    fprintf(out, "; %s object%s", format_count(number, objects), plural(objects));
    fprintf(out, ", %s reference%s", format_count(number, s->references), plural(s->references));
    fprintf(out, "; %s", format_seconds(number, seconds));
    if (seconds > 0 && s->bytes >= 1000000) /* less says nothing of speed */
        fprintf(out, ", %s", format_rate(number, s->bytes, seconds));
    putc('\n', out);
}

static void file_end(struct report *report, double seconds)
{
    const struct hprof_summary *s = &report->summary;
    if (!report->opened)
        return;
    if (s->hint != NULL) {
        paint(report, CYAN, "note");
        fprintf(report->out, ": %s\n", s->hint);
    }
    if (s->failure != NULL)
        fprintf(report->out, "%s\n", s->failure);
    print_verdict(report, seconds);
    if (s->accepted_by != NULL)
        fprintf(report->out, "every error is a known habit of %s: --profile %s accepts it\n", s->producer, s->accepted_by);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static size_t state_size(const struct report *report)
{
    (void)report;
    return sizeof(struct text) + hprof_rule_count() * sizeof(uint64_t);
}

static void begin(struct report *report)
{
    (void)report;
}

static void file(struct report *report)
{
    struct text *text = report->state;

    memset(text->shown, 0, hprof_rule_count() * sizeof *text->shown);
    text->quirk[0] = '\0';
    if (text->files++ > 0 && (report->opened || report->apart))
        putc('\n', report->out);
    text->by_status[report->summary.status]++;
    if (report->opened) {
        print_header(report);
    } else if (report->apart) {
        print_file_name(report);
        fprintf(report->out, ": %s\n", report->summary.failure);
    }
}

static void print_tally(const struct report *report, const struct text *text)
{
    static const char *const words[] = {[HPROF_VALID] = "valid",
                                        [HPROF_INVALID] = "invalid",
                                        [HPROF_USAGE] = "",
                                        [HPROF_IO] = "not readable",
                                        [HPROF_LIMIT] = "beyond a limit"};
    const char *before = ": ";
    fprintf(report->out, "\n%u files", text->files);
    for (size_t status = 0; status < sizeof words / sizeof words[0]; status++) {
        if (text->by_status[status] > 0) {
            fprintf(report->out, "%s%u %s", before, text->by_status[status], words[status]);
            before = ", ";
        }
    }
    putc('\n', report->out);
}

static void end(struct report *report, enum hprof_status worst)
{
    struct text *text = report->state;
    (void)worst;
    if (text->files > 1)
        print_tally(report, text);
}

const struct report_writer report_text = {state_size, begin, file, finding, file_end, end};
