/* --each-fault DIR: a dump with each fault that it can have, and the manifest of each. */
#ifndef HPROF_GEN_EACH_FAULT_H
#define HPROF_GEN_EACH_FAULT_H

#include "options.h"

/* Returns an exit status. Writes a line for each fault to standard output: rule, variant, and the file's name, or `-` and why the
 * dump cannot have it. */
int write_each_fault(const struct cli_options *options);

#endif
