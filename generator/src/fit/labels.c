/* See labels.h. */
#include "fit/labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "fit/jdk_names.h"
#include "format/format.h"

const char *type_word(uint8_t type)
{
    static const char *const words[] = {[TYPE_OBJECT] = "object", [TYPE_BOOLEAN] = "boolean", [TYPE_CHAR] = "char",
                                        [TYPE_FLOAT] = "float",   [TYPE_DOUBLE] = "double",   [TYPE_BYTE] = "byte",
                                        [TYPE_SHORT] = "short",   [TYPE_INT] = "int",         [TYPE_LONG] = "long"};

    return type < sizeof words / sizeof *words && words[type] ? words[type] : "?";
}

/* ---- Classes by their names ---- */

struct by_name {
    uint64_t hash;
    uint32_t class;
};

struct names {
    struct hash_key key;
    struct by_name *at;
    size_t count;
};

static bool is_less(const void *a, const void *b)
{
    const struct by_name *one = a, *other = b;

    return one->hash != other->hash ? one->hash < other->hash : one->class < other->class;
}

static uint64_t hash_of(const struct names *names, const char *text, size_t size)
{
    struct byte_hash h;

    byte_hash_begin(&h, &names->key);
    byte_hash_add(&h, &names->key, text, size);
    return byte_hash_end(&h, &names->key);
}

/* The text of its name, as in class files; false if it has none. */
static bool name_of(struct gathered *g, uint32_t number, const char **text, size_t *size)
{
    struct hprof_class class;

    hprof_class_init(&class);
    return hprof_class_at(g->reader, number - FIRST_CLASS, &class) == 1 && class.name_id &&
           hprof_string(g->reader, class.name_id, text, size) == 1 && *size;
}

static bool index_names(struct gathered *g, struct names *names)
{
    const char *text;
    size_t size;

    *names = (struct names){.key = hash_key_draw(), .at = malloc(g->class_count * sizeof *names->at)};
    if (!names->at)
        return false;
    for (uint32_t i = FIRST_CLASS; i < g->class_count; i++)
        if (name_of(g, i, &text, &size))
            names->at[names->count++] = (struct by_name){hash_of(names, text, size), i};
    sort_in_place(names->at, names->count, sizeof *names->at, is_less);
    return true;
}

/* The first class with this name; 0 if there is none. */
static uint32_t find_class(const struct names *names, const char *text, size_t size)
{
    uint64_t hash = hash_of(names, text, size);
    size_t low = 0, high = names->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (names->at[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->count && names->at[low].hash == hash ? names->at[low].class : 0;
}

/* ---- Labels ---- */

static uint8_t type_of_letter(char letter)
{
    static const char letters[] = "ZCFDBSIJ";
    const char *found = letter ? strchr(letters, letter) : NULL;

    return found ? (uint8_t)(TYPE_BOOLEAN + (found - letters)) : 0;
}

/* The agent writes "java.lang.String" and "java.lang.String[]". */
static uint32_t jdk_class(const char *text, size_t size)
{
    char name[LABEL_SIZE];

    if (size >= sizeof name)
        return JDK_NAME_NONE;
    for (size_t i = 0; i < size; i++)
        name[i] = text[i] == '.' ? '/' : text[i];
    return jdk_name_number(name, size);
}

static uint8_t type_of_word(const char *text, size_t size)
{
    for (uint8_t type = TYPE_BOOLEAN; type <= TYPE_LONG; type++)
        if (strlen(type_word(type)) == size && memcmp(type_word(type), text, size) == 0)
            return type;
    return 0;
}

static struct label label_of(struct gathered *g, const struct names *names, uint32_t number)
{
    struct label label = {0};
    const char *text;
    size_t size;

    if (number < FIRST_CLASS)
        return (struct label){.type = (uint8_t)(number + FIRST_PRIMITIVE), .dimensions = 1, .has_name = true};
    label.has_name = name_of(g, number, &text, &size);
    if (!label.has_name)
        return label;
    g->has_dotted_names |= size == strlen("java.lang.Object") && memcmp(text, "java.lang.Object", size) == 0;
    while (size > 1 && *text == '[' && label.dimensions < UINT8_MAX) {
        label.dimensions++;
        text++;
        size--;
    }
    if (label.dimensions && size == 1)
        label.type = type_of_letter(*text);
    if (label.dimensions && size > 2 && *text == 'L' && text[size - 1] == ';') {
        text++;
        size -= 2;
    }
    if (!label.dimensions) {
        for (; size > 2 && memcmp(text + size - 2, "[]", 2) == 0 && label.dimensions < UINT8_MAX; size -= 2)
            label.dimensions++;
        label.type = label.dimensions ? type_of_word(text, size) : 0;
    }
    if (!label.type)
        label.jdk = jdk_class(text, size);
    if (label.dimensions && !label_is_kept(&label))
        label.element = find_class(names, text, size);
    return label;
}

struct label *labels_new(struct gathered *g)
{
    struct label *labels = malloc(g->class_count * sizeof *labels);
    struct names names;

    if (!labels || !index_names(g, &names)) {
        free(labels);
        return NULL;
    }
    for (uint32_t i = 0; i < g->class_count; i++)
        labels[i] = label_of(g, &names, i);
    free(names.at);
    return labels;
}

void label_write(const struct label *labels, uint32_t class, char out[LABEL_SIZE])
{
    const struct label *label = &labels[class];
    size_t n;

    if (label->jdk) {
        n = (size_t)snprintf(out, LABEL_SIZE, "%s", jdk_name_text(label->jdk));
        for (char *p = out; *p; p++)
            *p = *p == '/' ? '.' : *p;
    } else if (label->type) {
        n = (size_t)snprintf(out, LABEL_SIZE, "%s", type_word(label->type));
    } else {
        n = (size_t)snprintf(out, LABEL_SIZE, "class%" PRIu32, label->element ? label->element : class);
    }
    for (unsigned i = 0; i < label->dimensions && n + 3 < LABEL_SIZE; i++, n += 2)
        memcpy(out + n, "[]", 3);
}
