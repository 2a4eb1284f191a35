/* Several files checked at once, each by one thread, and their results told in the order of the files. */
#ifndef HPROF_CLI_SPREAD_H
#define HPROF_CLI_SPREAD_H

#include "hprof/hprof.h"

/* What became of a file, kept until its turn comes. */
struct spread_result {
    enum hprof_status status;
    bool is_opened;
    const char *failure;           /* why the library said nothing; NULL if it did */
    struct hprof_summary *summary; /* NULL if there is none */
    struct hprof_finding *findings;
    size_t finding_count;
    double seconds;
};

struct spread {
    const struct hprof_options *library; /* its callbacks are not called */
    char **files;
    int file_count;
    unsigned jobs;
    bool wants_findings;
    int (*open)(const char *file, const char **failure);
    bool (*tell)(void *context, const char *file, const struct spread_result *result); /* false: no more */
    void *context;
};

/* False when memory or threads ran out before the first file was begun: nothing was told. */
bool spread_files(const struct spread *spread);

#endif
