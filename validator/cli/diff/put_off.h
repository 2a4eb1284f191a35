/* Runs of objects that the other dump did not have at their place. Its same run may follow: segments may be in another order. What
 * no such run is found for is compared object by object in the end. */
#ifndef HPROF_CLI_DIFF_PUT_OFF_H
#define HPROF_CLI_DIFF_PUT_OFF_H

#include "diff.h"
#include "table.h"

struct put_off {
    struct put_off_runs {
        struct hprof_item *runs; /* as they were added; those that were taken have no size */
        size_t count, capacity, next;
    } of[SIDES];
    struct table table; /* of runs that wait; its key is drawn */
};

/* Whether two runs have as many objects, with IDs between the same ones. */
bool runs_are_alike(const struct hprof_item runs[SIDES], const struct hprof_counted counted[SIDES]);

/* Keeps a run of a side; false if memory ran out. */
bool put_off_add(struct put_off *p, unsigned side, const struct hprof_item *run, const struct hprof_counted *counted);
/* Gives a run of the other side, which is then put off no more; false if there is none. By a hash it is alike and as long. */
bool put_off_take(struct put_off *p, unsigned side, const struct hprof_item *run, const struct hprof_counted *counted,
                  struct hprof_item *other);
/* The next run of a side that is put off; NULL if there is none left. */
const struct hprof_item *put_off_next(struct put_off *p, unsigned side);
void put_off_free(struct put_off *p);

#endif
