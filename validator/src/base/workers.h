/* Threads that work together on one task at a time. */
#ifndef HPROF_WORKERS_H
#define HPROF_WORKERS_H

#include "base/memory.h"

struct workers;

/* Starts at most `count` threads; NULL if there are none. They handle no signals: these go to the threads of the caller. */
struct workers *workers_start(struct memory *memory, unsigned count);
/* Ends the threads once they have finished the task, which a thread that has not begun it may leave out; NULL is allowed. */
void workers_stop(struct workers *w, struct memory *memory);

unsigned workers_count(const struct workers *w);

/* Lets each thread call `task` once, with its number, from 1 on. workers_wait() returns when all calls have. */
void workers_begin(struct workers *w, void (*task)(void *context, unsigned number), void *context);
void workers_wait(struct workers *w);

#endif
