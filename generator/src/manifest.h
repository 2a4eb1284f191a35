/* The truth about a dump, as JSON: manifest.schema.json. No clock and no path: the same options give the same bytes. */
#ifndef HPROF_GEN_MANIFEST_H
#define HPROF_GEN_MANIFEST_H

#include <stdio.h>

#include "generate.h"

struct manifest_option {
    const char *option, *value; /* as given on the command line */
};

/* `file` is the dump's name without its folders, NULL for none. Whether all could be written, `out` knows. */
void manifest_write(FILE *out, const char *file, uint64_t seed, const struct generate_request *request,
                    const struct generated *generated, const struct manifest_option *options, size_t option_count);

#endif
