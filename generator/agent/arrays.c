#include "arrays.h"

#include <stdlib.h>

#include "store.h"

static struct array *slot_of(struct arrays *arrays, uint64_t number)
{
    size_t at = (size_t)hash_number(0, number) & (arrays->room - 1);
    while (arrays->slots[at].number && arrays->slots[at].number != number)
        at = (at + 1) & (arrays->room - 1);
    return &arrays->slots[at];
}

static bool grow(struct arrays *arrays)
{
    struct arrays larger = {.room = arrays->room ? arrays->room * 2 : 1024, .count = arrays->count};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < arrays->room; i++)
        if (arrays->slots[i].number)
            *slot_of(&larger, arrays->slots[i].number) = arrays->slots[i];
    free(arrays->slots);
    *arrays = larger;
    return true;
}

bool arrays_add(struct arrays *arrays, struct array array)
{
    if (arrays->count * 2 >= arrays->room && !grow(arrays))
        return false;
    *slot_of(arrays, array.number) = array;
    arrays->count++;
    return true;
}

/* The slots after it move up, so that they are still found. */
struct array arrays_take(struct arrays *arrays, uint64_t number)
{
    if (!arrays->room)
        return (struct array){0};
    struct array *slot = slot_of(arrays, number), found = *slot;
    if (!found.number)
        return found;
    slot->number = 0;
    arrays->count--;
    size_t mask = arrays->room - 1;
    for (size_t at = (size_t)(slot - arrays->slots + 1) & mask; arrays->slots[at].number; at = (at + 1) & mask) {
        struct array moved = arrays->slots[at];
        arrays->slots[at].number = 0;
        *slot_of(arrays, moved.number) = moved;
    }
    return found;
}
