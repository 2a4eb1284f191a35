/* Reads both dumps in step. Runs of objects that the check counted are compared as a whole: if their bytes are the same, so are
 * their objects; if not, they are read one by one. Two items with the same ID are compared byte by byte. Where the order differs,
 * an item waits in a table, by its ID and a digest, until the other dump has it, so that memory depends on how far the order
 * differs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diff.h"
#include "put_off.h"
#include "run_bytes.h"
#include "table.h"
#include "tallies.h"

enum {
    TAG_UTF8 = 0x01,
    TAG_LOAD_CLASS = 0x02,
    TAG_FRAME = 0x04,
    TAG_TRACE = 0x05,
    TAG_HEAP_DUMP = 0x0c,
    TAG_HEAP_DUMP_SEGMENT = 0x1c,
    TAG_HEAP_DUMP_END = 0x2c,
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SUB_PRIMITIVE_ARRAY_NODATA = 0xc3,
    RECORD_HEAD = 9,
    HEAD_MOST = 64, /* of the bytes before the body of an instance or array */
    CHUNK = 1 << 20
};

const char *const kind_names[KINDS] = {"strings", "loaded classes", "stack frames",  "stack traces",     "other records",
                                       "classes", "instances",      "object arrays", "primitive arrays", "roots"};
const char *const kind_keys[KINDS] = {"strings", "loaded_classes", "frames",        "traces",           "other_records",
                                      "classes", "instances",      "object_arrays", "primitive_arrays", "roots"};

/* Objects that the check counted and that are read one by one: those up to `at` were handed out. */
struct run {
    uint64_t from, at, end;       /* offsets in the dump; all 0 for none */
    const uint8_t *bytes;         /* some of the dump, */
    uint64_t bytes_at, bytes_end; /* and their offsets */
};

/* Sub-records that can be sought by their offset in the same way. */
struct stretches {
    struct hprof_item *firsts;
    size_t count, capacity;
};

struct joining {
    struct diff *diff;
    struct run runs[SIDES];
    struct run_bytes run_bytes;
    struct put_off put_off;
    bool is_at_rest; /* both dumps were read, and what is left are the runs that were put off */
    struct table waiting;
    struct entry digested[SIDES]; /* of the item of the side, */
    bool is_digested[SIDES];      /* if it had to be digested: while it is looked at several times, it is read once */
    struct stretches stretches[SIDES];
    struct tallies tallies;
    uint64_t seed;      /* of digests */
    size_t last_kept;   /* once no more differences are kept: the one with the highest offset */
    bool defines_twice; /* a dump has two objects or two classes of the same ID */
    bool out_of_memory, has_failed;
};

/* ---- Items ------------------------------------------------------------------------------------------------------- */

bool holds_heap(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_RECORD &&
           (item->tag == TAG_HEAP_DUMP || item->tag == TAG_HEAP_DUMP_SEGMENT || item->tag == TAG_HEAP_DUMP_END);
}

/* The bytes that are compared: all of a sub-record; of a record its body, as the time in its head says nothing of the heap. */
static uint64_t compared_from(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_RECORD ? RECORD_HEAD : 0;
}

static uint64_t compared_to(const struct hprof_item *item)
{
    return item->head + item->body;
}

static enum kind kind_of_subrecord(uint8_t tag)
{
    switch (tag) {
    case SUB_CLASS_DUMP:
        return KIND_CLASSES;
    case SUB_INSTANCE_DUMP:
        return KIND_INSTANCES;
    case SUB_OBJECT_ARRAY_DUMP:
        return KIND_OBJECT_ARRAYS;
    case SUB_PRIMITIVE_ARRAY_DUMP:
    case SUB_PRIMITIVE_ARRAY_NODATA:
        return KIND_PRIMITIVE_ARRAYS;
    default:
        return KIND_ROOTS;
    }
}

static enum kind kind_of(const struct hprof_item *item)
{
    if (item->kind != HPROF_ITEM_RECORD)
        return kind_of_subrecord(item->tag);
    switch (item->tag) {
    case TAG_UTF8:
        return KIND_STRINGS;
    case TAG_LOAD_CLASS:
        return KIND_LOADED_CLASSES;
    case TAG_FRAME:
        return KIND_FRAMES;
    case TAG_TRACE:
        return KIND_TRACES;
    default:
        return KIND_OTHER_RECORDS;
    }
}

