/* The indented lines about a file: its known quirks, what can still be read, the likely cause, the next command. */
#ifndef HPROF_CLI_OUTLOOK_H
#define HPROF_CLI_OUTLOOK_H

#include "report.h"

/* The finding that the commands are about: the first of the gravest, rather one that is no known quirk. */
struct gravest {
    const struct hprof_rule *rule; /* NULL if there is no error and no warning */
    enum hprof_severity severity;
    bool is_quirk;
    uint64_t offset; /* for --show; HPROF_NO_OFFSET if it cannot be shown */
    bool can_repair;
};

void gravest_note(struct gravest *gravest, const struct report *report, const struct hprof_rule *rule,
                  const struct hprof_finding *finding);

/* Whether something of the dump is lost or was not checked, so that print_outlook() says what is readable. */
bool has_readable_line(const struct hprof_summary *summary);

/* Prints the usual cause of what was found, if it is known. */
void print_cause(const struct report *report);

/* `lists_quirks`: the report lists the findings that are known quirks. */
void print_outlook(const struct report *report, const struct gravest *gravest, bool lists_quirks);

#endif
