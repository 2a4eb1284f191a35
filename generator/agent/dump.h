/* What a profile consists of, whenever it is written. */
#ifndef AGENT_DUMP_H
#define AGENT_DUMP_H

#include <jvmti.h>

void dump_all(JNIEnv *env); /* what the options ask for */

/* Single parts, on a command. */
void dump_heap(JNIEnv *env);
void dump_sites(unsigned flags, double cutoff);
void dump_summary(void);
void dump_traces(void);
void dump_samples(double cutoff);

#endif