static bool has_id(enum kind kind)
{
    return kind != KIND_ROOTS && kind != KIND_OTHER_RECORDS;
}

static bool fail(struct joining *j, unsigned side)
{
    snprintf(j->diff->failure, sizeof j->diff->failure, "%s", hprof_failure(j->diff->sides[side].reader));
    j->diff->failed_side = side;
    j->has_failed = true;
    return false;
}

/* Up to CHUNK bytes of an item from a byte on, which is not its last: of the last item of the side. NULL if that failed. */
static const uint8_t *bytes_of(struct joining *j, unsigned side, const struct hprof_item *item, uint64_t from, size_t *size)
{
    struct run *run = &j->runs[side];
    const uint64_t at = item->offset + from;
    const bool is_in_run = run->end != 0;
    uint64_t left = compared_to(item) - from;
    int64_t n;

    if (!is_in_run || at < run->bytes_at || at >= run->bytes_end || run->bytes_end - at < (left < CHUNK ? left : CHUNK)) {
        n = hprof_bytes(j->diff->sides[side].reader, is_in_run ? at - run->from : from, CHUNK, &run->bytes);
        if (n <= 0) {
            fail(j, side);
            return NULL;
        }
        run->bytes_at = at;
        run->bytes_end = at + (uint64_t)n;
    }
    if (left > run->bytes_end - at)
        left = run->bytes_end - at;
    *size = (size_t)left;
    return run->bytes + (at - run->bytes_at);
}

/* The next object of a run. */
static bool next_object(struct joining *j, unsigned side, struct hprof_item *item)
{
    struct hprof_reader *reader = j->diff->sides[side].reader;
    struct run *run = &j->runs[side];
    const uint8_t *bytes;
    size_t size;

    item->offset = run->at;
    item->head = 0;
    item->body = run->end - run->at < HEAD_MOST ? run->end - run->at : HEAD_MOST;
    bytes = bytes_of(j, side, item, 0, &size);
    if (bytes == NULL || hprof_counted_object(reader, bytes, size, item) != 1)
        return fail(j, side);
    run->at += item->size;
    return true;
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
    j->runs[side] = (struct run){.from = item->offset, .at = item->offset, .end = item->offset + item->size};
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

/* ---- What is kept ------------------------------------------------------------------------------------------------ */

static bool is_sought_alike(const struct hprof_item *a, const struct hprof_item *b)
{
    return a->record == b->record && a->record_end == b->record_end && a->heap_dump == b->heap_dump && a->begun == b->begun &&
           a->series == b->series;
}

/* The number of the stretch that the item is in. */
static uint32_t stretch_of(struct joining *j, unsigned side, const struct hprof_item *item)
{
    struct stretches *s = &j->stretches[side];

    if (s->count > 0 && is_sought_alike(&s->firsts[s->count - 1], item))
        return (uint32_t)(s->count - 1);
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        struct hprof_item *grown = realloc(s->firsts, capacity * sizeof *grown);

        if (grown == NULL) {
            j->out_of_memory = true;
            return 0;
        }
        s->firsts = grown;
        s->capacity = capacity;
    }
    s->firsts[s->count] = *item;
    return (uint32_t)s->count++;
}

/* The class of an object, or the type of the elements of a primitive array. */
static uint64_t class_of(const struct hprof_item *item)
{
    switch (kind_of(item)) {
    case KIND_PRIMITIVE_ARRAYS:
        return item->element_type;
    case KIND_CLASSES:
        return item->id;
    default:
        return item->class_id;
    }
}

/* Without a digest. */
static struct entry entry_of(struct joining *j, unsigned side, const struct hprof_item *item)
{
    enum kind kind = kind_of(item);

    return (struct entry){.id = kind == KIND_TRACES ? item->trace_serial : item->id,
                          .offset = item->offset,
                          .class_id = class_of(item),
                          .heap_dump = item->kind == HPROF_ITEM_SUBRECORD ? (uint32_t)item->heap_dump : 0,
                          .stretch = stretch_of(j, side, item),
                          .kind = (uint8_t)kind,
                          .side = (uint8_t)side};
}

