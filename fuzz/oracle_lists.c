#include "oracle_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *append(struct list *list, size_t size)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = realloc(list->items, list->capacity * size);
        if (!list->items) {
            fputs("oracle: out of memory\n", stderr);
            abort();
        }
    }
    return memset((char *)list->items + size * list->count++, 0, size);
}

int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_definitions(const void *left, const void *right)
{
    const struct definition *a = left, *b = right;
    int order = compare_numbers(a->scope, b->scope);
    if (order == 0)
        order = compare_numbers(a->id, b->id);
    return order ? order : compare_numbers(a->at, b->at);
}

void define(struct list *index, uint64_t scope, uint64_t id, uint64_t at, size_t item)
{
    ADD(index, struct definition, .scope = scope, .id = id, .at = at, .item = item);
}

void sort_index(struct list *index)
{
    if (index->count)
        qsort(index->items, index->count, sizeof(struct definition), compare_definitions);
}

const struct definition *first_definition(const struct list *index, uint64_t scope, uint64_t id)
{
    const struct definition *items = index->items, wanted = {.scope = scope, .id = id};
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_definitions(&items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && items[low].scope == scope && items[low].id == id ? &items[low] : NULL;
}
