/* See keymap.h. */
#include "keymap.h"

#include <string.h>

void keymap_init(struct keymap *m, struct memory *memory, const struct hash_key *key)
{
    *m = (struct keymap){.memory = memory, .hash = *key};
}

void keymap_clear(struct keymap *m)
{
    for (size_t i = 0; i < KEYMAP_PARTS; i++) {
        memory_put(m->memory, m->parts[i].slots, m->parts[i].capacity * sizeof *m->parts[i].slots);
        m->parts[i] = (struct keymap_part){0};
    }
    m->count = 0;
}

/* The slot of a key, or the free one where it would go. The part has a free slot. */
static struct keymap_slot *probe(const struct keymap_part *part, uint64_t key, uint64_t hash)
{
    /* The top bits chose the part; the low 32 are scaled to its capacity, which is no power of two. */
    size_t i = (size_t)((hash & UINT32_MAX) * part->capacity >> 32);

    while (part->slots[i].value && part->slots[i].key != key)
        if (++i == part->capacity)
            i = 0;
    return &part->slots[i];
}

static bool grow(struct keymap *m, struct keymap_part *part)
{
    struct keymap_part old = *part;

    part->capacity = old.capacity + old.capacity / 4 + 8;
    part->slots = memory_get_zeroed(m->memory, part->capacity * sizeof *part->slots);
    if (!part->slots) {
        *part = old;
        return false;
    }
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].value)
            *probe(part, old.slots[i].key, hash_u64(&m->hash, old.slots[i].key)) = old.slots[i];
    memory_put(m->memory, old.slots, old.capacity * sizeof *old.slots);
    return true;
}

uint64_t *keymap_find(const struct keymap *m, uint64_t key)
{
    uint64_t hash = hash_u64(&m->hash, key);
    const struct keymap_part *part = &m->parts[hash >> 60];
    struct keymap_slot *slot;

    if (!part->count)
        return NULL;
    slot = probe(part, key, hash);
    return slot->value ? &slot->value : NULL;
}

uint64_t *keymap_add(struct keymap *m, uint64_t key)
{
    uint64_t hash = hash_u64(&m->hash, key);
    struct keymap_part *part = &m->parts[hash >> 60];
    struct keymap_slot *slot;

    if (part->count >= part->capacity - part->capacity / 8 && !grow(m, part))
        return NULL;
    slot = probe(part, key, hash);
    if (!slot->value) {
        slot->key = key;
        part->count++;
        m->count++;
    }
    return &slot->value;
}
