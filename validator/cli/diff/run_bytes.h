/* Whether two runs of objects have the same bytes. The runs that follow, while both dumps have some of the same size, are compared
 * too, at the same time, on several threads, each with readers of its own. */
#ifndef HPROF_CLI_DIFF_RUN_BYTES_H
#define HPROF_CLI_DIFF_RUN_BYTES_H

#include "diff.h"

enum { RUNS_AHEAD = 64, RUN_THREADS = 8 /* at most */ };

enum run_answer { RUNS_SAME, RUNS_DIFFER, RUNS_UNKNOWN /* a reader could not be made, or failed */ };

struct run_pair {
    struct hprof_item runs[SIDES]; /* of the same size */
    enum run_answer answer;
};

/* Set `diff` and `jobs`, the most threads, and zero the rest. */
struct run_bytes {
    struct diff *diff;
    unsigned jobs;
    struct run_pair pairs[RUNS_AHEAD];
    size_t next, count;                               /* of `pairs` */
    struct hprof_reader *ahead[SIDES];                /* these find the pairs, */
    struct hprof_reader *readers[RUN_THREADS][SIDES]; /* and these compare them; all are made when they are needed */
};

/* The runs have the same size. The readers of the sides are not used. */
enum run_answer compare_runs(struct run_bytes *b, const struct hprof_item runs[SIDES]);
/* The same, for two runs that are anywhere. */
enum run_answer compare_two_runs(struct run_bytes *b, const struct hprof_item runs[SIDES]);
void run_bytes_free(struct run_bytes *b);

#endif
