/* Findings gathered by rule, for reports that have one entry for each rule. */
#ifndef HPROF_CLI_REPORT_RULES_H
#define HPROF_CLI_REPORT_RULES_H

#include "report.h"

struct rule_row {
    bool found;
    enum hprof_severity severity; /* the gravest; the other members describe the first finding of that severity */
    uint64_t offset;
    bool is_quirk; /* of the profile that was used */
    bool in_baseline;
    char path[512];
    char detail[1024]; /* report_detail() */
};

/* `rows` is by rule. */
void rules_clear(struct rule_row *rows);
void rules_add(const struct report *report, struct rule_row *rows, const struct hprof_finding *finding);

/* "104 findings, first at 0x1cb114; required: a class ID is loaded under one serial; a known quirk of hotspot (8 to 17, until
 * JDK-8281267)" */
#define RULE_TEXT_SIZE 1024
const char *rules_describe(const struct report *report, const struct rule_row *rows, size_t rule, char text[RULE_TEXT_SIZE]);

#endif
