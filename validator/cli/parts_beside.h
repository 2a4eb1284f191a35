/* Parts of a dump beside it: a VM that is killed while several threads dump leaves FILE, FILE.p0, FILE.p1 and so on. */
#ifndef HPROF_CLI_PARTS_BESIDE_H
#define HPROF_CLI_PARTS_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "hprof/hprof.h"

/* Writes a sentence about the parts beside a file, by what its summary says of it. False if there are none. */
bool describe_parts_beside(const char *file, const struct hprof_summary *summary, char *to, size_t size);
/* Whether nothing is wrong but that the end is missing: with parts beside it, the dump is incomplete. */
bool ends_early(const struct hprof_summary *summary);

#endif
