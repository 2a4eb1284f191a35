/* --show: the records around an offset, for people. */
#ifndef HPROF_CLI_SHOW_H
#define HPROF_CLI_SHOW_H

#include "options.h"

/* Prints the records. If it fails, prints why on standard error. */
enum hprof_status show_file(const struct cli_options *options);

#endif
