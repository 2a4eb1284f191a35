/* See counted.h. */
#include "state/counted.h"

#include <string.h>

#include "base/sort.h"

void counted_init(struct counted *c, struct memory *memory, const struct hash_key *key, uint64_t within, uint64_t least)
{
    memset(c, 0, sizeof *c);
    c->memory = memory;
    c->within = within;
    c->least = least;
    c->multiply = key->multiply;
    c->run.class_count = 1;
}

static size_t size_of_run(const struct counted_run *run)
{
    return sizeof *run + run->capacity * sizeof *run->classes;
}

void counted_clear(struct counted *c)
{
    for (struct counted_run *run = c->first, *next; run; run = next) {
        next = run->next;
        memory_put(c->memory, run, size_of_run(run));
    }
    memory_put(c->memory, c->sorted, c->capacity * sizeof *c->sorted);
}

/* ---- Runs ---- */

static size_t head_of(uint8_t tag, unsigned id_size)
{
    return 1 + (tag == SUB_INSTANCE_DUMP       ? SIZE_OF(INSTANCE_DUMP, id_size)
                : tag == SUB_OBJECT_ARRAY_DUMP ? SIZE_OF(OBJECT_ARRAY_DUMP, id_size)
                                               : SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size));
}

/* Of the present run. Class IDs stay as they are in the dump until counted_end(). NULL if there is no memory. */
static struct counted_run *keep_run(struct counted *c)
{
    size_t most = c->run.class_count - 1 + PRIMITIVE_TYPES;
    struct counted_run *run = memory_get(c->memory, sizeof *run + most * sizeof *run->classes);

    if (!run)
        return NULL;
    *run = (struct counted_run){.next = c->first, .counted = c->run, .capacity = most};
    run->counted.classes = run->classes;
    run->counted.class_count = c->run.class_count - 1;
    memcpy(run->classes, c->classes + 1, run->counted.class_count * sizeof *run->classes);
    for (uint8_t type = 0; type < PRIMITIVE_TYPES; type++)
        if (c->primitive[type].number) {
            c->primitive[type].tag = SUB_PRIMITIVE_ARRAY_DUMP;
            c->primitive[type].element_type = type;
            run->classes[run->counted.class_count++] = c->primitive[type];
        }
    c->first = run;
    c->count++;
    return run;
}

static void clear_present(struct counted *c)
{
    memset(c->slots, 0, sizeof c->slots);
    memset(c->classes, 0, c->run.class_count * sizeof *c->classes);
    memset(c->primitive, 0, sizeof c->primitive);
    c->run = (struct hprof_counted){.struct_size = sizeof c->run, .class_count = 1};
}

static void end_run(struct counted *c)
{
    c->run.size = c->end - c->run.offset;
    if (c->run.size >= c->least)
        keep_run(c);
    clear_present(c);
}

void counted_begin(struct counted *c, uint64_t offset)
{
    end_run(c);
    c->run.offset = c->end = offset;
    c->run.low_id = UINT64_MAX;
    c->cut = (offset & ~(c->within - 1)) + c->within;
}

void counted_end_run(struct counted *c, uint64_t offset, uint8_t tag)
{
    c->run.beyond = offset - c->cut;
    c->run.last_tag = tag;
    c->end = offset;
    counted_begin(c, offset);
}

static bool find(struct counted *c, uint64_t raw_id, uint8_t tag, uint16_t *found)
{
    size_t slot = (size_t)((raw_id * c->multiply) >> (64 - COUNTED_SLOTS_BITS));

    for (unsigned i = 0; i < COUNTED_PROBES; i++, slot = (slot + 1) & ((1 << COUNTED_SLOTS_BITS) - 1)) {
        *found = c->slots[slot];
        if (!*found)
            break;
        if (c->classes[*found].class_id == raw_id && c->classes[*found].tag == tag)
            return true;
    }
    if (*found || c->run.class_count == COUNTED_CLASSES)
        return false;
    *found = c->slots[slot] = (uint16_t)c->run.class_count++;
    c->classes[*found] = (struct hprof_class_count){.class_id = raw_id, .tag = tag};
    return true;
}

uint16_t counted_index(struct counted *c, uint64_t raw_id, uint8_t tag, uint64_t offset)
{
    uint16_t found;

    if (!find(c, raw_id, tag, &found)) {
        c->end = offset;
        counted_begin(c, offset);
        find(c, raw_id, tag, &found);
    }
    return found;
}

/* ---- All runs ---- */

void counted_take(struct counted *c, struct counted *from)
{
    struct counted_run **to = &from->first;

    end_run(from);
    while (*to)
        to = &(*to)->next;
    *to = c->first;
    c->first = from->first;
    c->count += from->count;
    if (from->id_size)
        c->id_size = from->id_size;
}

