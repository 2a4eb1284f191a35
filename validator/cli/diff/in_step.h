/* Two runs of objects, compared on one thread: first all of their bytes, then, where these differ, object by object. */
#ifndef HPROF_CLI_DIFF_IN_STEP_H
#define HPROF_CLI_DIFF_IN_STEP_H

#include "diff.h"

enum run_answer {
    RUNS_SAME,
    RUNS_CHANGED, /* they have objects of the same IDs in the same order, some of which differ */
    RUNS_DIFFER,
    RUNS_UNKNOWN /* a reader failed, or there is no memory */
};

/* Runs that are alike: see put_off.h. */
struct run_pair {
    struct hprof_item runs[SIDES];
    struct hprof_counted counted[SIDES];
    enum run_answer answer;
    uint32_t *changed; /* RUNS_CHANGED: for each class of counted[0], how many of its objects differ from those of B */
    size_t capacity;   /* of `changed` */
};

/* Where each class of a run is among those that were counted: by tag and ID, or type. All zero except the key, which is drawn. */
struct class_places {
    uint64_t key;
    uint32_t *slots; /* from 1; 0 for none */
    size_t capacity; /* a power of two */
};

/* The runs are the last items of the readers. Sets the answer. */
void compare_in_order(struct hprof_reader *const readers[SIDES], struct run_pair *pair, struct class_places *places);

#endif
