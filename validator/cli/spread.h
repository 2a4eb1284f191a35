/* Checks several files at once, each in one thread, and reports the results in the order of the files. */
#ifndef HPROF_CLI_SPREAD_H
#define HPROF_CLI_SPREAD_H

#include "baseline.h"
#include "hprof/hprof.h"

/* The result for a file, kept until all earlier files are reported. */
struct spread_result {
    enum hprof_status status;
    const uint64_t *baseline; /* of this file, as in hprof_options */
    enum baseline_kind baseline_kind;
    bool is_opened;
    const char *failure;           /* why there is no summary, or NULL */
    struct hprof_summary *summary; /* or NULL */
    struct hprof_finding *findings;
    size_t finding_count;
    double seconds;
};

struct spread {
    const struct hprof_options *library; /* its callbacks are not called */
    char **files;
    int file_count;
    unsigned jobs;
    const struct baseline *baseline;
    const char *stdin_name; /* NULL if options give none */
    bool wants_findings;
    int (*open)(const char *file, const char **failure);
    bool (*report)(void *context, const char *file, const struct spread_result *result); /* false to stop */
    void *context;
};

/* False if memory or threads ran out before the first file: then nothing was reported. */
bool spread_files(const struct spread *spread);

#endif
