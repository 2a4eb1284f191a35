/* Work in parts that do not depend on each other, on several threads. */
#ifndef HPROF_CLI_DIFF_PARALLEL_H
#define HPROF_CLI_DIFF_PARALLEL_H

#include <stddef.h>

enum { THREADS_MOST = 64 };

/* Calls `work` for the parts 0 to count - 1, on at most `jobs` and THREADS_MOST threads, and returns when all are done. */
void parallel(unsigned jobs, size_t count, void (*work)(void *context, size_t part), void *context);

#endif
