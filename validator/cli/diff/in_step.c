/* See in_step.h. */
#include "in_step.h"

#include <stdlib.h>
#include <string.h>

#include "items.h"
#include "run_objects.h"

enum { CHUNK = 1 << 16 };

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* Whether as many bytes from these offsets on are the same. */
static enum run_answer compare_from(struct run_objects runs[SIDES], const uint64_t at[SIDES], uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        size_t n = size - done < CHUNK ? (size_t)(size - done) : CHUNK;
        const uint8_t *bytes[SIDES];

        for (unsigned side = 0; side < SIDES; side++) {
            bytes[side] = run_objects_see(&runs[side], at[side] + done, n);
            if (bytes[side] == NULL || runs[side].to - at[side] - done < n)
                return RUNS_UNKNOWN;
        }
        if (memcmp(bytes[0], bytes[1], n) != 0)
            return RUNS_DIFFER;
        done += n;
    }
    return RUNS_SAME;
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

static size_t slot_of(const struct class_places *places, uint8_t tag, uint64_t class)
{
    uint64_t h = (class ^ places->key ^ tag) * 0x9e3779b97f4a7c15U;

    return (size_t)(h >> 32) & (places->capacity - 1);
}

static bool note_places(struct class_places *places, const struct hprof_counted *counted)
{
    size_t capacity = places->capacity ? places->capacity : 64;

    while (capacity < 2 * counted->class_count)
        capacity *= 2;
    if (capacity > places->capacity) {
        free(places->slots);
        places->capacity = 0;
        places->slots = malloc(capacity * sizeof *places->slots);
        if (places->slots == NULL)
            return false;
        places->capacity = capacity;
    }
    memset(places->slots, 0, places->capacity * sizeof *places->slots);
    for (size_t i = 0; i < counted->class_count; i++) {
        size_t slot = slot_of(places, counted->classes[i].tag, class_counted(&counted->classes[i]));

        while (places->slots[slot] != 0)
            slot = (slot + 1) & (places->capacity - 1);
        places->slots[slot] = (uint32_t)(i + 1);
    }
    return true;
}

/* How many objects of the class of an object have changed. Each class of a run was counted; NULL if not. */
static uint32_t *changed_of(const struct run_pair *pair, const struct class_places *places, const struct hprof_item *item)
{
    const struct hprof_class_count *classes = pair->counted[0].classes;
    const uint64_t class = class_of(item);
    size_t slot = slot_of(places, item->tag, class);

    for (; places->slots[slot] != 0; slot = (slot + 1) & (places->capacity - 1)) {
        size_t i = places->slots[slot] - 1U;

        if (classes[i].tag == item->tag && class_counted(&classes[i]) == class)
            return &pair->changed[i];
    }
    return NULL;
}

static bool clear_changed(struct run_pair *pair)
{
    const size_t count = pair->counted[0].class_count;

    if (count > pair->capacity) {
        free(pair->changed);
        pair->changed = malloc(count * sizeof *pair->changed);
        pair->capacity = pair->changed != NULL ? count : 0;
    }
    if (count > pair->capacity)
        return false;
    memset(pair->changed, 0, count * sizeof *pair->changed);
    return true;
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

/* The objects at these offsets, which are changed to those of the next ones; `items` has that of A. */
static enum run_answer compare_next(struct run_objects runs[SIDES], uint64_t at[SIDES], struct hprof_item items[SIDES])
{
    const uint64_t from[SIDES] = {at[0], at[1]};
    const uint8_t *bytes[SIDES];
    size_t left[SIDES];
    bool is_seen, has_same_head;

    for (unsigned side = 0; side < SIDES; side++) {
        bytes[side] = run_objects_see(&runs[side], from[side], HEAD_MOST);
        if (bytes[side] == NULL)
            return RUNS_UNKNOWN;
        left[side] = (size_t)(runs[side].to - from[side]);
    }
    if (hprof_counted_object(runs[0].reader, bytes[0], left[0], &items[0]) != 1)
        return RUNS_UNKNOWN;
    at[0] += items[0].size;
    is_seen = items[0].size <= left[0] && items[0].size <= left[1];
    if (is_seen && memcmp(bytes[0], bytes[1], (size_t)items[0].size) == 0) {
        at[1] += items[0].size;
        return RUNS_SAME;
    }
    has_same_head = items[0].head <= left[1] && memcmp(bytes[0], bytes[1], (size_t)items[0].head) == 0;
    if (!has_same_head && hprof_counted_object(runs[1].reader, bytes[1], left[1], &items[1]) != 1)
        return RUNS_UNKNOWN;
    at[1] += items[has_same_head ? 0 : 1].size;
    if (has_same_head && !is_seen) {
        enum run_answer answer = compare_from(runs, from, items[0].size);

        return answer == RUNS_DIFFER ? RUNS_CHANGED : answer;
    }
    return has_same_head || (items[0].tag == items[1].tag && items[0].id == items[1].id) ? RUNS_CHANGED : RUNS_DIFFER;
}

static enum run_answer compare_objects(struct run_objects runs[SIDES], struct run_pair *pair, struct class_places *places)
{
    struct hprof_item items[SIDES] = {pair->runs[0], pair->runs[1]};
    uint64_t at[SIDES] = {0};

    if (!clear_changed(pair) || !note_places(places, &pair->counted[0]))
        return RUNS_UNKNOWN;
    while (at[0] < pair->runs[0].size && at[1] < pair->runs[1].size) {
        enum run_answer answer = compare_next(runs, at, items);

        if (answer == RUNS_CHANGED) {
            uint32_t *changed = changed_of(pair, places, &items[0]);

            if (changed == NULL)
                return RUNS_UNKNOWN;
            ++*changed;
        } else if (answer != RUNS_SAME) {
            return answer;
        }
    }
    return at[0] == pair->runs[0].size && at[1] == pair->runs[1].size ? RUNS_CHANGED : RUNS_DIFFER;
}

void compare_in_order(struct hprof_reader *const readers[SIDES], struct run_pair *pair, struct class_places *places)
{
    const uint64_t start[SIDES] = {0};
    struct run_objects runs[SIDES];

    for (unsigned side = 0; side < SIDES; side++)
        run_objects_begin(&runs[side], readers[side], &pair->runs[side]);
    pair->answer = pair->runs[0].size == pair->runs[1].size ? compare_from(runs, start, pair->runs[0].size) : RUNS_DIFFER;
    if (pair->answer == RUNS_DIFFER)
        pair->answer = compare_objects(runs, pair, places);
}
