/* --format github: workflow commands, which GitHub shows as annotations: one for each rule, because GitHub shows only ten of a
 * kind, and one for the verdict. Every line must be such a command: the runner takes any other line with "##[" for a command
 * too, and names in a dump may contain that. */
#include <inttypes.h>
#include <string.h>

#include "catalog.h"
#include "numbers.h"
#include "printable.h"
#include "report_rules.h"

static size_t state_size(const struct report *report)
{
    (void)report;
    return hprof_rule_count() * sizeof(struct rule_row);
}

static void begin(struct report *report)
{
    (void)report;
}

/* Escapes as the runner decodes; in a property, ':' and ',' are special too. */
static void write_escaped(FILE *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (strchr(special, *text) != NULL)
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            putc(*text, out);
    }
}

/* In pieces, because a name may have any length. */
static void write_file_name(FILE *out, const char *name)
{
    while (*name != '\0') {
        char piece[5] = "", safe[32];
        uint32_t c;
        size_t length = utf8_sequence(name, &c);
        length += length == 0;
        memcpy(piece, name, length);
        format_safely(safe, sizeof safe, piece);
        write_escaped(out, safe, "%\r\n:,");
        name += length;
    }
}

static void open_command(const struct report *report, enum hprof_severity severity, const char *title)
{
    FILE *out = report->out;

    fprintf(out, "::%s file=", severity == HPROF_NOTE ? "notice" : severity_name(severity));
    write_file_name(out, report->name);
    fputs(",title=", out);
    write_escaped(out, title, "%\r\n:,");
    fputs("::", out);
}

static void file(struct report *report)
{
    rules_clear(report->state);
}

static void finding(struct report *report, const struct hprof_rule *rule, const struct hprof_finding *f)
{
    (void)rule;
    rules_add(report, report->state, f);
}

static void write_rule(const struct report *report, size_t i)
{
    const struct rule_row *row = (const struct rule_row *)report->state + i;
    const struct hprof_rule *rule = hprof_rule_at(i);
    char text[RULE_TEXT_SIZE], title[96];

    snprintf(title, sizeof title, "%s %s", rule->id, rule->name);
    open_command(report, row->severity, title);
    write_escaped(report->out, rules_describe(report, report->state, i, text), "%\r\n");
    fputs(". ", report->out);
    write_escaped(report->out, row->path, "%\r\n");
    fputs(row->path[0] != '\0' ? ": " : "", report->out);
    write_escaped(report->out, row->detail, "%\r\n");
    putc('\n', report->out);
}

static void write_verdict(const struct report *report)
{
    const struct hprof_summary *s = &report->summary;
    char missing[MISSING_SIZE];
    FILE *out = report->out;

    open_command(report, s->status == HPROF_VALID ? HPROF_NOTE : HPROF_ERROR,
                 s->incomplete                ? "incomplete"
                 : s->status == HPROF_VALID   ? "valid"
                 : s->status == HPROF_INVALID ? "invalid"
                                              : "not checked to the end");
    if (s->failure[0] != '\0')
        write_escaped(out, s->failure, "%\r\n");
    else
        fprintf(out, "%" PRIu64 " error%s, %" PRIu64 " warning%s, %" PRIu64 " note%s", s->errors, plural(s->errors),
                s->warnings, plural(s->warnings), s->notes, plural(s->notes));
    if (s->incomplete)
        fprintf(out, "; %s", report_missing(s, missing));
    if (report_lacks_baseline(report))
        fputs("; this file is not in the baseline", out);
    if (s->hint != NULL) {
        fputs("; ", out);
        write_escaped(out, s->hint, "%\r\n");
    }
    putc('\n', out);
}

static void file_end(struct report *report, double seconds)
{
    const struct rule_row *rows = report->state;

    (void)seconds;
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (rows[i].found)
            write_rule(report, i);
    }
    write_verdict(report);
}

static void end(struct report *report, enum hprof_status worst)
{
    (void)report;
    (void)worst;
}

const struct report_writer report_github = {state_size, begin, file, finding, file_end, end};
