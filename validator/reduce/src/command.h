/* Runs COMMAND on a candidate, and says how it ended. */
#ifndef HPROF_REDUCE_COMMAND_H
#define HPROF_REDUCE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct command {
    char **words;      /* NULL at the end; each {} becomes the candidate's name */
    const char *match; /* must appear in the output; NULL for no such text */
    double timeout;    /* seconds; 0 for none */
};

enum ending { ENDED_EXIT, ENDED_SIGNAL, ENDED_TIMEOUT, ENDED_NOT_STARTED };

struct outcome {
    enum ending ending;
    int value; /* exit status, signal, or errno if it could not be started */
    bool matched;
};

/* A run that goes on. */
struct run {
    pid_t pid;
    int output; /* -1 once it has ended */
    double deadline;
    char *tail; /* the last bytes of the output, fewer than `match` has */
    size_t tail_size;
    bool is_over;
    struct outcome outcome;
};

/* False if there is no process or no descriptor to be had: errno says why. */
bool run_start(struct run *run, const struct command *command, const char *candidate);
/* Waits until one of the runs is over, at most about a tenth of a second. Runs that are over are left alone. */
void runs_wait(struct run *const *runs, size_t count, const struct command *command);
/* Ends a run, and all that it started. */
void run_stop(struct run *run);

bool same_outcome(const struct outcome *a, const struct outcome *b);
/* "exit status 1", "signal 11 (Segmentation fault)", "the timeout" */
const char *outcome_text(const struct outcome *outcome, char text[96]);

#endif
