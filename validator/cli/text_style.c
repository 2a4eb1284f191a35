#include "text_style.h"

#include <string.h>

#include "catalog.h"
#include "numbers.h"
#include "printable.h"
#include "sentence.h"
#include "shorten.h"
#include "wrap.h"

void print_styled(const struct report *report, const char *style, const char *text)
{
    if (report->color)
        fprintf(report->out, "%s%s\033[0m", style, text);
    else
        fputs(text, report->out);
}

size_t print_file_name(const struct report *report)
{
    if (report->color)
        fputs(STYLE_BOLD, report->out);
    size_t columns = print_safely(report->out, report->name);
    if (report->color)
        fputs("\033[0m", report->out);
    return columns;
}

void print_indented_line(const struct report *report, const char *text)
{
    putc(' ', report->out); /* and one more, which precedes each word */
    wrap_hanging(report->out, text, TEXT_INDENT, 1, report->width);
}

static const char *severity_style(enum hprof_severity severity)
{
    return severity == HPROF_ERROR ? STYLE_RED : severity == HPROF_WARNING ? STYLE_YELLOW : STYLE_CYAN;
}

void print_finding_line(const struct report *report, enum hprof_severity severity, const char *rule, uint64_t offset,
                        const char *text)
{
    char number[NUMBER_SIZE], after_file[NUMBER_SIZE + 8] = ": ", after_severity[32], line[SENTENCE_SIZE];
    const char *word = severity_name(severity);

    if (offset != HPROF_NO_OFFSET)
        snprintf(after_file, sizeof after_file, ":%s: ", format_offset(number, offset, report->decimal));
    snprintf(after_severity, sizeof after_severity, "[%s]:", rule);
    size_t before = strlen(after_file) + strlen(word) + strlen(after_severity) + 1;
    snprintf(line, sizeof line, "%s", text);
    cut_to_columns(line, LINE_COLUMNS - before);

    size_t column = print_file_name(report) + before - 1;
    fputs(after_file, report->out);
    print_styled(report, severity_style(severity), word);
    fputs(after_severity, report->out);
    wrap_hanging(report->out, line, TEXT_INDENT, column, report->width);
}
