/* The bar on standard error while a dump is read: how much, how fast, how long still. */
#ifndef HPROF_CLI_PROGRESS_H
#define HPROF_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "terminal.h"

struct progress {
    bool wanted;
    bool at_once;   /* also when the run is short */
    bool on_screen; /* there is a bar to be wiped off */
    const char *name;
    double began;      /* the file */
    double pass_began; /* the pass over it: the rate starts anew */
    double drawn;
    uint64_t pass_from; /* bytes when the pass was first heard of */
    uint64_t bytes;
};

/* Seconds of a clock that never steps. */
double monotonic_seconds(void);

void progress_init(struct progress *progress, enum when when);
void progress_begin(struct progress *progress, const char *name);
void progress_update(struct progress *progress, uint64_t bytes, uint64_t total);
/* Wipes the bar off; nothing if there is none. */
void progress_end(struct progress *progress);

#endif
