/* See string_table.h. */
#include "string_table.h"

#include <string.h>

/* The value of an ID is the address of a text, or, where it was not kept, the hash with the lowest bit set. */
struct text {
    uint64_t hash;
    uint64_t size;
    uint32_t kept;
    uint8_t bytes[];
};

void strings_init(struct strings *s, struct memory *memory, const struct hash_key *key)
{
    keymap_init(&s->by_id, memory, key);
    arena_init(&s->texts, memory);
    s->kept_bytes = 0;
}

void strings_clear(struct strings *s)
{
    keymap_clear(&s->by_id);
    arena_clear(&s->texts);
}

static const struct text *kept_text(uint64_t value)
{
    return value & 1 ? NULL : (const struct text *)(uintptr_t)value;
}

enum string_state strings_define(struct strings *s, uint64_t id, uint64_t hash, uint64_t size, const uint8_t *text,
                                 uint64_t budget)
{
    uint64_t *value = keymap_add(&s->by_id, id);
    size_t kept = size < STRING_KEPT ? (size_t)size : STRING_KEPT;

    if (!value)
        return STRING_NEW;
    hash |= 1;
    if (*value) {
        const struct text *earlier = kept_text(*value);

        return (earlier ? earlier->hash == hash && earlier->size == size : *value == hash) ? STRING_SAME : STRING_OTHER;
    }
    *value = hash;
    if (s->kept_bytes + kept <= budget) {
        struct text *t = arena_get(&s->texts, sizeof *t + kept);

        if (t) {
            *t = (struct text){.hash = hash, .size = size, .kept = (uint32_t)kept};
            if (kept)
                memcpy(t->bytes, text, kept);
            s->kept_bytes += sizeof *t + kept;
            *value = (uint64_t)(uintptr_t)t;
        }
    }
    return STRING_NEW;
}

bool strings_defined(const struct strings *s, uint64_t id)
{
    return keymap_find(&s->by_id, id) != NULL;
}

const uint8_t *strings_text(const struct strings *s, uint64_t id, size_t *n, uint64_t *size)
{
    const uint64_t *value = keymap_find(&s->by_id, id);
    const struct text *t = value ? kept_text(*value) : NULL;

    if (!t)
        return NULL;
    *n = t->kept;
    *size = t->size;
    return t->bytes;
}
