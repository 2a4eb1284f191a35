/* The line that ends the report about a file: "cut.hprof: INVALID, 1 error (HotSpot 25, 4.00 MB)"; and the total of all files. */
#ifndef HPROF_CLI_CLOSING_H
#define HPROF_CLI_CLOSING_H

#include "report.h"

/* Files by what became of them. */
struct tally {
    unsigned files, valid, incomplete, invalid, unreadable, limited;
};

void tally_add(struct tally *tally, const struct hprof_summary *summary);
void print_tally(const struct report *report, const struct tally *tally);

/* With `names_rules`, the rules that are broken are named, because no line above does. With `has_counts`, the line has objects and
 * roots, because no line above has them. */
void print_closing_line(const struct report *report, bool names_rules, bool has_counts);

uint64_t count_objects(const struct hprof_summary *summary);

#endif
