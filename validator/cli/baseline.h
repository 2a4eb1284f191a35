/* --baseline: an earlier report in JSON. If a rule has no more findings in a file than in that report, they are notes. */
#ifndef HPROF_CLI_BASELINE_H
#define HPROF_CLI_BASELINE_H

#include <stdint.h>

#include "hprof/hprof.h"

struct baseline {
    void *report;      /* NULL if there is no baseline */
    uint64_t *numbers; /* the result of baseline_of() */
};

/* Returns HPROF_VALID, or prints what is wrong on standard error. baseline_free() must follow in any case. */
enum hprof_status baseline_load(struct baseline *baseline, const char *path);
void baseline_free(struct baseline *baseline);

/* How many findings each rule had in the file of this name, or in the only file of the report; zeros if the report lacks the file;
 * NULL if there is no baseline. */
const uint64_t *baseline_of(struct baseline *baseline, const char *file);

#endif
