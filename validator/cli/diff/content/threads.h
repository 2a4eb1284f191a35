/* Names of threads, and texts of strings in the heap. */
#ifndef HPROF_CLI_DIFF_THREADS_H
#define HPROF_CLI_DIFF_THREADS_H

#include "graph.h"

/* Sorts the threads by serial number, one of each, and finds their names. False if memory ran out. */
bool threads_name(struct graph *graph);

/* NULL if there is none. */
const struct thread *find_thread(const struct graph *graph, uint32_t serial);

#endif
