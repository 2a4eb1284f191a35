/* Threads that do one task at a time together. */
#ifndef HPROF_WORKERS_H
#define HPROF_WORKERS_H

#include "base/memory.h"

struct workers;

/* Starts at most `count` threads; NULL if there are none. They handle no signals. */
struct workers *workers_start(struct memory *memory, unsigned count);
/* Ends them, when they are idle; NULL is none. */
void workers_stop(struct workers *w, struct memory *memory);

unsigned workers_count(const struct workers *w);

/* Lets each of them call `task` once, with its number from 1 on. workers_wait() returns when all have done so. */
void workers_begin(struct workers *w, void (*task)(void *context, unsigned number), void *context);
void workers_wait(struct workers *w);

#endif
