/* Parts of a dump beside it: a VM that is killed while several threads dump leaves FILE, FILE.p0, FILE.p1 and so on. */
#ifndef HPROF_CLI_PARTS_BESIDE_H
#define HPROF_CLI_PARTS_BESIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

enum { PARTS_SOUGHT = 64 };

struct parts_beside {
    uint64_t numbers; /* bit n: FILE.pn is there; 0 for no parts */
    bool is_empty;    /* all are without content */
    bool is_stale;    /* FILE is complete without them: they are of an earlier dump */
};

/* Of a name FILE.p0, FILE.p1 and so on, the length of FILE; 0 of any other. */
size_t part_stem(const char *name);

/* The parts beside a file, by what its summary says of it. */
struct parts_beside find_parts_beside(const char *file, const struct hprof_summary *summary);
/* Writes a sentence about the parts, if there are some. */
void describe_parts_beside(const struct parts_beside *parts, const char *file, char *to, size_t size);
/* Whether a file is a part of another one, by what its summary says of it; or may be one, because it is too short to say. */
bool may_be_part(const struct hprof_summary *summary);
/* Writes a sentence about such a file, if that other one is beside it; and the name of that one, if a repair of it may take the
 * part. False if there is none. */
bool describe_part(const char *part, const struct hprof_summary *summary, char whole[PATH_MAX], char *to, size_t size);
/* The name of a part without its folder. False if the name is too long. */
bool name_part(const char *file, unsigned part, char *to, size_t size);
/* Whether nothing is wrong but that the end is missing: with parts beside it, the dump is incomplete. */
bool ends_early(const struct hprof_summary *summary);

#endif
