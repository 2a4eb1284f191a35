/* Makes a dump smaller as long as the command ends in the same way.
 *
 * Each stage has a plan of edits. Runs of adjacent edits are tried from the end of the dump on: first all, then each half of what
 * is left, and so on down to each single edit. Stages are repeated until none of them finds anything. What is left then is
 * 1-minimal: without any one of its parts the command ends in another way. */
#ifndef HPROF_REDUCE_REDUCTION_H
#define HPROF_REDUCE_REDUCTION_H

#include <signal.h>

#include "candidate.h"
#include "journal.h"

enum { MOST_JOBS = 64 };

enum reduction_end {
    REDUCTION_MINIMAL,
    REDUCTION_STOPPED,     /* after most_runs */
    REDUCTION_INTERRUPTED, /* by a signal */
    REDUCTION_FAILED       /* `failure` says why */
};

struct reduction {
    struct command command;
    const char *out;
    unsigned jobs;
    uint64_t most_runs; /* 0 for no limit */
    bool keep_valid;
    void (*on_stage)(void *context, const char *stage, uint64_t from, uint64_t to, uint64_t runs);
    void *context;
    struct outcome wanted;
    struct journal journal;
    struct failed failed;
    uint64_t runs, written, size; /* commands run, bytes of candidates written, bytes of the smallest dump */
    char failure[256];
    const volatile sig_atomic_t *interrupted;
};

/* Runs the command once. False if it cannot be run: `failure` says why. */
bool reduction_try(struct reduction *r, const char *path, struct outcome *outcome);
/* The name of the candidate that a job works on: to be freed. */
char *reduction_candidate(const struct reduction *r, unsigned job);
bool is_valid_dump(const char *path);

/* Reduces the dump at `base`, which becomes r->out with the first success. */
enum reduction_end reduction_run(struct reduction *r, const char *base);

#endif