static bool is_before(const void *a, const void *b)
{
    return (*(struct counted_run *const *)a)->counted.offset < (*(struct counted_run *const *)b)->counted.offset;
}

/* Whether a run goes on in the next one: a job of the check ended between them. */
static bool goes_on(const struct counted *c, const struct hprof_counted *run, const struct hprof_counted *next)
{
    return run->offset + run->size == next->offset && run->offset / c->within == next->offset / c->within;
}

/* Adds the classes of a run to those of the present one. False if there is no room for another class. */
static bool add_run(struct counted *c, const struct hprof_counted *run)
{
    for (size_t i = 0; i < run->class_count; i++) {
        const struct hprof_class_count *from = &run->classes[i];
        struct hprof_class_count *to = &c->primitive[from->element_type];
        uint16_t found;

        if (from->tag != SUB_PRIMITIVE_ARRAY_DUMP) {
            if (!find(c, from->class_id, from->tag, &found))
                return false;
            to = &c->classes[found];
        }
        to->number += from->number;
        to->size += from->size;
    }
    return true;
}

/* Makes one run of the sorted ones from `first` up to `end`; NULL if there is no room or no memory for it. */
static struct counted_run *join_runs(struct counted *c, size_t first, size_t end)
{
    struct counted_run *joined = NULL;
    struct hprof_counted whole = c->sorted[first]->counted;
    bool is_whole = true;

    for (size_t i = first; i < end && is_whole; i++) {
        const struct hprof_counted *run = &c->sorted[i]->counted;

        is_whole = add_run(c, run);
        whole.low_id = run->low_id < whole.low_id ? run->low_id : whole.low_id;
        whole.high_id = run->high_id > whole.high_id ? run->high_id : whole.high_id;
        whole.size = run->offset + run->size - whole.offset;
        whole.beyond = run->beyond;
        whole.last_tag = run->last_tag;
    }
    whole.class_count = c->run.class_count;
    c->run = whole;
    if (is_whole)
        joined = keep_run(c);
    clear_present(c);
    return joined;
}

/* So that runs do not depend on the number of threads. */
static void join_all(struct counted *c)
{
    const size_t count = c->count;
    size_t kept = 0, end;

    for (size_t i = 0; i < count; i = end) {
        struct counted_run *joined = NULL;

        for (end = i + 1; end < count && goes_on(c, &c->sorted[end - 1]->counted, &c->sorted[end]->counted);)
            end++;
        if (end - i > 1)
            joined = join_runs(c, i, end);
        for (size_t part = i; part < end; part++) {
            if (joined)
                memory_put(c->memory, c->sorted[part], size_of_run(c->sorted[part]));
            else
                c->sorted[kept++] = c->sorted[part];
        }
        if (joined)
            c->sorted[kept++] = joined;
    }
    c->count = kept;
}

/* What is left to do for a run that is whole. */
static void finish_run(const struct counted *c, struct counted_run *run)
{
    for (size_t i = 0; i < run->counted.class_count; i++) {
        struct hprof_class_count *class = &run->classes[i];

        if (class->tag != SUB_PRIMITIVE_ARRAY_DUMP) {
            uint8_t raw_id[sizeof class->class_id];

            native_store(raw_id, c->id_size, class->class_id);
            class->class_id = get_id(raw_id, c->id_size);
            class->element_type = class->tag == SUB_OBJECT_ARRAY_DUMP ? TYPE_OBJECT : 0;
        }
        class->head = (uint8_t)head_of(class->tag, c->id_size);
        run->counted.objects += class->number;
    }
}

void counted_end(struct counted *c)
{
    size_t n = 0;

    end_run(c);
    c->sorted = memory_get(c->memory, c->count * sizeof *c->sorted);
    if (!c->sorted)
        return;
    c->capacity = c->count;
    for (struct counted_run *run = c->first; run; run = run->next)
        c->sorted[n++] = run;
    sort_in_place(c->sorted, n, sizeof *c->sorted, is_before);
    join_all(c);
    c->first = NULL;
    for (size_t i = 0; i < c->count; i++) {
        finish_run(c, c->sorted[i]);
        c->sorted[i]->next = c->first;
        c->first = c->sorted[i];
    }
}

const struct hprof_counted *counted_at(const struct counted *c, uint64_t offset)
{
    size_t low = 0, high = c->sorted ? c->count : 0, end = high;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->sorted[middle]->counted.offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && c->sorted[low]->counted.offset == offset ? &c->sorted[low]->counted : NULL;
}
