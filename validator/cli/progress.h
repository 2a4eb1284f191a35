/* The progress bar on standard error: how much was read, how fast, and the time left. */
#ifndef HPROF_CLI_PROGRESS_H
#define HPROF_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "terminal.h"

struct progress {
    bool wanted;
    bool at_once;   /* without waiting for a second */
    bool on_screen; /* the bar must be erased */
    const char *name;
    double began;      /* reading the file */
    double pass_began; /* the present pass over the file, for its rate */
    double drawn;
    uint64_t pass_from; /* bytes at the first update of the pass */
    uint64_t bytes;
};

/* Seconds of a clock that is never set. */
double monotonic_seconds(void);

void progress_init(struct progress *progress, enum when when);
void progress_begin(struct progress *progress, const char *name);
void progress_update(struct progress *progress, uint64_t bytes, uint64_t total);
/* Erases the bar, if there is one. */
void progress_end(struct progress *progress);

#endif
