/* --serve, which became a tool of its own after 0.3: it works as before, with a warning. */
#ifndef HPROF_GEN_OLD_SERVE_H
#define HPROF_GEN_OLD_SERVE_H

#include "options.h"

/* Makes a dump and becomes hprof-serve, which sends it. Returns an exit status if that fails. */
int old_serve(const struct cli_options *options);

#endif