static int compare_offsets(const uint64_t a[SIDES], const uint64_t b[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        if (a[side] != b[side])
            return a[side] < b[side] ? -1 : 1;
    return 0;
}

static int compare_differences(const void *a, const void *b)
{
    return compare_offsets(((const struct difference *)a)->offsets, ((const struct difference *)b)->offsets);
}

/* Keeps the first ones by their offsets. */
static void keep_difference(struct joining *j, const struct entry *a, const struct entry *b)
{
    struct diff *d = j->diff;
    const struct entry *entries[SIDES] = {a, b}, *any = a != NULL ? a : b;
    const uint64_t offsets[SIDES] = {a != NULL ? a->offset : HPROF_NO_OFFSET, b != NULL ? b->offset : HPROF_NO_OFFSET};
    const bool is_full = d->difference_count == d->difference_most;
    struct difference *to = &d->differences[is_full ? j->last_kept : d->difference_count];

    if (is_full && (d->difference_most == 0 || compare_offsets(offsets, to->offsets) >= 0))
        return;
    *to = (struct difference){.kind = (enum kind)any->kind, .id = any->id, .offsets = {offsets[0], offsets[1]}};
    for (unsigned side = 0; side < SIDES; side++) {
        if (entries[side] != NULL) {
            to->items[side] = j->stretches[side].firsts[entries[side]->stretch];
            to->items[side].offset = offsets[side];
        }
    }
    d->difference_count += !is_full;
    if (d->difference_count < d->difference_most)
        return;
    j->last_kept = 0;
    for (size_t i = 1; i < d->difference_count; i++)
        if (compare_differences(&d->differences[i], &d->differences[j->last_kept]) > 0)
            j->last_kept = i;
}

/* For the class of A, whichever side came last. */
static void count_same(struct joining *j, const struct entry *e, uint32_t number)
{
    struct counts *of_class = counts_of_class(&j->tallies, j->diff, 0, e);

    j->diff->kinds[e->kind].same += number;
    if (of_class != NULL)
        of_class->same += number;
}

static void count_changed(struct joining *j, const struct entry *a, const struct entry *b)
{
    struct counts *of_class = counts_of_class(&j->tallies, j->diff, a->side, a);

    j->diff->kinds[a->kind].changed++;
    if (of_class != NULL)
        of_class->changed++;
    keep_difference(j, a, b);
}

static void count_alone(struct joining *j, const struct entry *e)
{
    struct counts *of_class = counts_of_class(&j->tallies, j->diff, e->side, e);

    j->diff->kinds[e->kind].only[e->side]++;
    if (of_class != NULL)
        of_class->only[e->side]++;
    keep_difference(j, e->side == 0 ? e : NULL, e->side == 1 ? e : NULL);
}

/* ---- The join ---------------------------------------------------------------------------------------------------- */

static bool have_same_key(const struct hprof_item *a, const struct hprof_item *b)
{
    enum kind kind = kind_of(a);

    return a->kind == b->kind && kind == kind_of(b) && has_id(kind) && a->id == b->id &&
           (a->kind == HPROF_ITEM_RECORD || a->heap_dump == b->heap_dump) &&
           (kind != KIND_TRACES || a->trace_serial == b->trace_serial);
}

static struct entry digested_entry_of(struct joining *j, unsigned side, const struct hprof_item *item)
{
    struct entry e = entry_of(j, side, item);

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
    count_same(j, e, 1);
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
                count_changed(j, &entries[a++], &entries[b++]);
            else
                count_alone(j, a < first ? &entries[a++] : &entries[b++]);
        }
    }
}

/* What defines the same ID twice may do so in another order in the other dump, and waits if it differs. Of records, that is not
 * known before; objects rarely do. */
static void compare_in_step(struct joining *j, const struct hprof_item items[SIDES])
{
    if (is_same(j, items)) {
        struct entry e = {.kind = (uint8_t)kind_of(&items[0]), .class_id = class_of(&items[0])};

        count_same(j, &e, 1);
    } else if (items[0].kind == HPROF_ITEM_RECORD || j->defines_twice) {
        for (unsigned side = 0; side < SIDES; side++) {
            struct entry e = digested_entry_of(j, side, &items[side]);

            look_for_other(j, &e);
        }
    } else if (!j->has_failed) {
        struct entry a = entry_of(j, 0, &items[0]), b = entry_of(j, 1, &items[1]);

        count_changed(j, &a, &b);
    }
}

