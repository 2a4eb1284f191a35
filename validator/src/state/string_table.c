/* See string_table.h. */
#include "state/string_table.h"

#include <string.h>

#include "base/utf8.h"
#include "format/cursor.h"
#include "format/native.h"
#include "state/id_set.h"

/* A log holds an entry for each string, in the order of the definitions. 16 IDs that are adjacent by id_to_key() form a group. The
 * value of a group says which of its IDs are defined and where the latest of their entries is; each entry leads to the one before
 * it. So a definition among dense IDs is in the cache and takes little more than its entry. */
enum { GROUP_BITS = 4, GROUP_IDS = 1 << GROUP_BITS };

/* An entry is a number: the lowest bits of the key, the kind of name, HAS_TEXT, and from HASH_SHIFT on the hash. The distance to
 * the entry of the group that was defined before it follows, 0 for none, and, if the text was kept, its size and its first
 * bytes. */
enum { KIND_SHIFT = GROUP_BITS, KIND_MASK = 7, HAS_TEXT = 128, HASH_SHIFT = 8, ENTRY_SIZE = 7 };

enum { TEXT_COST = 24 }; /* counts against the budget for each text, besides its bytes */

static bool is_one_of(const uint8_t *text, uint64_t size, const char *const names[])
{
    for (; *names; names++)
        if (text[0] == (uint8_t) * *names && size == strlen(*names) && memcmp(text, *names, (size_t)size) == 0)
            return true;
    return false;
}

static enum name_kind kind_of(const uint8_t *text, uint64_t size, const uint8_t last[2])
{
    static const char *const names[][3] = {
        [NAME_OF_JAVA_LANG_OBJECT] = {"java/lang/Object", "java.lang.Object"},
        [NAME_OF_JAVA_LANG_THREAD] = {"java/lang/Thread", "java.lang.Thread"},
        [NAME_OF_JAVA_LANG_CLASS_LOADER] = {"java/lang/ClassLoader", "java.lang.ClassLoader"},
        [NAME_OF_JAVA_LANG_CLASS] = {"java/lang/Class", "java.lang.Class"},
    };
    static const char *const primitive_arrays[] = {"[Z", "boolean[]", "[C", "char[]", "[F", "float[]",
                                                   "[D", "double[]",  "[B", "byte[]", "[S", "short[]",
                                                   "[I", "int[]",     "[J", "long[]", NULL};

    if (size && (text[0] == '[' || (size > 2 && last[0] == '[' && last[1] == ']')))
        return is_one_of(text, size, primitive_arrays) ? NAME_OF_PRIMITIVE_ARRAY : NAME_OF_OBJECT_ARRAY;
    for (unsigned kind = NAME_OF_JAVA_LANG_OBJECT; size && kind <= NAME_OF_JAVA_LANG_CLASS; kind++)
        if (is_one_of(text, size, names[kind]))
            return (enum name_kind)kind;
    return NAME_OF_OTHER_CLASS;
}

void strings_init(struct strings *s, struct memory *memory, const struct hash_key *key, unsigned id_size)
{
    keymap_init(&s->groups, memory, key, id_size, sizeof(uint64_t));
    memset(s->recent, 0, sizeof s->recent);
    s->moves = 0;
    byte_log_init(&s->log, memory);
    s->kept_bytes = 0;
}

void strings_clear(struct strings *s)
{
    keymap_clear(&s->groups);
    memset(s->recent, 0, sizeof s->recent);
    byte_log_clear(&s->log);
}

/* The value of a group: a bit for each ID that is defined, and the offset of the latest entry. */
static uint64_t group_value(uint64_t defined, uint64_t latest)
{
    return latest << GROUP_IDS | defined;
}

static bool is_defined(uint64_t group, unsigned low)
{
    return group >> low & 1;
}

static uint64_t latest_entry(uint64_t group)
{
    return group >> GROUP_IDS;
}

/* The key of an ID's group, which is not 0. */
static uint64_t group_of(const struct strings *s, uint64_t id, unsigned *low)
{
    uint64_t key = id_to_key(id, s->groups.key_size);

    *low = (unsigned)key & (GROUP_IDS - 1);
    return (key >> GROUP_BITS) + 1;
}

/* Where the value of a group is, which is 0 if there is no such group yet. NULL if memory runs out. */
static uint8_t *claim_group(struct strings *s, uint64_t group, uint64_t id)
{
    struct recent_group *recent = &s->recent[id % RECENT_GROUPS];
    uint8_t *value;

    if (recent->key == group)
        return recent->value;
    value = keymap_claim(&s->groups, group);
    if (s->moves != s->groups.moves)
        memset(s->recent, 0, sizeof s->recent);
    s->moves = s->groups.moves;
    *recent = (struct recent_group){value ? group : 0, value};
    return value;
}

static bool have_equal_hashes(uint64_t entry, uint64_t other)
{
    return (entry ^ other) >> HASH_SHIFT == 0;
}

