/* Compares runs of objects that are alike: the pairs that follow, while both dumps have such, at the same time, on several threads,
 * each with readers of its own. */
#ifndef HPROF_CLI_DIFF_RUNS_H
#define HPROF_CLI_DIFF_RUNS_H

#include "in_step.h"

enum { RUNS_AHEAD = 64, RUN_THREADS = 8 /* at most */ };

struct run_thread {
    struct hprof_reader *readers[SIDES]; /* made when they are needed */
    struct class_places places;
};

/* Set `diff`, `jobs`, the most threads, and `key`, drawn, and zero the rest. */
struct runs_ahead {
    struct diff *diff;
    unsigned jobs;
    uint64_t key;
    struct run_pair pairs[RUNS_AHEAD];
    size_t next, count;                /* of `pairs` */
    struct hprof_reader *ahead[SIDES]; /* these find the pairs */
    struct run_thread threads[RUN_THREADS];
    struct run_pair other; /* one that was not looked at ahead */
};

/* The runs are the last items of the sides, and alike; their readers are used where no others can be. What was found is valid
 * until the next call. */
const struct run_pair *compare_runs(struct runs_ahead *ahead, const struct hprof_item runs[SIDES],
                                    const struct hprof_counted counted[SIDES]);
/* The same, for two runs that are anywhere; the readers of the sides are not used. */
const struct run_pair *compare_two_runs(struct runs_ahead *ahead, const struct hprof_item runs[SIDES]);
void runs_ahead_free(struct runs_ahead *ahead);

#endif
