/* See string_table.h. */
#include "state/string_table.h"

#include <string.h>

#include "base/utf8.h"

/* The value of an ID is the address of its text. If the text was not kept, it is the hash, with the lowest bit set and the kind of
 * name in the next three. */
enum { KIND_MASK = 7 };

struct text {
    uint64_t hash; /* and kind, as above */
    uint64_t size;
    uint32_t kept;
    uint8_t bytes[];
};

static bool is_one_of(const uint8_t *text, uint64_t size, const char *const names[])
{
    for (; *names; names++)
        if (text[0] == (uint8_t) * *names && size == strlen(*names) && memcmp(text, *names, (size_t)size) == 0)
            return true;
    return false;
}

static enum name_kind kind_of(const uint8_t *text, uint64_t size, const uint8_t last[2])
{
    static const char *const object[] = {"java/lang/Object", "java.lang.Object", NULL};
    static const char *const primitive_arrays[] = {"[Z", "boolean[]", "[C", "char[]", "[F", "float[]",
                                                   "[D", "double[]",  "[B", "byte[]", "[S", "short[]",
                                                   "[I", "int[]",     "[J", "long[]", NULL};

    if (!size)
        return NAME_OF_OTHER_CLASS;
    if (is_one_of(text, size, primitive_arrays))
        return NAME_OF_PRIMITIVE_ARRAY;
    if ((text[0] == '[' || (size > 2 && last[0] == '[' && last[1] == ']')))
        return NAME_OF_OBJECT_ARRAY;
    return is_one_of(text, size, object) ? NAME_OF_JAVA_LANG_OBJECT : NAME_OF_OTHER_CLASS;
}

void strings_init(struct strings *s, struct memory *memory, const struct hash_key *key, unsigned id_size)
{
    keymap_init(&s->by_id, memory, key, id_size, sizeof(uint64_t));
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

static uint64_t hash_of(uint64_t value)
{
    const struct text *t = kept_text(value);

    return t ? t->hash : value;
}

void strings_prefetch(const struct strings *s, uint64_t id)
{
    keymap_prefetch(&s->by_id, id);
}

enum string_state strings_define(struct strings *s, uint64_t id, uint64_t hash, uint64_t size, const uint8_t *text,
                                 const uint8_t last[2], uint64_t budget)
{
    uint64_t earlier;
    size_t kept = size < STRING_KEPT ? (size_t)size : STRING_KEPT;

    hash = (hash & ~(uint64_t)(KIND_MASK << 1 | 1)) | (uint64_t)kind_of(text, size, last) << 1 | 1;
    if (!keymap_add(&s->by_id, id, hash, &earlier)) {
        const struct text *t = kept_text(earlier);

        return (t ? t->hash == hash && t->size == size : earlier == hash) ? STRING_SAME : STRING_OTHER;
    }
    if (s->kept_bytes + kept <= budget) {
        struct text *t = arena_get(&s->texts, sizeof *t + kept);

        if (t) {
            *t = (struct text){.hash = hash, .size = size, .kept = (uint32_t)kept};
            if (kept)
                memcpy(t->bytes, text, kept);
            s->kept_bytes += sizeof *t + kept;
            keymap_put(&s->by_id, id, (uint64_t)(uintptr_t)t);
        }
    }
    return STRING_NEW;
}

enum name_kind strings_name_kind(const struct strings *s, uint64_t id)
{
    uint64_t value;

    /* A name of 0 is no name, even if a string with ID 0 is defined (SPEC.md 4.1). */
    if (!id || !keymap_get(&s->by_id, id, &value))
        return NAME_UNKNOWN;
    return (enum name_kind)(hash_of(value) >> 1 & KIND_MASK);
}

bool strings_equal(const struct strings *s, uint64_t id, uint64_t other)
{
    uint64_t value, other_value;

    return keymap_get(&s->by_id, id, &value) && keymap_get(&s->by_id, other, &other_value) &&
           hash_of(value) == hash_of(other_value);
}

bool strings_defined(const struct strings *s, uint64_t id)
{
    return keymap_get(&s->by_id, id, NULL);
}

const uint8_t *strings_text(const struct strings *s, uint64_t id, size_t *n, uint64_t *size)
{
    const struct text *t;
    uint64_t value;

    t = keymap_get(&s->by_id, id, &value) ? kept_text(value) : NULL;
    if (!t)
        return NULL;
    *n = t->kept;
    *size = t->size;
    return t->bytes;
}

bool strings_show(const struct strings *s, uint64_t id, char *to, size_t size)
{
    size_t n;
    uint64_t whole;
    const uint8_t *text = strings_text(s, id, &n, &whole);

    to[0] = '\0';
    if (text)
        utf8_show(to, size, text, n, whole > n);
    return text != NULL;
}
