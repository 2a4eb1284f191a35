#include "table.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 1024 };

static size_t home(const struct table *table, const struct entry *e)
{
    uint64_t h = (e->id ^ table->key) * 0x9e3779b97f4a7c15U;

    h = (h ^ h >> 29 ^ (uint64_t)e->kind << 56 ^ (uint64_t)e->heap_dump << 24) * 0xbf58476d1ce4e5b9U;
    return (size_t)(h ^ h >> 32) & (table->capacity - 1);
}

static void put(struct table *table, const struct entry *entry)
{
    size_t i = home(table, entry);

    while (table->entries[i].is_used)
        i = (i + 1) & (table->capacity - 1);
    table->entries[i] = *entry;
    table->entries[i].is_used = true;
}

static bool grow(struct table *table)
{
    struct table larger = *table;

    larger.capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY;
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->entries[i].is_used)
            put(&larger, &table->entries[i]);
    free(table->entries);
    *table = larger;
    return true;
}

bool table_add(struct table *table, const struct entry *entry)
{
    if (4 * (table->count + 1) > 3 * table->capacity && !grow(table))
        return false;
    put(table, entry);
    table->count++;
    return true;
}

/* Closes the gap, so that a search needs no marks of what was removed. */
static void remove_at(struct table *table, size_t gap)
{
    const size_t mask = table->capacity - 1;

    for (size_t i = (gap + 1) & mask; table->entries[i].is_used; i = (i + 1) & mask) {
        size_t wanted = home(table, &table->entries[i]);

        if (((i - wanted) & mask) >= ((i - gap) & mask)) {
            table->entries[gap] = table->entries[i];
            gap = i;
        }
    }
    table->entries[gap].is_used = false;
    table->count--;
}

bool table_take(struct table *table, const struct entry *like)
{
    const size_t mask = table->capacity - 1;

    if (table->count == 0)
        return false;
    for (size_t i = home(table, like); table->entries[i].is_used; i = (i + 1) & mask) {
        const struct entry *e = &table->entries[i];

        if (e->id == like->id && e->digest == like->digest && e->kind == like->kind && e->heap_dump == like->heap_dump &&
            e->side != like->side) {
            remove_at(table, i);
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

    for (size_t i = 0; i < table->capacity; i++)
        if (table->entries[i].is_used)
            table->entries[kept++] = table->entries[i];
    if (kept > 1)
        qsort(table->entries, kept, sizeof *table->entries, compare_entries);
}
