/* What reports for people have in common: colours, names of files, and the line of a finding. */
#ifndef HPROF_CLI_TEXT_STYLE_H
#define HPROF_CLI_TEXT_STYLE_H

#include "report.h"

#define TEXT_INDENT 4

#define STYLE_BOLD "\033[1m"
#define STYLE_RED "\033[1;31m"
#define STYLE_GREEN "\033[1;32m"
#define STYLE_YELLOW "\033[1;33m"
#define STYLE_CYAN "\033[1;36m"

/* Prints the text, in this colour if the report has colours. */
void print_styled(const struct report *report, const char *style, const char *text);

/* Prints the name of the present file and returns its columns. */
size_t print_file_name(const struct report *report);

/* Prints a line about the present file, which is indented; if it is wrapped, the rest is indented more. */
void print_indented_line(const struct report *report, const char *text);

/* Prints "heap.hprof:0x39cd1f: error[REC-002]: " and a text, which is cut to LINE_COLUMNS and wrapped. Without an offset or a rule,
 * the line lacks them. */
void print_finding_line(const struct report *report, enum hprof_severity severity, const char *rule, uint64_t offset,
                        const char *text);

#endif
