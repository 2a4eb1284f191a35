#include "table.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 1024 };

/* The list of the entries of a side that are the same as one: they are found at once, however many there are. */
static uint32_t *list_of(const struct table *table, const struct entry *e, unsigned side)
{
    uint64_t h = (e->id ^ table->key) * 0x9e3779b97f4a7c15U;

    h = (h ^ e->digest ^ h >> 29 ^ (uint64_t)e->kind << 56 ^ (uint64_t)e->heap_dump << 24) * 0xbf58476d1ce4e5b9U;
    return &table->lists[((h ^ h >> 32) + side) & (table->capacity - 1)];
}

static void put(struct table *table, uint32_t place)
{
    struct entry *e = &table->entries[place - 1];
    uint32_t *list = list_of(table, e, e->side);

    e->next = *list;
    *list = place;
}

static bool grow(struct table *table)
{
    size_t capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY;
    struct entry *entries;
    uint32_t *lists;

    if (capacity > UINT32_MAX)
        return false;
    entries = realloc(table->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    table->entries = entries;
    lists = calloc(capacity, sizeof *lists);
    if (lists == NULL)
        return false;
    free(table->lists);
    table->lists = lists;
    table->capacity = capacity;
    for (size_t i = 0; i < table->used; i++) /* none is free */
        put(table, (uint32_t)i + 1);
    return true;
}

bool table_add(struct table *table, const struct entry *entry)
{
    uint32_t place = table->unused;

    if (place == 0 && table->used == table->capacity && !grow(table))
        return false;
    if (place != 0)
        table->unused = table->entries[place - 1].next;
    else
        place = (uint32_t)++table->used;
    table->entries[place - 1] = *entry;
    table->entries[place - 1].is_used = true;
    put(table, place);
    table->count++;
    return true;
}

bool table_take(struct table *table, const struct entry *like, struct entry *taken)
{
    if (table->count == 0)
        return false;
    for (uint32_t *at = list_of(table, like, !like->side); *at != 0; at = &table->entries[*at - 1].next) {
        const uint32_t place = *at;
        struct entry *e = &table->entries[place - 1];

        if (e->id == like->id && e->digest == like->digest && e->kind == like->kind && e->heap_dump == like->heap_dump &&
            e->side != like->side) {
            if (taken != NULL)
                *taken = *e;
            *at = e->next;
            e->next = table->unused;
            table->unused = place;
            e->is_used = false;
            table->count--;
            return true;
        }
    }
    return false;
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int compare_keys(const struct entry *a, const struct entry *b)
{
    return a->kind != b->kind             ? compare(a->kind, b->kind)
           : a->heap_dump != b->heap_dump ? compare(a->heap_dump, b->heap_dump)
                                          : compare(a->id, b->id);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    int keys = compare_keys(one, other);

    return keys != 0 ? keys : one->side != other->side ? compare(one->side, other->side) : compare(one->offset, other->offset);
}

void table_sort(struct table *table)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->used; i++)
        if (table->entries[i].is_used)
            table->entries[kept++] = table->entries[i];
    if (kept > 1)
        qsort(table->entries, kept, sizeof *table->entries, compare_entries);
}

void table_free(struct table *table)
{
    free(table->entries);
    free(table->lists);
}
