/* Which options of hprof-gen go together. A combination that does not is reported. */
#ifndef HPROF_GEN_COMBINATIONS_H
#define HPROF_GEN_COMBINATIONS_H

#include "options.h"

bool check_together(struct cli_options *options);
/* --fit writes a profile, not a dump. */
bool check_fit(const struct cli_options *options);

#endif
