/* What is kept of a comparison by ID: the counts by kind and class, and the first differences. */
#ifndef HPROF_CLI_DIFF_KEPT_H
#define HPROF_CLI_DIFF_KEPT_H

#include "diff.h"
#include "table.h"
#include "tallies.h"

/* Sub-records that can be sought by their offset in the same way. */
struct stretches {
    struct hprof_item *firsts;
    size_t count, capacity;
};

/* All zero except the key of the tallies, before kept_begin(). The counts and the differences go to the diff. */
struct kept {
    struct diff *diff;
    struct stretches stretches[SIDES];
    struct tallies tallies;
    size_t last; /* once no more differences are kept: the one with the highest offset */
    bool out_of_memory;
};

bool kept_begin(struct kept *kept, struct diff *diff);
/* The last item of a side, without a digest. */
struct entry entry_of(struct kept *kept, unsigned side, const struct hprof_item *item);

/* For the class of A, whichever side came last. */
void count_same(struct kept *kept, const struct entry *e);
void count_changed(struct kept *kept, const struct entry *a, const struct entry *b);
void count_alone(struct kept *kept, const struct entry *e);
/* Both have the same objects in the same order, and of each class this many have changed; NULL: none has. */
void count_run(struct kept *kept, const struct hprof_counted *counted, const uint32_t *changed);
/* Whether a difference with this offset in A, or a higher one, would not be kept. */
bool has_all_before(const struct kept *kept, uint64_t offset);

/* Gives classes and differences to the diff, in their order. */
void kept_finish(struct kept *kept);
void kept_free(struct kept *kept);

#endif