/* The entry of an ID that is defined; *next is the offset of what follows the distance. */
static uint64_t entry_of(const struct strings *s, uint64_t group, unsigned low, uint64_t *next)
{
    uint64_t at = latest_entry(group);

    for (;;) {
        uint8_t bytes[8] = {0};
        uint64_t entry, distance;

        byte_log_read(&s->log, at, bytes, ENTRY_SIZE);
        entry = get_u8(bytes) >> 8;
        *next = at + ENTRY_SIZE;
        distance = byte_log_read_number(&s->log, next);
        if ((entry & (GROUP_IDS - 1)) == low)
            return entry;
        at -= distance;
    }
}

/* False if the ID is undefined. */
static bool find_entry(const struct strings *s, uint64_t id, uint64_t *entry, uint64_t *next)
{
    uint64_t group;
    unsigned low;

    if (!keymap_get(&s->groups, group_of(s, id, &low), &group) || !is_defined(group, low))
        return false;
    *entry = entry_of(s, group, low, next);
    return true;
}

/* Appends the entry of a string. False if memory ran out. */
static bool append(struct strings *s, uint64_t entry, uint64_t distance, uint64_t size, const uint8_t *text, uint64_t budget)
{
    uint8_t bytes[ENTRY_SIZE + 2 * NUMBER_MOST];
    size_t n = ENTRY_SIZE, kept = size < STRING_KEPT ? (size_t)size : STRING_KEPT;
    bool has_text = s->kept_bytes + kept <= budget;

    native_store(bytes, 8, FROM_BIG_ENDIAN(64, (entry | (has_text ? HAS_TEXT : 0)) << 8)); /* its last byte is overwritten */
    n += write_number(bytes + n, distance);
    if (!has_text)
        return byte_log_append(&s->log, bytes, n);
    n += write_number(bytes + n, size);
    s->kept_bytes += TEXT_COST + kept;
    return byte_log_append(&s->log, bytes, n) && byte_log_append(&s->log, text, kept);
}

enum string_state strings_define(struct strings *s, uint64_t id, uint64_t hash, uint64_t size, const uint8_t *text,
                                 const uint8_t last[2], uint64_t budget)
{
    unsigned low;
    uint8_t *value = claim_group(s, group_of(s, id, &low), id);
    uint64_t group, at = s->log.size, next;
    uint64_t entry = low | (uint64_t)kind_of(text, size, last) << KIND_SHIFT | hash >> 16 << HASH_SHIFT;

    if (!value)
        return STRING_NEW;
    group = native_load(value, sizeof group);
    if (is_defined(group, low))
        return have_equal_hashes(entry_of(s, group, low, &next), entry) ? STRING_SAME : STRING_OTHER;
    if (append(s, entry, group ? at - latest_entry(group) : 0, size, text, budget))
        native_store(value, sizeof group, group_value((group & (((uint64_t)1 << GROUP_IDS) - 1)) | UINT64_C(1) << low, at));
    return STRING_NEW;
}

enum name_kind strings_name_kind(const struct strings *s, uint64_t id)
{
    uint64_t entry, next;

    /* A name of 0 is no name, even if a string with ID 0 is defined (SPEC.md 4.1). */
    if (!id || !find_entry(s, id, &entry, &next))
        return NAME_UNKNOWN;
    return (enum name_kind)(entry >> KIND_SHIFT & KIND_MASK);
}

bool strings_equal(const struct strings *s, uint64_t id, uint64_t other)
{
    uint64_t entry, other_entry, next;

    return find_entry(s, id, &entry, &next) && find_entry(s, other, &other_entry, &next) &&
           have_equal_hashes(entry, other_entry);
}

bool strings_defined(const struct strings *s, uint64_t id)
{
    uint64_t group;
    unsigned low;

    return keymap_get(&s->groups, group_of(s, id, &low), &group) && is_defined(group, low);
}

bool strings_text(const struct strings *s, uint64_t id, struct string_text *text)
{
    uint64_t entry, next;

    if (!find_entry(s, id, &entry, &next) || !(entry & HAS_TEXT))
        return false;
    text->size = byte_log_read_number(&s->log, &next);
    text->kept = text->size < STRING_KEPT ? (size_t)text->size : STRING_KEPT;
    byte_log_read(&s->log, next, text->bytes, text->kept);
    return true;
}

bool string_is(const struct string_text *text, const char *other)
{
    return text->size == strlen(other) && memcmp(text->bytes, other, text->kept) == 0;
}

bool string_is_stand_in(const struct string_text *text)
{
    static const char *const starts[] = {"unknown/Class_0x", "[Lunknown/Class_0x", "unknown.Class_0x"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (text->kept >= strlen(starts[i]) && memcmp(text->bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

bool strings_show(const struct strings *s, uint64_t id, char *to, size_t size)
{
    struct string_text text;

    to[0] = '\0';
    if (!strings_text(s, id, &text))
        return false;
    utf8_show(to, size, text.bytes, text.kept, text.size > text.kept);
    return true;
}
