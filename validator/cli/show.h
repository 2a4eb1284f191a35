/* --show: the records around an offset, for people. */
#ifndef HPROF_CLI_SHOW_H
#define HPROF_CLI_SHOW_H

#include "options.h"

/* Shows them on the output. What fails is said on standard error. */
enum hprof_status show_file(const struct cli_options *options);

#endif
