/* --baseline: an earlier report in JSON. If a rule has no more findings in a file than in that report, they are notes. */
#ifndef HPROF_CLI_BASELINE_H
#define HPROF_CLI_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hprof/hprof.h"

struct baseline {
    void *report; /* NULL if there is no baseline */
};

/* Returns HPROF_VALID, or prints what is wrong on standard error. baseline_free() must follow in any case. */
enum hprof_status baseline_load(struct baseline *baseline, const char *path);
void baseline_free(struct baseline *baseline);

enum baseline_kind {
    BASELINE_NONE,       /* there is no baseline */
    BASELINE_LACKS_FILE, /* it has several files, but not this one */
    BASELINE_HAS_FILE
};

/* The profile of the report about the file of this name, or about its only file; NULL if there is none, or if the file was not
 * checked to its end. */
const char *baseline_profile(const struct baseline *baseline, const char *file);

/* Whether every profile in the report is this one, or there is no baseline. Prints that it is not. */
bool baseline_has_profile(const struct baseline *baseline, const char *path, const char *profile);

/* Writes how many findings each rule had in the file of this name, or in the only file of the report; zeros if the report lacks the
 * file. Several threads may call this at once. */
enum baseline_kind baseline_of(const struct baseline *baseline, const char *file, uint64_t *numbers);

#endif
