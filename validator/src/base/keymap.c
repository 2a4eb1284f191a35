/* See keymap.h. */
#include "base/keymap.h"

#include "format/native.h"

void keymap_init(struct keymap *m, struct memory *memory, const struct hash_key *key, unsigned key_size, unsigned value_size)
{
    *m = (struct keymap){.memory = memory, .hash = *key, .key_size = key_size, .value_size = value_size};
}

static size_t slot_size(const struct keymap *m)
{
    return m->key_size + m->value_size;
}

void keymap_clear(struct keymap *m)
{
    for (size_t i = 0; i < KEYMAP_PARTS; i++) {
        memory_put(m->memory, m->parts[i].slots, m->parts[i].capacity * slot_size(m));
        m->parts[i] = (struct keymap_part){0};
    }
    m->count = 0;
    m->has_zero = false;
    memset(m->value_of_zero, 0, sizeof m->value_of_zero);
}

/* Where the search for a key begins. The top bits of the hash chose the part; the low 32 bits are scaled to its capacity, which is
 * not a power of two. */
static size_t first_slot(const struct keymap_part *part, uint64_t hash)
{
    return (size_t)((hash & UINT32_MAX) * part->capacity >> 32);
}

/* The slot of a key, or the free slot for it. The part must have a free slot. */
static uint8_t *probe(const struct keymap *m, const struct keymap_part *part, uint64_t key, uint64_t hash)
{
    size_t i = first_slot(part, hash);

    for (;;) {
        uint8_t *slot = part->slots + i * slot_size(m);
        uint64_t there = native_load(slot, m->key_size);

        if (!there || there == key)
            return slot;
        if (++i == part->capacity)
            i = 0;
    }
}

/* A small part doubles, which takes fewer copies and makes searches shorter. From then on each part is a little larger than the one
 * before, the last not quite a quarter larger than the first, so that they grow in turn. */
static size_t next_capacity(size_t capacity, size_t part)
{
    enum { FIRST = 8, DOUBLED_MAX = 2048 };

    if (capacity < DOUBLED_MAX)
        return capacity ? 2 * capacity : FIRST;
    return capacity == DOUBLED_MAX ? 2 * capacity + part * (capacity / 16) : capacity + capacity / 4;
}

static bool grow(struct keymap *m, struct keymap_part *part)
{
    struct keymap_part old = *part;
    size_t size = slot_size(m);

    part->capacity = next_capacity(old.capacity, (size_t)(part - m->parts));
    part->slots = memory_get_zeroed(m->memory, part->capacity * size);
    if (!part->slots) {
        *part = old;
        return false;
    }
    for (size_t i = 0; i < old.capacity; i++) {
        const uint8_t *slot = old.slots + i * size;
        uint64_t key = native_load(slot, m->key_size);

        if (key)
            memcpy(probe(m, part, key, hash_u64(&m->hash, key)), slot, size);
    }
    memory_put(m->memory, old.slots, old.capacity * size);
    m->moves++;
    return true;
}

bool keymap_get(const struct keymap *m, uint64_t key, uint64_t *value)
{
    uint64_t hash = hash_u64(&m->hash, key);
    const struct keymap_part *part = &m->parts[hash >> 62];
    const uint8_t *found = m->has_zero ? m->value_of_zero : NULL;

    if (key) {
        const uint8_t *slot = part->count ? probe(m, part, key, hash) : NULL;

        found = slot && native_load(slot, m->key_size) ? slot + m->key_size : NULL;
    }
    if (found && value)
        *value = native_load(found, m->value_size);
    return found;
}

static uint8_t *claim(struct keymap *m, uint64_t key, bool *is_new)
{
    uint64_t hash = hash_u64(&m->hash, key);
    struct keymap_part *part = &m->parts[hash >> 62];
    uint8_t *slot;

    if (!key) {
        *is_new = !m->has_zero;
        m->count += *is_new;
        m->has_zero = true;
        return m->value_of_zero;
    }
    if (part->count >= part->capacity - part->capacity / 4 && !grow(m, part))
        return NULL;
    slot = probe(m, part, key, hash);
    *is_new = !native_load(slot, m->key_size);
    if (*is_new) {
        native_store(slot, m->key_size, key);
        part->count++;
        m->count++;
    }
    return slot + m->key_size;
}

uint8_t *keymap_claim(struct keymap *m, uint64_t key)
{
    bool is_new;

    return claim(m, key, &is_new);
}

bool keymap_put(struct keymap *m, uint64_t key, uint64_t value)
{
    bool is_new;
    uint8_t *to = claim(m, key, &is_new);

    if (to)
        native_store(to, m->value_size, value);
    return to != NULL;
}

bool keymap_add(struct keymap *m, uint64_t key, uint64_t value, uint64_t *earlier)
{
    bool is_new;
    uint8_t *to = claim(m, key, &is_new);

    if (!to)
        return true;
    if (is_new)
        native_store(to, m->value_size, value);
    else
        *earlier = native_load(to, m->value_size);
    return is_new;
}

void keymap_each(const struct keymap *m, void (*each)(void *context, uint64_t key, uint64_t value), void *context)
{
    if (m->has_zero)
        each(context, 0, native_load(m->value_of_zero, m->value_size));
    for (size_t i = 0; i < KEYMAP_PARTS; i++)
        for (size_t j = 0; j < m->parts[i].capacity; j++) {
            const uint8_t *slot = m->parts[i].slots + j * slot_size(m);
            uint64_t key = native_load(slot, m->key_size);

            if (key)
                each(context, key, native_load(slot + m->key_size, m->value_size));
        }
}
