/* Starting a thread. */
#ifndef HPROF_THREAD_H
#define HPROF_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* The thread handles no signals: they go to the threads of the caller. False if there is no thread. */
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif
