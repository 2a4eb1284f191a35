/* See sample.h. */
#include "fit/sample.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = 1 << 10, SLOTS_MOST = 1 << 19 };

bool sample_init(struct sample *s)
{
    *s = (struct sample){.key = hash_key_draw(), .slots = calloc(SLOTS_LEAST, sizeof *s->slots), .slot_count = SLOTS_LEAST};
    return s->slots;
}

void sample_free(struct sample *s)
{
    free(s->slots);
}

void sample_clear(struct sample *s)
{
    memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    s->count = 0;
    s->shift = 0;
}

static struct sampled *slot_of(const struct sample *s, uint64_t id)
{
    size_t i = hash_u64(&s->key, id) & (s->slot_count - 1);

    while (s->slots[i].id && s->slots[i].id != id)
        i = (i + 1) & (s->slot_count - 1);
    return &s->slots[i];
}

/* Doubles the table; if it has its final size, keeps half of the objects. */
static bool make_room(struct sample *s)
{
    bool can_grow = s->slot_count < SLOTS_MOST;
    struct sample next = *s;

    next.count = 0;
    next.slot_count = can_grow ? 2 * s->slot_count : s->slot_count;
    next.shift = s->shift + !can_grow;
    next.slots = calloc(next.slot_count, sizeof *next.slots);
    if (!next.slots)
        return false;
    for (size_t i = 0; i < s->slot_count; i++) {
        if (sample_selects(&next, s->slots[i].id)) {
            *slot_of(&next, s->slots[i].id) = s->slots[i];
            next.count++;
        }
    }
    free(s->slots);
    *s = next;
    return true;
}

bool sample_add(struct sample *s, uint64_t id, uint64_t position, uint64_t class_id, uint32_t class)
{
    struct sampled *slot;

    if (!sample_selects(s, id))
        return true;
    while (s->count >= s->slot_count / 4 * 3 && s->shift < 63)
        if (!make_room(s))
            return false;
    if (!sample_selects(s, id))
        return true;
    slot = slot_of(s, id);
    if (!slot->id) {
        *slot = (struct sampled){.id = id, .position = position, .class_id = class_id, .class = class};
        s->count++;
    }
    return true;
}

struct sampled *sample_find(const struct sample *s, uint64_t id)
{
    struct sampled *slot = slot_of(s, id);

    return slot->id ? slot : NULL;
}

void sample_each(const struct sample *s, void (*each)(void *context, struct sampled *one), void *context)
{
    for (size_t i = 0; i < s->slot_count; i++)
        if (s->slots[i].id)
            each(context, &s->slots[i]);
}
