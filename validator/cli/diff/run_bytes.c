/* See run_bytes.h. */
#include "run_bytes.h"

#include <stdatomic.h>
#include <string.h>

#include "content/parallel.h"

enum { CHUNK = 1 << 16 };

/* A clone must not be made while another thread makes one of the same reader. False if there is no memory. */
static bool make_readers(struct run_bytes *b, struct hprof_reader *made[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        if (made[side] == NULL && hprof_clone(b->diff->sides[side].reader, &made[side]) != HPROF_VALID)
            return false;
    return true;
}

/* The next item that is compared, if it is a run. */
static bool next_run(struct hprof_reader *reader, struct hprof_item *run)
{
    struct hprof_counted counted;
    int result;

    hprof_counted_init(&counted);
    hprof_item_init(run);
    while ((result = hprof_next_counted(reader, run, &counted)) == 1 && holds_heap(run))
        ;
    return result == 1 && run->kind == HPROF_ITEM_OBJECTS;
}

static void find_pairs(struct run_bytes *b, const struct hprof_item runs[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        if (hprof_seek(b->ahead[side], &runs[side]) != 1)
            return;
    while (b->count < RUNS_AHEAD) {
        struct run_pair *pair = &b->pairs[b->count];

        for (unsigned side = 0; side < SIDES; side++)
            if (!next_run(b->ahead[side], &pair->runs[side]))
                return;
        if (pair->runs[0].size != pair->runs[1].size)
            return;
        b->count++;
    }
}

static enum run_answer compare_pair(struct hprof_reader *own[SIDES], const struct run_pair *pair)
{
    struct hprof_item run;
    uint64_t at = 0;

    if (pair->runs[0].size != pair->runs[1].size) /* which a hash of it may not show */
        return RUNS_DIFFER;
    for (unsigned side = 0; side < SIDES; side++)
        if (hprof_seek(own[side], &pair->runs[side]) != 1 || !next_run(own[side], &run) || run.size != pair->runs[side].size)
            return RUNS_UNKNOWN;
    while (at < pair->runs[0].size) {
        const uint8_t *bytes[SIDES];
        size_t n = CHUNK;

        for (unsigned side = 0; side < SIDES; side++) {
            int64_t got = hprof_bytes(own[side], at, n, &bytes[side]);

            if (got <= 0)
                return RUNS_UNKNOWN;
            n = (size_t)got; /* not more than was asked for */
        }
        if (memcmp(bytes[0], bytes[1], n) != 0)
            return RUNS_DIFFER;
        at += n;
    }
    return RUNS_SAME;
}

struct sharing {
    struct run_bytes *b;
    atomic_size_t next;
};

static void compare_pairs(void *context, size_t thread)
{
    struct sharing *sharing = context;
    struct run_bytes *b = sharing->b;
    size_t i;

    while ((i = atomic_fetch_add(&sharing->next, 1)) < b->count)
        b->pairs[i].answer = compare_pair(b->readers[thread], &b->pairs[i]);
}

static void compare_ahead(struct run_bytes *b, const struct hprof_item runs[SIDES])
{
    struct sharing sharing = {.b = b};
    unsigned threads = 0;

    b->next = b->count = 0;
    if (!make_readers(b, b->ahead))
        return;
    find_pairs(b, runs);
    while (threads < RUN_THREADS && threads < b->jobs && threads < b->count && make_readers(b, b->readers[threads]))
        threads++;
    if (threads == 0)
        b->count = 0;
    parallel(threads, threads, compare_pairs, &sharing);
}

/* Compressed dumps are not sought in: their bytes come as fast as they are inflated, in their order. */
enum run_answer compare_runs(struct run_bytes *b, const struct hprof_item runs[SIDES])
{
    const struct run_pair *pair = &b->pairs[b->next];

    if (b->jobs < 2 || b->diff->sides[0].header.compressed || b->diff->sides[1].header.compressed)
        return RUNS_UNKNOWN;
    while (b->next < b->count && pair->runs[0].offset < runs[0].offset)
        pair = &b->pairs[++b->next];
    if (b->next == b->count) {
        compare_ahead(b, runs);
        pair = &b->pairs[0];
    }
    if (b->next == b->count || pair->runs[0].offset != runs[0].offset || pair->runs[1].offset != runs[1].offset)
        return RUNS_UNKNOWN;
    b->next++;
    return pair->answer;
}

enum run_answer compare_two_runs(struct run_bytes *b, const struct hprof_item runs[SIDES])
{
    struct run_pair pair = {.runs = {runs[0], runs[1]}};

    return make_readers(b, b->readers[0]) ? compare_pair(b->readers[0], &pair) : RUNS_UNKNOWN;
}

void run_bytes_free(struct run_bytes *b)
{
    for (unsigned side = 0; side < SIDES; side++) {
        hprof_close(b->ahead[side]);
        for (unsigned thread = 0; thread < RUN_THREADS; thread++)
            hprof_close(b->readers[thread][side]);
    }
}
