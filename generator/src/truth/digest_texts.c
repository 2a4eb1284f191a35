/* See digest_texts.h. */
#include "truth/digest_texts.h"

#include "base/utf8.h"
#include "stream/encode.h"

enum { UNIT = 2, REPLACEMENT = 0xFFFD };

void texts_init(struct texts *t, struct memory *memory, const struct hash_key *key)
{
    *t = (struct texts){.memory = memory};
    item_init(&t->units, memory);
    keymap_init(&t->by_id, memory, key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&t->by_serial, memory, key, sizeof(uint32_t), sizeof(uint64_t));
    keymap_init(&t->first_of_id, memory, key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&t->last_of_id, memory, key, sizeof(uint64_t), sizeof(uint64_t));
}

void texts_clear(struct texts *t)
{
    item_clear(&t->units);
    keymap_clear(&t->by_id);
    keymap_clear(&t->by_serial);
    keymap_clear(&t->first_of_id);
    keymap_clear(&t->last_of_id);
    memory_put(t->memory, t->strings, t->string_capacity * sizeof *t->strings);
    memory_put(t->memory, t->meanings, t->meaning_capacity * sizeof *t->meanings);
}

/* ---- Strings ---- */

static void put_unit(struct texts *t, uint32_t unit)
{
    uint8_t *p = item_extend(&t->units, UNIT);

    if (p)
        put_u2(p, (uint16_t)unit);
}

/* A character of valid UTF-8. Surrogates come in three bytes each, and are units as they are. */
static const uint8_t *put_character(struct texts *t, const uint8_t *p)
{
    static const uint8_t firsts[] = {0x7F, 0x1F, 0x0F, 0x07};
    unsigned more = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
    uint32_t character = *p++ & firsts[more];

    for (; more; more--)
        character = character << 6 | (*p++ & 0x3F);
    if (character > UINT16_MAX) {
        put_unit(t, 0xD800 + ((character - 0x10000) >> 10));
        character = 0xDC00 + (character & 0x3FF);
    }
    put_unit(t, character);
    return p;
}

static struct text decode(struct texts *t, const uint8_t *utf8, size_t size)
{
    size_t at = t->units.size;

    if (utf8_valid(utf8, size) == size)
        for (const uint8_t *p = utf8; p < utf8 + size;)
            p = put_character(t, p);
    else
        put_unit(t, REPLACEMENT);
    return (struct text){at, t->units.size - at};
}

const struct text *texts_add(struct texts *t, uint64_t id, const uint8_t *utf8, size_t size)
{
    void *strings = t->strings;

    if (keymap_get(&t->by_id, id, NULL))
        return NULL;
    if (!memory_grow(t->memory, &strings, &t->string_capacity, t->string_count + 1, sizeof *t->strings))
        return NULL;
    t->strings = strings;
    if (!keymap_put(&t->by_id, id, t->string_count))
        return NULL;
    t->strings[t->string_count] = decode(t, utf8, size);
    return &t->strings[t->string_count++];
}

struct text texts_find(const struct texts *t, uint64_t string_id)
{
    uint64_t index;

    return keymap_get(&t->by_id, string_id, &index) ? t->strings[index] : (struct text){0, 0};
}

bool texts_is(const struct texts *t, struct text text, const char *ascii)
{
    size_t n = strlen(ascii);
    bool same = text.size == UNIT * n;

    for (size_t i = 0; same && i < n; i++)
        same = get_u2(t->units.bytes + text.at + UNIT * i) == (unsigned char)ascii[i];
    return same;
}

void texts_put(const struct texts *t, struct item *item, struct text text)
{
    item_part(item, text.size ? t->units.bytes + text.at : NULL, text.size);
}

/* ---- Names of classes ---- */

static struct meaning *latest_meaning(struct texts *t, uint64_t class_id)
{
    uint64_t index;

    return keymap_get(&t->last_of_id, class_id, &index) ? &t->meanings[index] : NULL;
}

void texts_load(struct texts *t, uint32_t serial, uint64_t class_id, uint64_t name_id)
{
    struct meaning *latest = latest_meaning(t, class_id);
    void *meanings = t->meanings;
    uint64_t first;

    keymap_put(&t->by_serial, serial, class_id);
    if (latest && latest->ended == NOT_ENDED)
        return;
    if (latest)
        latest->next = t->meaning_count + 1;
    if (!memory_grow(t->memory, &meanings, &t->meaning_capacity, t->meaning_count + 1, sizeof *t->meanings))
        return;
    t->meanings = meanings;
    t->meanings[t->meaning_count] = (struct meaning){.name_id = name_id, .serial = serial, .ended = NOT_ENDED};
    keymap_add(&t->first_of_id, class_id, t->meaning_count, &first);
    keymap_put(&t->last_of_id, class_id, t->meaning_count++);
}

void texts_unload(struct texts *t, uint32_t serial)
{
    uint64_t class_id;
    struct meaning *latest = keymap_get(&t->by_serial, serial, &class_id) ? latest_meaning(t, class_id) : NULL;

    if (latest && latest->ended == NOT_ENDED && latest->serial == serial)
        latest->ended = ++t->ended;
}

/* The letter of a primitive type in descriptors; 0 for any other name. */
static char type_letter(const struct texts *t, struct text name)
{
    static const struct {
        const char *name;
        char letter;
    } types[] = {{"boolean", 'Z'}, {"char", 'C'},  {"float", 'F'}, {"double", 'D'},
                 {"byte", 'B'},    {"short", 'S'}, {"int", 'I'},   {"long", 'J'}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (texts_is(t, name, types[i].name))
            return types[i].letter;
    return 0;
}

/* The units of a name, each '.' as '/'. */
static void put_with_slashes(struct texts *t, struct text name)
{
    for (size_t i = 0; i < name.size && !t->memory->exhausted; i += UNIT) {
        uint16_t unit = get_u2(t->units.bytes + name.at + i);

        put_unit(t, unit == '.' ? '/' : unit);
    }
}

/* "java.lang.String[]" becomes "[Ljava/lang/String;", and "char[]" becomes "[C". */
static struct text normalize(struct texts *t, struct text name)
{
    size_t at = t->units.size, dimensions = 0;
    struct text element = name;
    bool is_descriptor;
    char letter;

    while (element.size >= 2 * UNIT && texts_is(t, (struct text){element.at + element.size - 2 * UNIT, 2 * UNIT}, "[]")) {
        element.size -= 2 * UNIT;
        dimensions++;
    }
    for (size_t i = 0; i < dimensions; i++)
        put_unit(t, '[');
    letter = dimensions ? type_letter(t, element) : 0;
    is_descriptor = !dimensions || (element.size && texts_is(t, (struct text){element.at, UNIT}, "["));
    if (letter) {
        put_unit(t, (unsigned char)letter);
    } else if (is_descriptor) {
        put_with_slashes(t, element);
    } else {
        put_unit(t, 'L');
        put_with_slashes(t, element);
        put_unit(t, ';');
    }
    return (struct text){at, t->units.size - at};
}

struct text texts_class_name(struct texts *t, uint64_t class_id, uint64_t ended)
{
    const struct meaning *m;
    uint64_t first;

    if (!keymap_get(&t->first_of_id, class_id, &first))
        return normalize(t, (struct text){0});
    m = &t->meanings[first];
    while (m->next && m->ended <= ended)
        m = &t->meanings[m->next - 1];
    return normalize(t, texts_find(t, m->ended <= ended ? t->meanings[first].name_id : m->name_id));
}
