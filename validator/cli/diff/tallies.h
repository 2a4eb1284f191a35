/* Same and different objects by class. */
#ifndef HPROF_CLI_DIFF_TALLIES_H
#define HPROF_CLI_DIFF_TALLIES_H

#include "diff.h"
#include "table.h"

enum { PRIMITIVE_TYPES = 12 };

/* All zero except the key, which is drawn. */
struct tallies {
    struct by_class {
        struct counts *at; /* by the number of the class on this side */
        size_t capacity;
    } classes[SIDES];
    /* Classes that were not known when they were met, by their ID: a hash table. They may be defined later in the dump. */
    struct late_classes {
        struct late_class {
            uint64_t id;
            struct counts counts;
            bool is_used;
        } * at;
        size_t count, capacity; /* a power of two */
    } late[SIDES];
    struct counts arrays[PRIMITIVE_TYPES], unknown;
    uint64_t key;
    bool out_of_memory;
};

/* The counts that an entry belongs to, until the next call; NULL if it is no object, or if memory ran out. */
struct counts *counts_of_class(struct tallies *tallies, const struct diff *diff, unsigned side, const struct entry *entry);

/* After both dumps were read: gives the classes with differences to the diff; false if memory ran out. */
bool tallies_finish(struct tallies *tallies, struct diff *diff);
void tallies_free(struct tallies *tallies);

#endif
