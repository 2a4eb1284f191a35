/* --fit: writes the profile of a dump, and prints what the profile reveals. */
#ifndef HPROF_GEN_FIT_FILE_H
#define HPROF_GEN_FIT_FILE_H

#include "options.h"

/* The exit status. */
int fit_file(const struct cli_options *options);

#endif
