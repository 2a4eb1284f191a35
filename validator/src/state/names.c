/* See names.h. */
#include "state/names.h"

#include "format/class_name.h"

static const uint64_t string_budget = USUAL_OR_SMALL(UINT64_C(1) << 28, 4 << 10); /* bytes */

void names_init(struct names *n, struct memory *memory, const struct hash_key *key, unsigned id_size)
{
    n->id_size = id_size;
    strings_init(&n->strings, memory, key, id_size);
    keymap_init(&n->classes, memory, key, id_size, sizeof(uint64_t));
}

void names_clear(struct names *n)
{
    strings_clear(&n->strings);
    keymap_clear(&n->classes);
}

void names_add_record(struct names *n, struct cursor record)
{
    const uint8_t *header = cursor_take(&record, RECORD_HEADER_SIZE);
    struct UTF8 string;
    struct LOAD_CLASS class;

    if (!header)
        return;
    if (get_u1(header) == TAG_UTF8 && read_UTF8(&record, n->id_size, &string)) {
        uint64_t length = get_u4(header + RECORD_LENGTH_AT), size = length - n->id_size;

        if (length >= n->id_size && cursor_left(&record) >= (size < STRING_KEPT ? size : STRING_KEPT))
            strings_define(&n->strings, string.id, 0, size, record.at, (const uint8_t[2]){0, 0}, string_budget);
    } else if (get_u1(header) == TAG_LOAD_CLASS && read_LOAD_CLASS(&record, n->id_size, &class)) {
        keymap_put(&n->classes, class.class_id, class.name);
    }
}

bool names_string(const struct names *n, uint64_t id, char to[NAME_ROOM])
{
    return strings_show(&n->strings, id, to, NAME_ROOM);
}

bool names_class(const struct names *n, uint64_t class_id, char to[NAME_ROOM])
{
    uint64_t string;

    to[0] = '\0';
    if (!keymap_get(&n->classes, class_id, &string) || !names_string(n, string, to))
        return false;
    show_class_name(to, NAME_ROOM);
    return true;
}
