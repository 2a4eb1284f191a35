/* The strings that UTF8 records defined: whether an ID is, with which bytes, and, within a budget, the text to show. */
#ifndef HPROF_STRING_TABLE_H
#define HPROF_STRING_TABLE_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/keymap.h"

enum { STRING_KEPT = 400 }; /* bytes of a string that are kept to be shown */

struct strings {
    struct keymap by_id;
    struct arena texts;
    uint64_t kept_bytes;
};

enum string_state { STRING_NEW, STRING_SAME, STRING_OTHER };

void strings_init(struct strings *s, struct memory *memory, const struct hash_key *key, unsigned id_size);
void strings_clear(struct strings *s);

/* Defines a string. hash and size are those of all its bytes; `text` are its first bytes, at most STRING_KEPT; `last` its last
 * two, if it has so many. Its text is kept while all texts take no more than `budget`. Tells whether the ID was defined before;
 * the first definition stays. */
enum string_state strings_define(struct strings *s, uint64_t id, uint64_t hash, uint64_t size, const uint8_t *text,
                                 const uint8_t last[2], uint64_t budget);

/* What a string says of the class that it names, known of all strings, kept or not. */
enum name_kind { NAME_UNKNOWN, NAME_OF_OBJECT_ARRAY, NAME_OF_PRIMITIVE_ARRAY, NAME_OF_JAVA_LANG_OBJECT, NAME_OF_OTHER_CLASS };
enum name_kind strings_name_kind(const struct strings *s, uint64_t id);

static inline bool is_array_name(enum name_kind kind)
{
    return kind == NAME_OF_OBJECT_ARRAY || kind == NAME_OF_PRIMITIVE_ARRAY;
}

/* Whether two strings are defined and have the same bytes. */
bool strings_equal(const struct strings *s, uint64_t id, uint64_t other);

bool strings_defined(const struct strings *s, uint64_t id);

/* The bytes kept of a string, *n of them, of *size in all; NULL if it is not defined or was not kept. */
const uint8_t *strings_text(const struct strings *s, uint64_t id, size_t *n, uint64_t *size);

#endif
