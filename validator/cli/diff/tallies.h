/* Same and different objects by class. */
#ifndef HPROF_CLI_DIFF_TALLIES_H
#define HPROF_CLI_DIFF_TALLIES_H

#include "diff.h"
#include "table.h"

enum { PRIMITIVE_TYPES = 12 };

struct tallies {
    struct by_class {
        struct counts *at; /* by the number of the class on this side */
        size_t capacity;
    } classes[SIDES];
    struct counts arrays[PRIMITIVE_TYPES], unknown;
    bool out_of_memory;
};

/* The counts that an entry belongs to; NULL if it is no object, or if memory ran out. */
struct counts *counts_of_class(struct tallies *tallies, const struct diff *diff, unsigned side, const struct entry *entry);

/* Gives the classes with differences to the diff; false if memory ran out. */
bool tallies_finish(struct tallies *tallies, struct diff *diff);
void tallies_free(struct tallies *tallies);

#endif
