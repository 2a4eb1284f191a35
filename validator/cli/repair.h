/* --repair: a valid copy of what can be read of a dump. */
#ifndef HPROF_CLI_REPAIR_H
#define HPROF_CLI_REPAIR_H

#include "options.h"

/* Writes the copy, and prints what was left out. If it fails, prints why on standard error, and there is no copy. */
enum hprof_status repair_file(const struct cli_options *options);

#endif
