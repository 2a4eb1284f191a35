#include "closing.h"

#include <inttypes.h>
#include <string.h>

#include "catalog.h"
#include "numbers.h"
#include "text_style.h"
#include "wrap.h"

/* ---- What was counted -------------------------------------------------------------------------------------------- */

uint64_t count_objects(const struct hprof_summary *s)
{
    return s->instances + s->object_arrays + s->primitive_arrays;
}

/* ---- One file ---------------------------------------------------------------------------------------------------- */

/* A line that is being written; no file makes it longer than this. */
struct line {
    char text[768];
    size_t used;
};

static void add(struct line *line, const char *before, const char *text)
{
    int n = snprintf(line->text + line->used, sizeof line->text - line->used, "%s%s", before, text);
    size_t room = sizeof line->text - line->used - 1;
    line->used += (size_t)n < room ? (size_t)n : room;
}

static void add_count(struct line *line, const char *before, uint64_t count, const char *noun)
{
    char text[NUMBER_SIZE];

    add(line, before, format_counted(text, count, noun));
}

static const char *verdict_word(const struct hprof_summary *s)
{
    return !is_checked(s)             ? "not checked to the end"
           : s->incomplete            ? "incomplete"
           : s->status == HPROF_VALID ? "valid"
                                      : "INVALID";
}

/* ": REC-002, STR-003", the rules of which there are errors. */
static void add_broken_rules(struct line *line, const struct report *report)
{
    enum { MOST = 3 };
    const struct hprof_summary *s = &report->summary;
    size_t count = 0;

    for (size_t rule = 0; rule < hprof_rule_count() && count <= MOST; rule++) {
        if (s->totals[rule] <= s->quirk_notes[rule] || report_severity(report, rule) != HPROF_ERROR)
            continue;
        add(line, count ? ", " : ": ", count < MOST ? hprof_rule_at(rule)->id : "...");
        count++;
    }
}

/* A header in a damaged gzip member is not known to be right: it has no version, and breaks no rule. */
static const char *without_header(const struct hprof_summary *s)
{
    if (!is_checked(s))
        return "no header was read";
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        if (s->totals[rule] && strcmp(hprof_rule_at(rule)->family, "HDR") == 0)
            return "no header of an HPROF dump";
    if (s->totals[hprof_rule_find("GZ-007")])
        return "compressed twice";
    return s->compressed ? "the header is in a damaged gzip member" : "no header of an HPROF dump";
}

/* Without a valid header few bytes are read: the file may have more, and a stream has no size. */
static void add_size(struct line *line, const struct report *report)
{
    enum { ENOUGH = 1 << 16 }; /* what is read then */
    const struct hprof_summary *s = &report->summary;
    bool was_read = s->version[0] != '\0' && (s->id_size == 4 || s->id_size == 8);
    char number[NUMBER_SIZE];

    if (was_read || (report->is_stdin && s->bytes < ENOUGH))
        add(line, ", ", format_size(number, s->bytes));
    else if (!report->is_stdin && !s->compressed)
        add(line, ", ", format_size(number, s->file_bytes));
    if (s->compressed)
        add(line, ", gzip ", format_size(number, s->file_bytes));
}

static void add_facts(struct line *line, const struct report *report, bool has_counts)
{
    const struct hprof_summary *s = &report->summary;
    bool automatic = strcmp(hprof_profile_at(report->profile)->name, "auto") == 0, has_header = s->version[0] != '\0';

    add(line, " (", !has_header ? without_header(s) : s->producer[0] != '\0' ? s->producer : "unknown producer");
    if (!automatic)
        add(line, ", profile ", hprof_profile_at(s->profile)->name);
    add_size(line, report);
    if (has_header && has_counts) {
        add_count(line, ", ", count_objects(s), "object");
        add_count(line, ", ", count_roots(s), "root");
    }
    add(line, ")", "");
}

void print_closing_line(const struct report *report, bool names_rules, bool has_counts)
{
    const struct hprof_summary *s = &report->summary;
    const char *word = verdict_word(s);
    struct line line = {.used = 0};
    char missing[MISSING_SIZE];

    if (s->incomplete)
        add(&line, ", ", report_missing(s, missing));
    if (s->incomplete && s->status == HPROF_VALID)
        add(&line, ", which is allowed", "");
    if (s->errors > 0)
        add_count(&line, ", ", s->errors, "error");
    if (s->errors > 0 && names_rules)
        add_broken_rules(&line, report);
    if (s->warnings > 0)
        add_count(&line, ", ", s->warnings, "warning");
    if (report_lacks_baseline(report))
        add(&line, "; this file is not in the baseline", "");
    add_facts(&line, report, has_counts);

    size_t column = print_file_name(report) + 2 + strlen(word);
    fputs(": ", report->out);
    print_styled(report, s->incomplete ? STYLE_YELLOW : s->status == HPROF_VALID ? STYLE_GREEN : STYLE_RED, word);
    size_t head = strcspn(line.text, " "); /* the comma belongs to the word before it */
    fwrite(line.text, 1, head, report->out);
    wrap_hanging(report->out, line.text + head, TEXT_INDENT, column + head, report->width);
}

/* ---- All files --------------------------------------------------------------------------------------------------- */

void tally_add(struct tally *tally, const struct hprof_summary *s)
{
    tally->files++;
    if (s->status == HPROF_LIMIT)
        tally->limited++;
    else if (s->status == HPROF_IO)
        tally->unreadable++;
    else if (s->incomplete)
        tally->incomplete++;
    else if (s->status == HPROF_VALID)
        tally->valid++;
    else
        tally->invalid++;
}

void print_tally(const struct report *report, const struct tally *tally)
{
    const struct {
        unsigned count;
        const char *word;
    } kinds[] = {{tally->valid, "valid"},
                 {tally->incomplete, "incomplete"},
                 {tally->invalid, "invalid"},
                 {tally->unreadable, "not readable"},
                 {tally->limited, "beyond a limit"}};
    const char *before = ": ";

    fprintf(report->out, "\n%u file%s", tally->files, plural(tally->files));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].count > 0) {
            fprintf(report->out, "%s%u %s", before, kinds[i].count, kinds[i].word);
            before = ", ";
        }
    }
    putc('\n', report->out);
}
