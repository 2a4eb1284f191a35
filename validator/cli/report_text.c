/* Reports for people: --format text has a line for each rule, --format text-full one for each finding, --quiet only the verdict. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "messages.h"
#include "numbers.h"
#include "printable.h"
#include "report_rules.h"
#include "wrap.h"

#define INDENT 4
#define LINE_SIZE (DETAIL_SIZE + 256)

/* The finding that the last lines of the report are about: the first of the gravest, rather one that is no known quirk. */
struct gravest {
    const struct hprof_rule *rule; /* NULL if there is no finding */
    enum hprof_severity severity;
    bool is_quirk;
    const char *file;
    uint64_t offset; /* for --show; HPROF_NO_OFFSET if it cannot be shown */
    bool can_repair, is_header_damaged;
};

struct text {
    unsigned files, by_status[5];
    bool has_printed;
    char quirk[256]; /* the last one printed, which is not repeated */
    struct gravest gravest;
    uint64_t *shown;       /* text-full: findings printed for the file, by rule; follows this structure in memory */
    struct rule_row *rows; /* text: the rules of the file; follows this structure in memory */
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

static size_t print_file_name(const struct report *report)
{
    if (report->color)
        fputs(BOLD, report->out);
    size_t columns = print_safely(report->out, display_name(report->file));
    if (report->color)
        fputs("\033[0m", report->out);
    return columns;
}

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

/* What replaces the version. A header in a damaged gzip member is not known to be right: it has no version, and breaks no
 * rule. */
static const char *without_header(const struct hprof_summary *s)
{
    if (s->status != HPROF_VALID && s->status != HPROF_INVALID)
        return "no header was read";
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        if (s->totals[rule] && strcmp(hprof_rule_at(rule)->family, "HDR") == 0)
            return "no header of an HPROF dump";
    return s->compressed ? "the header is in a damaged gzip member" : "no header of an HPROF dump";
}

static void print_header(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    char line[512], number[NUMBER_SIZE], compressed[NUMBER_SIZE], profile[96], time[64] = "", ids[32] = "";
    bool nothing_checked = s->bytes == 0 && !s->compressed;

    if (s->id_size != 0)
        snprintf(ids, sizeof ids, ", %" PRIu32 "-byte IDs", s->id_size);
    if (s->timestamp != 0)
        format_time(time, sizeof time, s->timestamp);
    format_profile(report, profile, sizeof profile);
    snprintf(line, sizeof line, "%s%s%s, %s%s%s%s%s%s%s%s, %s", s->version[0] != '\0' ? "JAVA PROFILE " : without_header(s),
             s->version, ids, format_size(number, nothing_checked ? s->file_bytes : s->bytes), s->compressed ? " (gzip, " : "",
             s->compressed ? format_size(compressed, s->file_bytes) : "", s->compressed ? ")" : "", time[0] != '\0' ? ", " : "",
             time, s->producer[0] != '\0' ? ", looks like " : "", s->producer, profile);

    size_t columns = print_file_name(report);
    putc(':', report->out);
    wrap_hanging(report->out, line, INDENT, columns + 1, report->width);
}

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

/* Prints "warning CLS-004 class-id-reloaded" and the line. */
static void print_finding_line(const struct report *report, enum hprof_severity severity, const struct hprof_rule *rule,
                               const char *line)
{
    paint(report, severity_color(severity), severity_name(severity));
    putc(' ', report->out);
    paint(report, BOLD, rule->id);
    fprintf(report->out, " %s", rule->name);
    wrap_hanging(report->out, line, INDENT, strlen(severity_name(severity)) + strlen(rule->id) + strlen(rule->name) + 2,
                 report->width);
}

static bool has_no_header(const struct hprof_summary *s)
{
    return s->version[0] == '\0';
}

/* Whether --repair can make a valid copy without this error: the header is valid or in a damaged gzip member, which may hold it all
 * the same; no profile accepts the dump, and the error is not one because of --werror. */
static bool can_repair(const struct report *report, size_t rule)
{
    const struct hprof_summary *s = &report->summary;
    bool has_header = has_no_header(s) ? is_of_gzip(hprof_rule_at(rule)) : s->id_size == 4 || s->id_size == 8;

    return s->status == HPROF_INVALID && has_header && strcmp(hprof_rule_at(rule)->family, "HDR") != 0 &&
           s->accepted_by == NULL && report_severity(report, rule) == HPROF_ERROR;
}

/* Whether --show can show the offset of the finding. Standard input may be a pipe. */
static bool can_show(const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    return strcmp(report->file, "-") != 0 && !is_of_gzip(rule) && f->offset < report->summary.bytes;
}

static void note_gravest(const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct gravest *g = &((struct text *)report->state)->gravest;
    const struct hprof_summary *s = &report->summary;
    bool is_quirk = f->quirk != NULL || s->quirks[f->rule] == s->totals[f->rule];

    if (f->severity < g->severity || (f->severity == g->severity && g->is_quirk <= is_quirk))
        return;
    *g = (struct gravest){.rule = rule,
                          .severity = f->severity,
                          .is_quirk = is_quirk,
                          .file = report->file,
                          .offset = can_show(report, rule, f) ? f->offset : HPROF_NO_OFFSET,
                          .can_repair = f->severity == HPROF_ERROR && can_repair(report, f->rule),
                          .is_header_damaged = has_no_header(s)};
}

static void finding_in_full(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct text *text = report->state;
    const struct hprof_summary *s = &report->summary;
    char line[LINE_SIZE], detail[DETAIL_SIZE], place[PLACE_SIZE];

    report_place(report, rule, f->offset, place);
    snprintf(line, sizeof line, "%s%s%s", place, f->path[0] != '\0' && place[0] != '\0' ? ": " : "", f->path);
    print_finding_line(report, f->severity, rule, line);
    snprintf(line, sizeof line, "%s (SPEC %s)", report_detail(report, f, detail), rule->clause);
    wrap(report->out, line, INDENT, 0, report->width);
    if (f->quirk != NULL && strncmp(f->quirk, text->quirk, sizeof text->quirk - 1) != 0) {
        snprintf(text->quirk, sizeof text->quirk, "%s", f->quirk);
        wrap(report->out, f->quirk, INDENT, 0, report->width);
    }

    /* After the last finding that is printed, how many there are. */
    note_gravest(report, rule, f);
    text->shown[f->rule]++;
    if (text->shown[f->rule] == report_shown(report, f->rule) && s->totals[f->rule] > text->shown[f->rule]) {
        snprintf(line, sizeof line, "... (%" PRIu64 " findings, %" PRIu64 " shown)", s->totals[f->rule], text->shown[f->rule]);
        print_finding_line(report, f->severity, rule, line);
    }
}

static void finding_of_rule(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    struct text *text = report->state;

    note_gravest(report, rule, f);
    rules_add(report, text->rows, f);
}

static void no_finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    (void)report;
    (void)rule;
    (void)f;
}

