/* What a profile consists of, whenever it is written. */
#ifndef AGENT_DUMP_H
#define AGENT_DUMP_H

#include <jvmti.h>

/* What the options ask for. Samples, times and contentions begin again at 0, as in JDK 8. */
void dump_all(JNIEnv *env);

/* Single parts, on a command. */
void dump_heap(JNIEnv *env);
void dump_sites(unsigned flags, double cutoff);
void dump_summary(void);
void dump_traces(void);
void dump_samples(double cutoff);

#endif
