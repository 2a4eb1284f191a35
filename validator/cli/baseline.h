/* --baseline: an earlier report in JSON. A rule that has no more findings in a file than it had then does not fail the build. */
#ifndef HPROF_CLI_BASELINE_H
#define HPROF_CLI_BASELINE_H

#include <stdint.h>

#include "hprof/hprof.h"

struct baseline {
    void *report;      /* NULL: no baseline */
    uint64_t *numbers; /* by rule, of the file that was asked for last */
};

/* HPROF_VALID; otherwise what is wrong has been said on standard error. baseline_free() must follow in any case. */
enum hprof_status baseline_load(struct baseline *baseline, const char *path);
void baseline_free(struct baseline *baseline);

/* How many findings each rule had in the file of this name, or in the only file of the report; zeros if the report does not have
 * the file; NULL if there is no baseline. */
const uint64_t *baseline_of(struct baseline *baseline, const char *file);

#endif