/* Prints a line for each rule of a severity, and for an error one more about its first finding. */
static void print_rules(const struct report *report, const struct rule_row *rows, enum hprof_severity severity)
{
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        const struct rule_row *row = &rows[i];
        const struct hprof_rule *rule = hprof_rule_at(i);
        char line[LINE_SIZE];

        if (!row->found || row->severity != severity)
            continue;
        rules_describe(report, rows, i, line);
        print_finding_line(report, row->severity, rule, line);
        if (row->severity == HPROF_ERROR && strcmp(row->detail, rule->summary) != 0) {
            snprintf(line, sizeof line, "%s%s%s", row->path, row->path[0] != '\0' ? ": " : "", row->detail);
            wrap(report->out, line, INDENT, 0, report->width);
        }
    }
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

/* Writes " (REC-002, STR-003)": the rules of which there are errors. */
static size_t format_broken_rules(const struct report *report, char *text, size_t size)
{
    enum { MOST = 3 };
    const struct hprof_summary *s = &report->summary;
    size_t used = 0, count = 0;

    for (size_t rule = 0; rule < hprof_rule_count() && count <= MOST; rule++) {
        if (s->totals[rule] <= s->quirks[rule] || report_severity(report, rule) != HPROF_ERROR)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", count ? ", " : " (",
                                 count < MOST ? hprof_rule_at(rule)->id : "...");
        count++;
    }
    if (count)
        used += (size_t)snprintf(text + used, size - used, ")");
    return used;
}

static size_t format_findings(const struct report *report, bool with_rules, char *text, size_t size)
{
    const struct hprof_summary *s = &report->summary;
    const struct {
        uint64_t count;
        const char *name;
    } kinds[] = {{s->errors, "error"}, {s->warnings, "warning"}, {s->notes, "note"}};
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].count > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s%s", used == 0 ? ": " : ", ", kinds[i].count,
                                     kinds[i].name, plural(kinds[i].count));
        if (i == 0 && with_rules && s->errors > 0)
            used += format_broken_rules(report, text + used, size - used);
    }
    return used;
}

