/* The strings that UTF8 records define: a hash of each, and, within a budget, its text. */
#ifndef HPROF_STRING_TABLE_H
#define HPROF_STRING_TABLE_H

#include "base/byte_log.h"
#include "base/keymap.h"

enum { STRING_KEPT = 400 }; /* bytes of a string that are kept, to be shown */

enum { RECENT_GROUPS = 8 }; /* consecutive IDs cycle through eight groups */

struct strings {
    struct keymap groups; /* of neighbouring IDs: see string_table.c */
    struct recent_group {
        uint64_t key; /* 0 for none */
        uint8_t *value;
    } recent[RECENT_GROUPS];
    unsigned moves; /* of `groups`, when the values were there */
    struct byte_log log;
    uint64_t kept_bytes;
};

enum string_state { STRING_NEW, STRING_SAME, STRING_OTHER };

void strings_init(struct strings *s, struct memory *memory, const struct hash_key *key, unsigned id_size);
void strings_clear(struct strings *s);

/* Defines a string, unless its ID is defined already: the first definition stays. Returns whether the ID was defined, and with the
 * same bytes. `hash` and `size` are those of all bytes; `text` has the first ones, at most STRING_KEPT; `last` has the last two, if
 * there are two. The text is kept while all texts together take at most `budget` bytes. */
enum string_state strings_define(struct strings *s, uint64_t id, uint64_t hash, uint64_t size, const uint8_t *text,
                                 const uint8_t last[2], uint64_t budget);

/* What kind of class a string names; known even if its text was not kept. */
enum name_kind {
    NAME_UNKNOWN,
    NAME_OF_OBJECT_ARRAY,
    NAME_OF_PRIMITIVE_ARRAY,
    NAME_OF_JAVA_LANG_OBJECT,
    NAME_OF_JAVA_LANG_THREAD,
    NAME_OF_JAVA_LANG_CLASS_LOADER,
    NAME_OF_JAVA_LANG_CLASS,
    NAME_OF_OTHER_CLASS
};
enum name_kind strings_name_kind(const struct strings *s, uint64_t id);

static inline bool is_array_name(enum name_kind kind)
{
    return kind == NAME_OF_OBJECT_ARRAY || kind == NAME_OF_PRIMITIVE_ARRAY;
}

/* Writes a printable text to a buffer, shortened to fit; "" if the string is unknown. Returns whether its text was kept. */
bool strings_show(const struct strings *s, uint64_t id, char *to, size_t size);

/* Whether two strings are defined and have the same bytes. */
bool strings_equal(const struct strings *s, uint64_t id, uint64_t other);

bool strings_defined(const struct strings *s, uint64_t id);

/* The first bytes of a string. False if it is undefined or was not kept. */
struct string_text {
    uint64_t size; /* of the string */
    size_t kept;   /* bytes */
    uint8_t bytes[STRING_KEPT];
};
bool strings_text(const struct strings *s, uint64_t id, struct string_text *text);

/* Whether that is all of the text, and this one. */
bool string_is(const struct string_text *text, const char *other);

/* Whether it is the name of a class that has lost its own, and --repair gave it this one: unknown/Class_0x7f00, or of arrays. */
bool string_is_stand_in(const struct string_text *text);

#endif
