/* Reads both dumps in step. Runs of objects that the check counted are compared as a whole: if their bytes are the same, so are
 * their objects; if not, they are read one by one. Two items with the same ID are compared byte by byte. Where the order differs,
 * an item waits in a table, by its ID and a digest, until the other dump has it, so that memory depends on how far the order
 * differs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diff.h"
#include "items.h"
#include "kept.h"
#include "put_off.h"
#include "run_objects.h"
#include "runs.h"
#include "table.h"

enum { CHUNK = 1 << 20 };

struct joining {
    struct diff *diff;
    struct run_objects runs[SIDES]; /* whose objects are read one by one */
    struct runs_ahead ahead;
    struct put_off put_off;
    bool is_at_rest; /* both dumps were read, and what is left are the runs that were put off */
    struct table waiting;
    struct entry digested[SIDES]; /* of the item of the side, */
    bool is_digested[SIDES];      /* if it had to be digested: while it is looked at several times, it is read once */
    struct kept kept;
    uint64_t seed;      /* of digests */
    bool defines_twice; /* a dump has two objects or two classes of the same ID */
    bool out_of_memory, has_failed;
};

/* ---- Items ------------------------------------------------------------------------------------------------------- */

static bool fail(struct joining *j, unsigned side)
{
    snprintf(j->diff->failure, sizeof j->diff->failure, "%s", hprof_failure(j->diff->sides[side].reader));
    j->diff->failed_side = side;
    j->has_failed = true;
    return false;
}

static bool ran_out_of_memory(const struct joining *j)
{
    return j->out_of_memory || j->kept.out_of_memory;
}

/* Up to CHUNK bytes of an item from a byte on, which is not its last: of the last item of the side. NULL if that failed. */
static const uint8_t *bytes_of(struct joining *j, unsigned side, const struct hprof_item *item, uint64_t from, size_t *size)
{
    struct run_objects *run = &j->runs[side];
    const uint64_t left = compared_to(item) - from;
    const uint8_t *bytes = NULL;

    *size = (size_t)(left < CHUNK ? left : CHUNK);
    if (run->end != 0)
        bytes = run_objects_see(run, item->offset - run->offset + from, *size);
    else if (hprof_bytes(j->diff->sides[side].reader, from, *size, &bytes) < (int64_t)*size)
        bytes = NULL;
    if (bytes == NULL)
        fail(j, side);
    return bytes;
}

/* The next object of a run. */
static bool next_object(struct joining *j, unsigned side, struct hprof_item *item)
{
    return run_objects_next(&j->runs[side], item) || fail(j, side);
}

static bool take_apart(struct joining *j, unsigned side, struct hprof_item *item);

/* The first object of the next run of a side that was put off. False at the end, or if it failed. */
static bool next_put_off(struct joining *j, unsigned side, struct hprof_item *item, struct hprof_counted *counted)
{
    struct hprof_reader *reader = j->diff->sides[side].reader;
    const struct hprof_item *run = put_off_next(&j->put_off, side);

    if (run == NULL)
        return false;
    if (hprof_seek(reader, run) != 1 || hprof_next_counted(reader, item, counted) != 1)
        return fail(j, side);
    return take_apart(j, side, item);
}

/* The next item of a side that is compared, or a run of objects. False at the end, or if it failed. */
static bool next_item(struct joining *j, unsigned side, struct hprof_item *item, struct hprof_counted *counted)
{
    struct side *s = &j->diff->sides[side];
    int result;

    if (j->runs[side].at < j->runs[side].end)
        return next_object(j, side, item);
    j->runs[side].end = 0;
    if (j->is_at_rest)
        return next_put_off(j, side, item, counted);
    while ((result = hprof_next_counted(s->reader, item, counted)) == 1) {
        if (item->kind == HPROF_ITEM_DAMAGE)
            s->damage += item->size;
        else if (!holds_heap(item))
            return true;
    }
    return result < 0 ? fail(j, side) : false;
}

/* The first object of a run. */
static bool take_apart(struct joining *j, unsigned side, struct hprof_item *item)
{
    run_objects_begin(&j->runs[side], j->diff->sides[side].reader, item);
    return next_object(j, side, item);
}

