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

/* Whether a file is a part, as its name and its first bytes say, of another one beside it. Writes the name of that one. */
bool belongs_to_file(const char *part, char whole[PATH_MAX]);

/* The name of a part without its folder. False if the name is too long. */
bool name_part(const char *file, unsigned part, char *to, size_t size);

/* The names of the parts from one number to another, of which nothing is there although later parts are. */
void name_gap(const char *file, unsigned from, unsigned to, char *text, size_t size);

/* What the files beside a dump say of it. */
struct beside {
    struct parts_beside parts;
    char whole[PATH_MAX]; /* the file of which it is a part; "" for none */
    char text[256];       /* the hint of the summary, if that is about them */
    bool is_allowed;      /* only they show that the dump is incomplete, and that is allowed */
};

/* Looks beside the file, unless it is none or standard input, and changes its summary by what is there. */
void look_beside(const char *file, struct hprof_summary *summary, bool allows_incomplete, struct beside *beside);

#endif
