/* See runs.h. */
#include "runs.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "content/parallel.h"
#include "items.h"
#include "put_off.h"

/* A clone must not be made while another thread makes one of the same reader. False if there is no memory. */
static bool make_readers(struct runs_ahead *a, struct hprof_reader *made[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        if (made[side] == NULL && hprof_clone(a->diff->sides[side].reader, &made[side]) != HPROF_VALID)
            return false;
    return true;
}

static bool make_thread(struct runs_ahead *a, unsigned thread)
{
    a->threads[thread].places.key = a->key;
    return make_readers(a, a->threads[thread].readers);
}

/* The next item that is compared, if it is a run. */
static bool next_run(struct hprof_reader *reader, struct hprof_item *run, struct hprof_counted *counted)
{
    int result;

    hprof_counted_init(counted);
    hprof_item_init(run);
    while ((result = hprof_next_counted(reader, run, counted)) == 1 && holds_heap(run))
        ;
    return result == 1 && run->kind == HPROF_ITEM_OBJECTS;
}

static void find_pairs(struct runs_ahead *a, const struct hprof_item runs[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        if (hprof_seek(a->ahead[side], &runs[side]) != 1)
            return;
    while (a->count < RUNS_AHEAD) {
        struct run_pair *pair = &a->pairs[a->count];

        for (unsigned side = 0; side < SIDES; side++)
            if (!next_run(a->ahead[side], &pair->runs[side], &pair->counted[side]))
                return;
        if (!runs_are_alike(pair->runs, pair->counted))
            return;
        a->count++;
    }
}

static void compare_pair(struct run_thread *thread, struct run_pair *pair)
{
    pair->answer = RUNS_UNKNOWN;
    for (unsigned side = 0; side < SIDES; side++) {
        const uint64_t size = pair->runs[side].size;

        if (hprof_seek(thread->readers[side], &pair->runs[side]) != 1 ||
            !next_run(thread->readers[side], &pair->runs[side], &pair->counted[side]) || pair->runs[side].size != size)
            return;
    }
    compare_in_order(thread->readers, pair, &thread->places);
}

struct sharing {
    struct runs_ahead *ahead;
    atomic_size_t next;
};

static void compare_pairs(void *context, size_t thread)
{
    struct sharing *sharing = context;
    struct runs_ahead *a = sharing->ahead;
    size_t i;

    while ((i = atomic_fetch_add(&sharing->next, 1)) < a->count)
        compare_pair(&a->threads[thread], &a->pairs[i]);
}

static void compare_ahead(struct runs_ahead *a, const struct hprof_item runs[SIDES])
{
    struct sharing sharing = {.ahead = a};
    unsigned threads = 0;

    a->next = a->count = 0;
    /* Compressed dumps are not sought in: their bytes come as fast as they are inflated, in their order. */
    if (a->jobs < 2 || a->diff->sides[0].header.compressed || a->diff->sides[1].header.compressed || !make_readers(a, a->ahead))
        return;
    find_pairs(a, runs);
    while (threads < RUN_THREADS && threads < a->jobs && threads < a->count && make_thread(a, threads))
        threads++;
    if (threads == 0)
        a->count = 0;
    parallel(threads, threads, compare_pairs, &sharing);
}

const struct run_pair *compare_runs(struct runs_ahead *a, const struct hprof_item runs[SIDES],
                                    const struct hprof_counted counted[SIDES])
{
    struct hprof_reader *const readers[SIDES] = {a->diff->sides[0].reader, a->diff->sides[1].reader};

    while (a->next < a->count && a->pairs[a->next].runs[0].offset < runs[0].offset)
        a->next++;
    if (a->next == a->count)
        compare_ahead(a, runs);
    if (a->next < a->count && a->pairs[a->next].runs[0].offset == runs[0].offset &&
        a->pairs[a->next].runs[1].offset == runs[1].offset)
        return &a->pairs[a->next++];
    for (unsigned side = 0; side < SIDES; side++) {
        a->other.runs[side] = runs[side];
        a->other.counted[side] = counted[side];
    }
    a->threads[0].places.key = a->key;
    compare_in_order(readers, &a->other, &a->threads[0].places);
    return &a->other;
}

const struct run_pair *compare_two_runs(struct runs_ahead *a, const struct hprof_item runs[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        a->other.runs[side] = runs[side];
    a->other.answer = RUNS_UNKNOWN;
    if (make_thread(a, 0))
        compare_pair(&a->threads[0], &a->other);
    return &a->other;
}

void runs_ahead_free(struct runs_ahead *a)
{
    for (size_t i = 0; i < RUNS_AHEAD; i++)
        free(a->pairs[i].changed);
    free(a->other.changed);
    for (unsigned side = 0; side < SIDES; side++)
        hprof_close(a->ahead[side]);
    for (unsigned thread = 0; thread < RUN_THREADS; thread++) {
        for (unsigned side = 0; side < SIDES; side++)
            hprof_close(a->threads[thread].readers[side]);
        free(a->threads[thread].places.slots);
    }
}
