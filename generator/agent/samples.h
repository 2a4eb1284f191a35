/* cpu=samples: which traces the running threads are at. */
#ifndef AGENT_SAMPLES_H
#define AGENT_SAMPLES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "writer.h"

void samples_start(JNIEnv *env);
void samples_pause(bool paused);
void samples_forget(void);

/* Rows by falling counts; free the rows. */
struct sample_table samples_table(double cutoff, bool forget);

/* Sorts by falling weights and drops the rows whose share is below the cutoff. */
void sample_table_finish(struct sample_table *table, double cutoff);

#endif
