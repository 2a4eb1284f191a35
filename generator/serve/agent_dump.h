/* Whether a dump can be served: it has what an agent of JDK 8 answers commands with. */
#ifndef HPROF_SERVE_AGENT_DUMP_H
#define HPROF_SERVE_AGENT_DUMP_H

#include <stdbool.h>

#include "hprof/hprof.h"

/* HPROF_VALID if so. Otherwise `failure` has a sentence why not. With `has_samples` the dump needs CPU_SAMPLES. */
enum hprof_status agent_dump_check(int fd, bool has_samples, char failure[HPROF_FAILURE_SIZE]);

#endif