/* False also after a gzip fault: the inflated bytes may be well-formed, yet incomplete. */
static bool is_well_formed(const struct hprof_summary *s)
{
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        if (s->totals[rule] > 0 && is_of_gzip(hprof_rule_at(rule)))
            return false;
    return s->sound_until >= s->bytes && s->bytes > 0;
}

/* The line continues at `column`. Without findings above it, it names the rules that are broken. */
static void print_verdict(const struct report *report, size_t column, bool with_rules, double seconds)
{
    const struct hprof_summary *s = &report->summary;
    char line[512], number[NUMBER_SIZE], offset[NUMBER_SIZE];
    uint64_t objects = s->instances + s->object_arrays + s->primitive_arrays;
    bool checked = s->status == HPROF_VALID || s->status == HPROF_INVALID;
    const char *verdict = !checked ? "not checked to the end" : s->status == HPROF_VALID ? "valid" : "invalid";
    size_t used = format_findings(report, with_rules, line, sizeof line);

    if (report_lacks_baseline(report))
        used += (size_t)snprintf(line + used, sizeof line - used, "; this file is not in the baseline");
    if (checked && is_well_formed(s))
        used += (size_t)snprintf(line + used, sizeof line - used, "; well-formed to the end");
    else
        used += (size_t)snprintf(line + used, sizeof line - used, "; well-formed up to %s",
                                 format_offset(offset, s->sound_until, report->decimal));
    if (s->skipped > 0)
        used += (size_t)snprintf(line + used, sizeof line - used, ", %s not checked", format_size(number, s->skipped));
    used += (size_t)snprintf(line + used, sizeof line - used, "; %s object%s", format_count(number, objects), plural(objects));
    used += (size_t)snprintf(line + used, sizeof line - used, ", %s reference%s", format_count(number, s->references),
                             plural(s->references));
    used += (size_t)snprintf(line + used, sizeof line - used, "; %s", format_seconds(number, seconds));
    if (seconds > 0 && s->bytes >= 1000000) /* the rate of less is meaningless */
        snprintf(line + used, sizeof line - used, ", %s", format_rate(number, s->bytes, seconds));

    paint(report, s->status == HPROF_VALID ? GREEN : RED, verdict);
    fputc(line[0], report->out);
    wrap_hanging(report->out, line + 1, INDENT, column + strlen(verdict) + 1, report->width);
}

/* Says how many findings are known quirks of the producer. */
static void print_advice(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    char line[256];

    if (s->accepted_by != NULL)
        snprintf(line, sizeof line, "every error is a known quirk of %s: --profile %s accepts it", s->producer, s->accepted_by);
    else if (s->quirk_warnings > 0 && s->errors == 0 && s->quirk_warnings == s->warnings)
        snprintf(line, sizeof line, "every warning is a known quirk of %s: --profile %s makes it a note", s->producer,
                 hprof_profile_at(s->producer_profile)->name);
    else if (s->quirk_errors + s->quirk_warnings > 0)
        snprintf(line, sizeof line,
                 "%" PRIu64 " of %" PRIu64 " errors and warnings are known quirks of %s: --profile %s makes them notes",
                 s->quirk_errors + s->quirk_warnings, s->errors + s->warnings, s->producer,
                 hprof_profile_at(s->producer_profile)->name);
    else
        return;
    wrap_hanging(report->out, line, INDENT, 0, report->width);
}

static void file_end(struct report *report, double seconds)
{
    const struct text *text = report->state;
    const struct hprof_summary *s = &report->summary;

    if (!report->opened)
        return;
    for (int severity = HPROF_ERROR; text->rows != NULL && severity >= HPROF_NOTE; severity--)
        print_rules(report, text->rows, (enum hprof_severity)severity);
    if (s->hint != NULL) {
        paint(report, CYAN, "note");
        putc(':', report->out);
        wrap_hanging(report->out, s->hint, INDENT, 5, report->width);
    }
    if (s->failure != NULL && report->apart)
        wrap_hanging(report->out, s->failure, INDENT, 0, report->width);
    print_verdict(report, 0, false, seconds);
    print_advice(report);
}

