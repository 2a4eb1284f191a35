#include "ids.h"

#include <stdlib.h>
#include <string.h>

#include "mix.h"

enum { LOW_BITS = 8, DIGIT_BITS = 11, DIGITS = 6, DIGIT_VALUES = 1 << DIGIT_BITS };

struct id_block {
    uint64_t high;
    uint32_t first, count; /* of its bytes in `lows`; a count of 0 is a free place */
};

/* Addresses of objects are multiples of 8: so they become dense. */
static uint64_t turned(uint64_t id)
{
    return id >> 3 | id << 61;
}

/* ---- Sorting: by 11 bits at a time, and digits that all share are passed over ------------------------------------- */

static size_t digit_of(uint64_t value, unsigned digit)
{
    return (size_t)(value >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1);
}

static bool sort(uint64_t *list, size_t count)
{
    size_t(*counts)[DIGIT_VALUES] = calloc(DIGITS, sizeof *counts);
    uint64_t *spare = malloc((count + 1) * sizeof *spare), *from = list, *to = spare;

    for (size_t i = 0; i < count && counts != NULL; i++)
        for (unsigned digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(list[i], digit)]++;
    for (unsigned digit = 0; digit < DIGITS && counts != NULL && spare != NULL && count > 0; digit++) {
        uint64_t *other = from;

        if (counts[digit][digit_of(from[0], digit)] == count)
            continue;
        for (size_t value = 0, at = 0; value < DIGIT_VALUES; value++) {
            size_t n = counts[digit][value];

            counts[digit][value] = at;
            at += n;
        }
        for (size_t i = 0; i < count; i++)
            to[counts[digit][digit_of(from[i], digit)]++] = from[i];
        from = to;
        to = other;
    }
    if (from != list && spare != NULL)
        memcpy(list, from, count * sizeof *list);
    bool is_sorted = counts != NULL && spare != NULL;
    free(counts);
    free(spare);
    return is_sorted;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static struct id_block *place_of(const struct ids *ids, uint64_t high)
{
    size_t i = (size_t)mix(high ^ ids->key) & (ids->capacity - 1);

    while (ids->blocks[i].count != 0 && ids->blocks[i].high != high)
        i = (i + 1) & (ids->capacity - 1);
    return &ids->blocks[i];
}

bool ids_build(struct ids *ids, uint64_t *list, size_t count)
{
    size_t kept = 0, blocks = 0;

    for (size_t i = 0; i < count; i++)
        list[i] = turned(list[i]);
    if (!sort(list, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && list[kept - 1] == list[i])
            continue;
        blocks += kept == 0 || list[kept - 1] >> LOW_BITS != list[i] >> LOW_BITS;
        list[kept++] = list[i];
    }
    for (ids->capacity = 16; 2 * blocks > ids->capacity;)
        ids->capacity *= 2;
    ids->count = (uint32_t)kept;
    ids->key = draw();
    ids->blocks = calloc(ids->capacity, sizeof *ids->blocks);
    ids->lows = malloc(kept + 1);
    if (ids->blocks == NULL || ids->lows == NULL)
        return false;
    for (size_t i = 0; i < kept; i++) {
        struct id_block *block = place_of(ids, list[i] >> LOW_BITS);

        if (block->count == 0)
            *block = (struct id_block){.high = list[i] >> LOW_BITS, .first = (uint32_t)i};
        block->count++;
        ids->lows[i] = (uint8_t)list[i];
    }
    return true;
}

uint32_t ids_rank(const struct ids *ids, uint64_t id)
{
    uint64_t wanted = turned(id);
    const struct id_block *block = place_of(ids, wanted >> LOW_BITS);
    const uint8_t *lows = ids->lows + block->first;
    const uint8_t *found = block->count > 0 ? memchr(lows, (uint8_t)wanted, block->count) : NULL;

    return found != NULL ? block->first + (uint32_t)(found - lows) : NO_OBJECT;
}

void ids_free(struct ids *ids)
{
    free(ids->blocks);
    free(ids->lows);
    *ids = (struct ids){0};
}
