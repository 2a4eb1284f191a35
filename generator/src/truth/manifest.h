/* Writes the truth about a dump as JSON (manifest.schema.json). It has no time and no path, so the same options give the same
 * bytes. */
#ifndef HPROF_GEN_MANIFEST_H
#define HPROF_GEN_MANIFEST_H

#include <stdio.h>

#include "generate.h"

struct manifest_option {
    const char *option, *value; /* as given on the command line */
};

/* `file` is the name of the dump without its folders, or NULL. Errors are those of `out`. */
void manifest_write(FILE *out, const char *file, uint64_t seed, const struct generate_request *request,
                    const struct generated *generated, const struct manifest_option *options, size_t option_count);

#endif
