/* A finding in one sentence: what is wrong, with the numbers. */
#ifndef HPROF_CLI_SENTENCE_H
#define HPROF_CLI_SENTENCE_H

#include "report.h"

/* No line of a report for people is longer than this many columns, not counting the path of the file. */
#define LINE_COLUMNS 160

#define SENTENCE_SIZE (2 * DETAIL_SIZE)
const char *format_sentence(const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *finding,
                            char text[SENTENCE_SIZE]);

/* Shortens a text that is wider than this: the middle of its longest words gives way, which are names of classes; if
 * it has no long ones, its end. */
void cut_to_columns(char *text, size_t columns);

#endif