/* ---- Digests ----------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15U;
    return h ^ h >> 31;
}

static uint64_t digest_of(struct joining *j, unsigned side, const struct hprof_item *item)
{
    uint64_t h = mix(j->seed, compared_to(item)), at = compared_from(item), word;
    const uint8_t *bytes;
    size_t size;

    while (at < compared_to(item) && (bytes = bytes_of(j, side, item, at, &size)) != NULL) {
        size_t i = 0;

        for (; i + sizeof word <= size; i += sizeof word) {
            memcpy(&word, bytes + i, sizeof word);
            h = mix(h, word);
        }
        word = 0;
        memcpy(&word, bytes + i, size - i);
        h = mix(h, word);
        at += size;
    }
    return mix(h, item->tag);
}

/* Whether the last items of both sides have the same bytes. */
static bool is_same(struct joining *j, const struct hprof_item items[SIDES])
{
    uint64_t at = compared_from(&items[0]);
    const uint8_t *bytes[SIDES];
    size_t size[SIDES];

    if (items[0].tag != items[1].tag || compared_to(&items[0]) != compared_to(&items[1]))
        return false;
    while (at < compared_to(&items[0])) {
        for (unsigned side = 0; side < SIDES; side++) {
            bytes[side] = bytes_of(j, side, &items[side], at, &size[side]);
            if (bytes[side] == NULL)
                return false;
        }
        size_t both = size[0] < size[1] ? size[0] : size[1];
        if (memcmp(bytes[0], bytes[1], both) != 0)
            return false;
        at += both;
    }
    return true;
}

/* ---- The join ---------------------------------------------------------------------------------------------------- */

static struct entry digested_entry_of(struct joining *j, unsigned side, const struct hprof_item *item)
{
    struct entry e = entry_of(&j->kept, side, item);

    e.digest = digest_of(j, side, item);
    if (!has_id((enum kind)e.kind))
        e.id = e.digest;
    return e;
}

/* Pairs the item with one of the other side that waits. */
static bool take_other(struct joining *j, const struct entry *e)
{
    if (!table_take(&j->waiting, e, NULL))
        return false;
    count_same(&j->kept, e);
    return true;
}

/* Pairs the item with one of the other side that waits, or lets it wait. */
static void look_for_other(struct joining *j, const struct entry *e)
{
    if (!take_other(j, e))
        j->out_of_memory |= !table_add(&j->waiting, e);
}

/* Two items with other keys. If the other side had one of them before, it is ahead, and only the side of that item goes on, so that
 * both are in step again. */
static void compare_out_of_step(struct joining *j, const struct hprof_item items[SIDES], bool is_done[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++) {
        if (!j->is_digested[side])
            j->digested[side] = digested_entry_of(j, side, &items[side]);
        j->is_digested[side] = true;
        is_done[side] = take_other(j, &j->digested[side]);
    }
    if (is_done[0] || is_done[1])
        return;
    for (unsigned side = 0; side < SIDES; side++) {
        look_for_other(j, &j->digested[side]);
        is_done[side] = true;
    }
}

/* What is left when all that is the same has gone: of several with the same key, the first of A and the first of B are a pair. */
static void count_rest(struct joining *j)
{
    const struct entry *entries = j->waiting.entries;
    const size_t count = j->waiting.count;

    table_sort(&j->waiting);
    for (size_t i = 0; i < count;) {
        size_t a = i, b, end;

        while (i < count && entries[i].side == 0 && compare_keys(&entries[i], &entries[a]) == 0)
            i++;
        b = i;
        while (i < count && entries[i].side == 1 && compare_keys(&entries[i], &entries[a]) == 0)
            i++;
        end = i;
        for (size_t first = b; a < first || b < end;) {
            if (a < first && b < end)
                count_changed(&j->kept, &entries[a++], &entries[b++]);
            else
                count_alone(&j->kept, a < first ? &entries[a++] : &entries[b++]);
        }
    }
}

/* What defines the same ID twice may do so in another order in the other dump, and waits if it differs. Of records, that is not
 * known before; objects rarely do. */
static void compare_in_step(struct joining *j, const struct hprof_item items[SIDES])
{
    if (is_same(j, items)) {
        struct entry e = {.kind = (uint8_t)kind_of(&items[0]), .class_id = class_of(&items[0])};

        count_same(&j->kept, &e);
    } else if (items[0].kind == HPROF_ITEM_RECORD || j->defines_twice) {
        for (unsigned side = 0; side < SIDES; side++) {
            struct entry e = digested_entry_of(j, side, &items[side]);

            look_for_other(j, &e);
        }
    } else if (!j->has_failed) {
        struct entry a = entry_of(&j->kept, 0, &items[0]), b = entry_of(&j->kept, 1, &items[1]);

        count_changed(&j->kept, &a, &b);
    }
}

/* Counts the objects of two runs, if what was found says enough of them. Objects that have changed are looked at one by one where
 * their differences are among the first, or where they may be paired with others of the same ID. */
static bool count_pair(struct joining *j, const struct run_pair *pair)
{
    const bool has_changed = pair->answer == RUNS_CHANGED;

    if (has_changed ? j->defines_twice || !has_all_before(&j->kept, pair->runs[0].offset) : pair->answer != RUNS_SAME)
        return false;
    count_run(&j->kept, &pair->counted[0], has_changed ? pair->changed : NULL);
    return true;
}

