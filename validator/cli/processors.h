/* How many processors this process may use. */
#ifndef HPROF_CLI_PROCESSORS_H
#define HPROF_CLI_PROCESSORS_H

/* At least 1: by affinity, and by the quotas of control groups. */
unsigned processor_count(void);

#endif