/* Of both sides: its bytes name the same classes. */
static void count_run(struct joining *j, const struct hprof_counted *counted)
{
    for (size_t i = 0; i < counted->class_count; i++) {
        const struct hprof_class_count *some = &counted->classes[i];
        struct entry e = {.kind = (uint8_t)kind_of_subrecord(some->tag),
                          .class_id = some->class_id != 0 ? some->class_id : some->element_type};

        count_same(j, &e, some->number);
    }
}

/* Whether both sides are at runs whose objects are the same; these are then counted. */
static bool runs_are_same(struct joining *j, const struct hprof_item items[SIDES], const struct hprof_counted *counted)
{
    if (items[0].kind != HPROF_ITEM_OBJECTS || items[1].kind != HPROF_ITEM_OBJECTS ||
        items[0].heap_dump != items[1].heap_dump || items[0].size != items[1].size)
        return false;
    enum run_answer answer = compare_runs(&j->run_bytes, items);
    if (answer == RUNS_DIFFER || (answer == RUNS_UNKNOWN && !is_same(j, items)))
        return false;
    count_run(j, counted);
    return true;
}

/* Counts the run of a side if the other side had the same one elsewhere. */
static bool is_same_elsewhere(struct joining *j, unsigned side, const struct hprof_item *run,
                              const struct hprof_counted *counted)
{
    struct hprof_item runs[SIDES] = {*run, *run};

    if (!put_off_take(&j->put_off, side, run, counted, &runs[!side]))
        return false;
    if (compare_two_runs(&j->run_bytes, runs) == RUNS_SAME) {
        count_run(j, counted);
        return true;
    }
    j->out_of_memory |= !put_off_add(&j->put_off, !side, &runs[!side], counted); /* with what its own counts say, too */
    return false;
}

/* Where both sides are at runs of the same objects, which differ, these are taken apart. Another run may be one that the other side
 * has elsewhere. True if a run was passed: then its side goes on. */
static bool pass_runs(struct joining *j, struct hprof_item items[SIDES], const struct hprof_counted counted[SIDES],
                      bool has[SIDES], bool is_done[SIDES])
{
    bool is_run[SIDES];

    for (unsigned side = 0; side < SIDES; side++)
        is_run[side] = has[side] && items[side].kind == HPROF_ITEM_OBJECTS;
    if (!is_run[0] && !is_run[1])
        return false;
    if (is_run[0] && is_run[1] && runs_are_alike(items, counted)) {
        for (unsigned side = 0; side < SIDES; side++)
            has[side] = take_apart(j, side, &items[side]);
        return false;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (is_run[side] && !is_same_elsewhere(j, side, &items[side], &counted[side]))
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
    while (go_on(j, has) && !j->has_failed && !j->out_of_memory) {
        for (unsigned side = 0; side < SIDES; side++) {
            if (is_done[side]) {
                has[side] = has[side] && next_item(j, side, &items[side], &counted[side]);
                j->is_digested[side] = false;
            }
            is_done[side] = true;
        }
        if (has[0] && has[1] && runs_are_same(j, items, &counted[0]))
            continue;
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
    if (!j->has_failed && !j->out_of_memory)
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
                        .run_bytes = {.diff = diff, .jobs = jobs}};

    diff->differences = calloc(diff->difference_most + 1, sizeof *diff->differences);
    j.out_of_memory = diff->differences == NULL;
    j.defines_twice = defines_twice(&diff->sides[0].summary) || defines_twice(&diff->sides[1].summary);
    if (!j.out_of_memory)
        join(&j);
    if (!j.out_of_memory && !j.has_failed)
        j.tallies.out_of_memory |= !tallies_finish(&j.tallies, diff);
    j.out_of_memory |= j.tallies.out_of_memory;
    tallies_free(&j.tallies);
    run_bytes_free(&j.run_bytes);
    if (diff->difference_count > 1)
        qsort(diff->differences, diff->difference_count, sizeof *diff->differences, compare_differences);
    table_free(&j.waiting);
    put_off_free(&j.put_off);
    for (unsigned side = 0; side < SIDES; side++) {
        free(j.stretches[side].firsts);
    }
    if (j.out_of_memory)
        snprintf(diff->failure, sizeof diff->failure, "out of memory");
    return !j.out_of_memory && !j.has_failed;
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