/* Counts the run of a side if the other side had the same objects elsewhere. */
static bool is_elsewhere(struct joining *j, unsigned side, const struct hprof_item *run, const struct hprof_counted *counted)
{
    struct hprof_item runs[SIDES] = {*run, *run};

    if (!put_off_take(&j->put_off, side, run, counted, &runs[!side]))
        return false;
    if (count_pair(j, compare_two_runs(&j->ahead, runs)))
        return true;
    j->out_of_memory |= !put_off_add(&j->put_off, !side, &runs[!side], counted); /* with what its own counts say, too */
    return false;
}

/* Runs of the same objects are counted, or taken apart. Another run may be one that the other side has elsewhere. True if a run was
 * passed: then its side goes on. */
static bool pass_runs(struct joining *j, struct hprof_item items[SIDES], const struct hprof_counted counted[SIDES],
                      bool has[SIDES], bool is_done[SIDES])
{
    bool is_run[SIDES];

    for (unsigned side = 0; side < SIDES; side++)
        is_run[side] = has[side] && items[side].kind == HPROF_ITEM_OBJECTS;
    if (!is_run[0] && !is_run[1])
        return false;
    if (is_run[0] && is_run[1] && runs_are_alike(items, counted)) {
        if (count_pair(j, compare_runs(&j->ahead, items, counted)))
            return true;
        for (unsigned side = 0; side < SIDES; side++)
            has[side] = take_apart(j, side, &items[side]);
        return false;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (is_run[side] && !is_elsewhere(j, side, &items[side], &counted[side]))
            j->out_of_memory |= !put_off_add(&j->put_off, side, &items[side], &counted[side]);
        is_done[side] = is_run[side];
    }
    return true;
}

/* After both dumps, the runs that were put off. */
static bool go_on(struct joining *j, bool has[SIDES])
{
    if (has[0] || has[1])
        return true;
    if (j->is_at_rest)
        return false;
    j->is_at_rest = true;
    has[0] = has[1] = true;
    return true;
}

static void join(struct joining *j)
{
    struct hprof_item items[SIDES];
    struct hprof_counted counted[SIDES];
    bool has[SIDES] = {true, true}, is_done[SIDES] = {true, true};

    for (unsigned side = 0; side < SIDES; side++) {
        hprof_item_init(&items[side]);
        hprof_counted_init(&counted[side]);
    }
    while (go_on(j, has) && !j->has_failed && !ran_out_of_memory(j)) {
        for (unsigned side = 0; side < SIDES; side++) {
            if (is_done[side]) {
                has[side] = has[side] && next_item(j, side, &items[side], &counted[side]);
                j->is_digested[side] = false;
            }
            is_done[side] = true;
        }
        if (pass_runs(j, items, counted, has, is_done))
            continue;
        if (j->has_failed)
            break;
        if (has[0] && has[1] && have_same_key(&items[0], &items[1])) {
            compare_in_step(j, items);
        } else if (has[0] && has[1]) {
            compare_out_of_step(j, items, is_done);
        } else if (has[0] || has[1]) {
            struct entry e = digested_entry_of(j, has[0] ? 0 : 1, &items[has[0] ? 0 : 1]);

            look_for_other(j, &e);
        }
    }
    if (!j->has_failed && !ran_out_of_memory(j))
        count_rest(j);
}

static uint64_t draw(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&now);
}

static bool defines_twice(const struct hprof_summary *summary)
{
    static const char *const rules[] = {"object-id-duplicate", "object-id-of-class", "class-dump-duplicate"};

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (summary->totals[hprof_rule_find(rules[i])] > 0)
            return true;
    return false;
}

bool diff_join(struct diff *diff, unsigned jobs)
{
    struct joining j = {.diff = diff,
                        .seed = draw(),
                        .waiting = {.key = draw()},
                        .put_off = {.table = {.key = draw()}},
                        .ahead = {.diff = diff, .jobs = jobs, .key = draw()},
                        .kept = {.tallies = {.key = draw()}}};

    j.defines_twice = defines_twice(&diff->sides[0].summary) || defines_twice(&diff->sides[1].summary);
    if (kept_begin(&j.kept, diff))
        join(&j);
    if (!ran_out_of_memory(&j) && !j.has_failed)
        kept_finish(&j.kept);
    if (ran_out_of_memory(&j))
        snprintf(diff->failure, sizeof diff->failure, "out of memory");
    kept_free(&j.kept);
    runs_ahead_free(&j.ahead);
    table_free(&j.waiting);
    put_off_free(&j.put_off);
    return !ran_out_of_memory(&j) && !j.has_failed;
}

bool diff_is_equal(const struct diff *diff)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (diff->kinds[kind].changed + diff->kinds[kind].only[0] + diff->kinds[kind].only[1] > 0)
            return false;
    return strcmp(diff->sides[0].header.version, diff->sides[1].header.version) == 0;
}

void diff_free(struct diff *diff)
{
    for (size_t i = 0; i < diff->class_count; i++)
        free(diff->classes[i].name);
    free(diff->classes);
    free(diff->differences);
}
