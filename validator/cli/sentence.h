/* A finding in one sentence: what is wrong, with the numbers. */
#ifndef HPROF_CLI_SENTENCE_H
#define HPROF_CLI_SENTENCE_H

#include "report.h"

#define SENTENCE_SIZE (2 * DETAIL_SIZE)
const char *format_sentence(const struct report *report, const struct hprof_rule *rule, const struct hprof_finding *finding,
                            char text[SENTENCE_SIZE]);

#endif