static void only_verdict(struct report *report, double seconds)
{
    if (!report->opened)
        return;
    size_t columns = print_file_name(report);
    fputs(": ", report->out);
    print_verdict(report, columns + 2, true, seconds);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static size_t full_size(const struct report *report)
{
    (void)report;
    return sizeof(struct text) + hprof_rule_count() * sizeof(uint64_t);
}

static size_t summary_size(const struct report *report)
{
    (void)report;
    return sizeof(struct text) + hprof_rule_count() * sizeof(struct rule_row);
}

static size_t verdict_size(const struct report *report)
{
    (void)report;
    return sizeof(struct text);
}

static void begin_full(struct report *report)
{
    struct text *text = report->state;
    text->shown = (uint64_t *)(text + 1);
}

static void begin_summary(struct report *report)
{
    struct text *text = report->state;
    text->rows = (struct rule_row *)(text + 1);
}

static void begin_verdict(struct report *report)
{
    (void)report;
}

static void file(struct report *report)
{
    struct text *text = report->state;

    if (text->shown != NULL)
        memset(text->shown, 0, hprof_rule_count() * sizeof *text->shown);
    if (text->rows != NULL)
        rules_clear(text->rows);
    text->quirk[0] = '\0';
    text->files++;
    if (text->has_printed && (report->opened || report->apart))
        putc('\n', report->out);
    text->has_printed |= report->opened || report->apart;
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
    fprintf(report->out, "\n%u file%s", text->files, plural(text->files));
    for (size_t status = 0; status < sizeof words / sizeof words[0]; status++) {
        if (text->by_status[status] > 0) {
            fprintf(report->out, "%s%u %s", before, text->by_status[status], words[status]);
            before = ", ";
        }
    }
    putc('\n', report->out);
}

static void file_of_verdict(struct report *report)
{
    if (!report->opened && report->apart) {
        print_file_name(report);
        fprintf(report->out, ": %s\n", report->summary.failure);
    }
}

/* Prints "hprof-validate --show 0x7b7b81 cut.hprof shows its bytes". */
static void print_command(const struct report *report, const char *options, const char *file, const char *what)
{
    size_t columns = (size_t)fprintf(report->out, "%s %s ", program_name, options);

    columns += print_safely(report->out, file);
    wrap_hanging(report->out, what, INDENT, columns, report->width);
}

static void print_help_with_error(const struct report *report, const struct gravest *g)
{
    char options[64], offset[NUMBER_SIZE];

    if (g->offset != HPROF_NO_OFFSET) {
        snprintf(options, sizeof options, "--show %s", format_offset(offset, g->offset, report->decimal));
        print_command(report, options, g->file, "shows its bytes");
    }
    if (g->can_repair)
        print_command(report, "--repair OUT", g->file,
                      g->is_header_damaged ? "writes a valid copy of what can be read, if the header can"
                                           : "writes a valid copy of what can be read");
}

static void end(struct report *report, enum hprof_status worst)
{
    struct text *text = report->state;
    const struct gravest *g = &text->gravest;
    char line[256];

    (void)worst;
    if (text->files > 1)
        print_tally(report, text);
    if (g->rule == NULL)
        return;
    snprintf(line, sizeof line, "%s --explain %s explains a rule%s", program_name, g->rule->id,
             text->rows != NULL ? "; --verbose lists the findings" : "");
    wrap_hanging(report->out, line, INDENT, 0, report->width);
    if (g->severity == HPROF_ERROR)
        print_help_with_error(report, g);
}

/* --format text with several files: one line for each. */
static void file_of_many(struct report *report)
{
    struct text *text = report->state;

    text->files++;
    text->by_status[report->summary.status]++;
    file_of_verdict(report);
}

static void end_many(struct report *report, enum hprof_status worst)
{
    (void)worst;
    print_tally(report, report->state);
}

static void end_verdict(struct report *report, enum hprof_status worst)
{
    (void)report;
    (void)worst;
}

const struct report_writer report_summary = {summary_size, begin_summary, file, finding_of_rule, file_end, end};
const struct report_writer report_text = {full_size, begin_full, file, finding_in_full, file_end, end};
const struct report_writer report_many = {verdict_size, begin_verdict, file_of_many, no_finding, only_verdict, end_many};
const struct report_writer report_verdict = {verdict_size, begin_verdict, file_of_verdict,
                                             no_finding,   only_verdict,  end_verdict};
