/* --format full: each finding with its path, what was expected and found; the dump's header; how long it took. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "closing.h"
#include "numbers.h"
#include "outlook.h"
#include "sentence.h"
#include "shorten.h"
#include "text_style.h"
#include "wrap.h"

#define LINE_SIZE SENTENCE_SIZE

struct full {
    struct tally tally;
    struct gravest gravest;
    bool has_printed;
    char quirk[256];  /* the last one printed, which is not repeated */
    uint64_t shown[]; /* findings printed for the file, by rule */
};

static size_t state_size(const struct report *report)
{
    (void)report;
    return sizeof(struct full) + hprof_rule_count() * sizeof(uint64_t);
}

static void begin(struct report *report)
{
    (void)report;
}

/* ---- The line about the header ----------------------------------------------------------------------------------- */

/* The date is computed in eras of 400 years, whose years begin on the first of March. */
static void format_time(char *text, size_t size, uint64_t milliseconds)
{
    uint64_t seconds = milliseconds / 1000, days = seconds / 86400, second = seconds % 86400;
    uint64_t shifted = days + 719468, era = shifted / 146097, day_of_era = shifted % 146097;
    uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint64_t month = (5 * day_of_year + 2) / 153, day = day_of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    uint64_t year = era * 400 + year_of_era + (month <= 2);
    snprintf(text, size, "%04" PRIu64 "-%02" PRIu64 "-%02" PRIu64 " %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " UTC", year, month,
             day, second / 3600, second / 60 % 60, second % 60);
}

/* The profile, and how it was chosen. */
static void format_profile(const struct report *report, char *text, size_t size)
{
    const struct hprof_summary *s = &report->summary;
    const char *name = hprof_profile_at(s->profile)->name;
    bool automatic = strcmp(hprof_profile_at(report->profile)->name, "auto") == 0;

    snprintf(text, size, "profile %s%s", name,
             !automatic               ? ""
             : s->producer[0] != '\0' ? " (auto)"
                                      : " (auto: looks like no known producer)");
}

static void print_indented(const struct report *report, const char *text)
{
    char line[LINE_SIZE];

    snprintf(line, sizeof line, "%s", text);
    cut_words(line, LINE_COLUMNS - TEXT_INDENT);
    wrap(report->out, line, TEXT_INDENT, 0, report->width < LINE_COLUMNS ? report->width : LINE_COLUMNS);
}

static void print_header(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    char line[512], profile[96], time[64] = "";

    if (s->version[0] == '\0')
        return;
    if (s->timestamp != 0)
        format_time(time, sizeof time, s->timestamp);
    format_profile(report, profile, sizeof profile);
    snprintf(line, sizeof line, "JAVA PROFILE %s, %" PRIu32 "-byte IDs, %s%s%s%s%s", s->version, s->id_size, time,
             time[0] != '\0' ? ", " : "", s->producer[0] != '\0' ? "looks like " : "", s->producer,
             s->producer[0] != '\0' ? ", " : "");
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s", profile);
    size_t columns = print_file_name(report);
    putc(':', report->out);
    wrap_hanging(report->out, line, TEXT_INDENT, columns + 1, report->width);
}

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

static void file(struct report *report)
{
    struct full *full = report->state;

    memset(full->shown, 0, hprof_rule_count() * sizeof full->shown[0]);
    full->gravest = (struct gravest){.rule = NULL};
    full->quirk[0] = '\0';
    tally_add(&full->tally, &report->summary);
    if (full->has_printed && (report->opened || report->apart))
        putc('\n', report->out);
    full->has_printed |= report->opened || report->apart;
    if (report->opened) {
        print_header(report);
    } else if (report->apart) {
        print_file_name(report);
        fprintf(report->out, ": %s\n", report->summary.failure);
    }
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct full *full = report->state;
    uint64_t total = report->summary.totals[f->rule];
    char line[LINE_SIZE], detail[DETAIL_SIZE], number[NUMBER_SIZE];

    gravest_note(&full->gravest, report, rule, f);
    print_finding_line(report, f->severity, rule->id, f->offset, format_sentence(report, rule, f, line));
    if (f->path[0] != '\0')
        print_indented(report, f->path);
    snprintf(line, sizeof line, "%s (%s, SPEC %s)", report_detail(report, f, detail), rule->name, rule->clause);
    print_indented(report, line);
    if (f->quirk != NULL && strncmp(f->quirk, full->quirk, sizeof full->quirk - 1) != 0) {
        snprintf(full->quirk, sizeof full->quirk, "%s", f->quirk);
        print_indented(report, f->quirk);
    }
    full->shown[f->rule]++;
    if (full->shown[f->rule] == report_shown(report, f->rule) && total > full->shown[f->rule]) {
        snprintf(line, sizeof line, "and %s more", format_exact(number, total - full->shown[f->rule]));
        print_finding_line(report, f->severity, rule->id, HPROF_NO_OFFSET, line);
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* "  checked: well-formed up to 0x426bbf, 3.48 MB not checked; 99,476 references; 0.01 s, 501 MB/s" */
static void print_effort(const struct report *report, double seconds)
{
    const struct hprof_summary *s = &report->summary;
    char line[512], number[NUMBER_SIZE];
    size_t used;

    if (is_checked(s) && is_well_formed(s))
        used = (size_t)snprintf(line, sizeof line, "checked: well-formed to the end");
    else
        used = (size_t)snprintf(line, sizeof line, "checked: well-formed up to %s",
                                format_offset(number, s->sound_until, report->decimal));
    if (s->skipped > 0)
        used += (size_t)snprintf(line + used, sizeof line - used, ", %s not checked", format_size(number, s->skipped));
    used += (size_t)snprintf(line + used, sizeof line - used, "; %s reference%s", format_exact(number, s->references),
                             plural(s->references));
    used += (size_t)snprintf(line + used, sizeof line - used, "; %s", format_seconds(number, seconds));
    if (seconds > 0 && s->bytes >= 1000000) /* the rate of less is meaningless */
        snprintf(line + used, sizeof line - used, ", %s", format_rate(number, s->bytes, seconds));
    print_indented_line(report, line);
}

static void file_end(struct report *report, double seconds)
{
    const struct full *full = report->state;

    if (!report->opened)
        return;
    print_outlook(report, &full->gravest, true);
    if (report->summary.failure[0] != '\0' && report->apart)
        wrap_hanging(report->out, report->summary.failure, TEXT_INDENT, 0, report->width);
    print_effort(report, seconds);
    print_closing_line(report, false, true);
}

static void end(struct report *report, enum hprof_status worst)
{
    const struct full *full = report->state;

    (void)worst;
    if (full->tally.files > 1)
        print_tally(report, &full->tally);
}

const struct report_writer report_full = {state_size, begin, file, finding, file_end, end};
