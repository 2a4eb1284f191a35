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
    memory_put(c->memory, c->sorted, c->count * sizeof *c->sorted);
}

/* ---- Runs ---- */

static size_t head_of(uint8_t tag, unsigned id_size)
{
    return 1 + (tag == SUB_INSTANCE_DUMP       ? SIZE_OF(INSTANCE_DUMP, id_size)
                : tag == SUB_OBJECT_ARRAY_DUMP ? SIZE_OF(OBJECT_ARRAY_DUMP, id_size)
                                               : SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size));
}

static void keep_run(struct counted *c)
{
    size_t most = c->run.class_count - 1 + PRIMITIVE_TYPES;
    struct counted_run *run = memory_get(c->memory, sizeof *run + most * sizeof *run->classes);

    if (!run)
        return;
    *run = (struct counted_run){.next = c->first, .counted = c->run, .capacity = most};
    run->counted.classes = run->classes;
    run->counted.class_count = c->run.class_count - 1;
    memcpy(run->classes, c->classes + 1, run->counted.class_count * sizeof *run->classes);
    for (size_t i = 0; i < run->counted.class_count; i++) {
        uint8_t raw_id[sizeof run->classes->class_id];

        native_store(raw_id, c->id_size, run->classes[i].class_id);
        run->classes[i].class_id = get_id(raw_id, c->id_size);
        run->classes[i].element_type = run->classes[i].tag == SUB_OBJECT_ARRAY_DUMP ? TYPE_OBJECT : 0;
    }
    for (uint8_t type = 0; type < PRIMITIVE_TYPES; type++)
        if (c->primitive[type].number) {
            c->primitive[type].tag = SUB_PRIMITIVE_ARRAY_DUMP;
            c->primitive[type].element_type = type;
            run->classes[run->counted.class_count++] = c->primitive[type];
        }
    for (size_t i = 0; i < run->counted.class_count; i++) {
        run->classes[i].head = (uint8_t)head_of(run->classes[i].tag, c->id_size);
        run->counted.objects += run->classes[i].number;
    }
    c->first = run;
    c->count++;
}

static void end_run(struct counted *c)
{
    c->run.size = c->end - c->run.offset;
    if (c->run.size >= c->least)
        keep_run(c);
    memset(c->slots, 0, sizeof c->slots);
    memset(c->classes, 0, c->run.class_count * sizeof *c->classes);
    memset(c->primitive, 0, sizeof c->primitive);
    c->run = (struct hprof_counted){.struct_size = sizeof c->run, .class_count = 1};
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
}

static bool is_before(const void *a, const void *b)
{
    return (*(struct counted_run *const *)a)->counted.offset < (*(struct counted_run *const *)b)->counted.offset;
}

void counted_end(struct counted *c)
{
    size_t n = 0;

    end_run(c);
    c->sorted = memory_get(c->memory, c->count * sizeof *c->sorted);
    for (struct counted_run *run = c->first; c->sorted && run; run = run->next)
        c->sorted[n++] = run;
    sort_in_place(c->sorted, n, sizeof *c->sorted, is_before);
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
