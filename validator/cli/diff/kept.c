/* See kept.h. */
#include "kept.h"

#include <stdlib.h>

#include "items.h"

bool kept_begin(struct kept *k, struct diff *diff)
{
    k->diff = diff;
    diff->differences = calloc(diff->difference_most + 1, sizeof *diff->differences);
    k->out_of_memory = diff->differences == NULL;
    return !k->out_of_memory;
}

/* ---- Stretches --------------------------------------------------------------------------------------------------- */

static bool is_sought_alike(const struct hprof_item *a, const struct hprof_item *b)
{
    return a->record == b->record && a->record_end == b->record_end && a->heap_dump == b->heap_dump && a->begun == b->begun &&
           a->series == b->series;
}

/* The number of the stretch that the item is in. */
static uint32_t stretch_of(struct kept *k, unsigned side, const struct hprof_item *item)
{
    struct stretches *s = &k->stretches[side];

    if (s->count > 0 && is_sought_alike(&s->firsts[s->count - 1], item))
        return (uint32_t)(s->count - 1);
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        struct hprof_item *grown = realloc(s->firsts, capacity * sizeof *grown);

        if (grown == NULL) {
            k->out_of_memory = true;
            return 0;
        }
        s->firsts = grown;
        s->capacity = capacity;
    }
    s->firsts[s->count] = *item;
    return (uint32_t)s->count++;
}

struct entry entry_of(struct kept *k, unsigned side, const struct hprof_item *item)
{
    enum kind kind = kind_of(item);

    return (struct entry){.id = kind == KIND_TRACES ? item->trace_serial : item->id,
                          .offset = item->offset,
                          .class_id = class_of(item),
                          .heap_dump = item->kind == HPROF_ITEM_SUBRECORD ? (uint32_t)item->heap_dump : 0,
                          .stretch = stretch_of(k, side, item),
                          .kind = (uint8_t)kind,
                          .side = (uint8_t)side};
}

/* ---- Differences ------------------------------------------------------------------------------------------------- */

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

static bool is_full(const struct diff *d)
{
    return d->difference_count == d->difference_most;
}

/* Keeps the first ones by their offsets. */
static void keep_difference(struct kept *k, const struct entry *a, const struct entry *b)
{
    struct diff *d = k->diff;
    const struct entry *entries[SIDES] = {a, b}, *any = a != NULL ? a : b;
    const uint64_t offsets[SIDES] = {a != NULL ? a->offset : HPROF_NO_OFFSET, b != NULL ? b->offset : HPROF_NO_OFFSET};
    struct difference *to = &d->differences[is_full(d) ? k->last : d->difference_count];

    if (is_full(d) && (d->difference_most == 0 || compare_offsets(offsets, to->offsets) >= 0))
        return;
    d->difference_count += !is_full(d);
    *to = (struct difference){.kind = (enum kind)any->kind, .id = any->id, .offsets = {offsets[0], offsets[1]}};
    for (unsigned side = 0; side < SIDES; side++) {
        if (entries[side] != NULL) {
            to->items[side] = k->stretches[side].firsts[entries[side]->stretch];
            to->items[side].offset = offsets[side];
        }
    }
    if (!is_full(d))
        return;
    k->last = 0;
    for (size_t i = 1; i < d->difference_count; i++)
        if (compare_differences(&d->differences[i], &d->differences[k->last]) > 0)
            k->last = i;
}

bool has_all_before(const struct kept *k, uint64_t offset)
{
    const struct diff *d = k->diff;

    return is_full(d) && (d->difference_most == 0 || d->differences[k->last].offsets[0] < offset);
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

static void count(struct kept *k, const struct entry *e, uint32_t same, uint32_t changed)
{
    struct counts *of_class = counts_of_class(&k->tallies, k->diff, 0, e);

    k->diff->kinds[e->kind].same += same;
    k->diff->kinds[e->kind].changed += changed;
    if (of_class != NULL) {
        of_class->same += same;
        of_class->changed += changed;
    }
}

void count_same(struct kept *k, const struct entry *e)
{
    count(k, e, 1, 0);
}

void count_changed(struct kept *k, const struct entry *a, const struct entry *b)
{
    count(k, a, 0, 1);
    keep_difference(k, a, b);
}

void count_alone(struct kept *k, const struct entry *e)
{
    struct counts *of_class = counts_of_class(&k->tallies, k->diff, e->side, e);

    k->diff->kinds[e->kind].only[e->side]++;
    if (of_class != NULL)
        of_class->only[e->side]++;
    keep_difference(k, e->side == 0 ? e : NULL, e->side == 1 ? e : NULL);
}

void count_run(struct kept *k, const struct hprof_counted *counted, const uint32_t *changed)
{
    for (size_t i = 0; i < counted->class_count; i++) {
        const struct hprof_class_count *some = &counted->classes[i];
        const struct entry e = {.kind = (uint8_t)kind_of_subrecord(some->tag), .class_id = class_counted(some)};
        const uint32_t number = changed != NULL ? changed[i] : 0;

        count(k, &e, some->number - number, number);
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

void kept_finish(struct kept *k)
{
    struct diff *d = k->diff;

    k->out_of_memory |= !tallies_finish(&k->tallies, d);
    if (d->difference_count > 1)
        qsort(d->differences, d->difference_count, sizeof *d->differences, compare_differences);
}

void kept_free(struct kept *k)
{
    tallies_free(&k->tallies);
    for (unsigned side = 0; side < SIDES; side++)
        free(k->stretches[side].firsts);
}
