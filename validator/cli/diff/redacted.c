#include "redacted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "content/read_object.h"
#include "content/shapes.h"

enum {
    TAG_UTF8 = 0x01,
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SUB_PRIMITIVE_ARRAY_NODATA = 0xc3,
    TYPE_FLOAT = 6,
    TYPE_DOUBLE = 7,
    CHUNK = 1 << 16
};

const char *const leak_names[LEAKS] = {"values", "strings that are no names", "undefined records and damage", "text of A"};
const char *const leak_keys[LEAKS] = {"values", "strings", "records", "texts"};

static const char *const type_names[VALUE_TYPES] = {
    [4] = "boolean", [5] = "char", [6] = "float", [7] = "double", [8] = "byte", [9] = "short", [10] = "int", [11] = "long"};

/* ---- Constants --------------------------------------------------------------------------------------------------- */

static bool parse_bits(const char *text, unsigned type, uint64_t *bits)
{
    char *end;

    errno = 0;
    if (type == TYPE_FLOAT) {
        float value = strtof(text, &end);
        uint32_t four;

        memcpy(&four, &value, sizeof four);
        *bits = four;
    } else if (type == TYPE_DOUBLE) {
        double value = strtod(text, &end);

        memcpy(bits, &value, sizeof *bits);
    } else {
        unsigned width = 8 * size_of_type((uint8_t)type, 0);
        long long value = strtoll(text, &end, 0);

        *bits = (uint64_t)value & (width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1);
        if (width < 64 && (value >= 1LL << width || value < -(1LL << (width - 1))))
            return false;
    }
    return end != text && *end == '\0' && errno == 0;
}

static bool take_constant(struct redaction *r, const char *word, size_t size)
{
    char text[64];
    char *value;

    if (size >= sizeof text)
        return false;
    memcpy(text, word, size);
    text[size] = '\0';
    value = strchr(text, '=');
    if (value == NULL)
        return false;
    *value++ = '\0';
    for (unsigned type = 0; type < VALUE_TYPES; type++)
        if (type_names[type] != NULL && strcmp(type_names[type], text) == 0)
            return parse_bits(value, type, &r->constants[type]);
    return false;
}

bool redaction_constants(struct redaction *r, const char *text)
{
    for (;;) {
        size_t size = strcspn(text, ",");

        if (!take_constant(r, text, size))
            return false;
        if (text[size] == '\0')
            return true;
        text += size + 1;
    }
}

/* ---- What is found ----------------------------------------------------------------------------------------------- */

void add_leak(struct redaction *r, enum leak_kind kind, uint64_t offset, const char *text)
{
    struct leak *leak;

    if (r->counts[kind]++ >= r->leak_most)
        return;
    leak = &r->leaks[r->leak_count++];
    leak->kind = kind;
    leak->offset = offset;
    snprintf(leak->text, sizeof leak->text, "%s", text);
}

bool redaction_is_clean(const struct redaction *r)
{
    for (unsigned kind = 0; kind < LEAKS; kind++)
        if (r->counts[kind] > 0)
            return false;
    return true;
}

void redaction_free(struct redaction *r)
{
    free(r->leaks);
    for (size_t i = 0; i < r->name_count; i++)
        free(r->names[i]);
    free(r->names);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

struct checking {
    struct redaction *redaction;
    struct hprof_reader *reader;
    unsigned id_size;
    struct shapes shapes; /* of the instances */
    bool out_of_memory, has_failed;
};

static const char *class_name(struct checking *c, uint64_t id, struct hprof_class *class)
{
    hprof_class_init(class);
    return hprof_class(c->reader, id, class) == 1 && class->name[0] != '\0' ? class->name : "a class without a name";
}

static void name_field(struct checking *c, uint64_t name_id, char text[128])
{
    const char *name;
    size_t size;
    bool has_name = hprof_string(c->reader, name_id, &name, &size) == 1;

    snprintf(text, 128, "%.*s", has_name ? (int)(size < 100 ? size : 100) : 12, has_name ? name : "without name");
}

static void add_value(struct checking *c, const struct hprof_item *item, uint64_t class_id, uint64_t name_id, uint8_t type,
                      uint64_t bits, const char *kind)
{
    char text[PART_SIZE], name[128];
    struct hprof_class class;

    if (c->redaction->counts[LEAK_VALUE] < c->redaction->leak_most) {
        name_field(c, name_id, name);
        snprintf(text, sizeof text, "%s %.250s.%s: %s 0x%" PRIx64, kind, class_name(c, class_id, &class), name,
                 type_names[type], bits);
        add_leak(c->redaction, LEAK_VALUE, item->offset, text);
    } else {
        c->redaction->counts[LEAK_VALUE]++;
    }
}

static bool is_constant(const struct redaction *r, uint8_t type, uint64_t bits)
{
    return type >= VALUE_TYPES || type_names[type] == NULL || r->constants[type] == bits;
}

static void check_instance(struct checking *c, const struct hprof_item *item)
{
    const uint32_t number = shape_of_item(&c->shapes, item);
    const struct shape *shape = number != NO_SHAPE ? &c->shapes.list[number] : NULL;
    const uint8_t *bytes;
    char text[PART_SIZE];

    if (shape == NULL) {
        c->out_of_memory = true;
        return;
    }
    if (shape->kind != SHAPE_INSTANCE) {
        snprintf(text, sizeof text, "an instance 0x%" PRIx64 " whose class is not defined or has another size", item->id);
        add_leak(c->redaction, LEAK_VALUE, item->offset, text);
        return;
    }
    for (uint32_t i = 0; i < shape->value_count; i++) {
        const struct slot *slot = &shape->values[i];
        unsigned size = size_of_type(slot->type, c->id_size);

        if (hprof_body(c->reader, slot->at, size, &bytes) != (int64_t)size) {
            c->has_failed = true;
            return;
        }
        uint64_t bits = value_at(bytes, size);
        if (!is_constant(c->redaction, slot->type, bits))
            add_value(c, item, item->class_id, slot->name_id, slot->type, bits, "instance field");
    }
}

static void check_array(struct checking *c, const struct hprof_item *item)
{
    const unsigned size = size_of_type(item->element_type, 0);
    const uint8_t *bytes;
    char text[PART_SIZE];
    int64_t n;

    c->redaction->remains.arrays++;
    c->redaction->remains.elements += item->elements;
    for (uint64_t at = 0; size > 0 && item->tag == SUB_PRIMITIVE_ARRAY_DUMP && at < item->body; at += (uint64_t)n) {
        n = hprof_body(c->reader, at, CHUNK, &bytes);
        if (n < (int64_t)size) {
            c->has_failed = true;
            return;
        }
        n -= n % size;
        for (int64_t i = 0; i < n; i += size) {
            uint64_t bits = value_at(bytes + i, size);

            if (is_constant(c->redaction, item->element_type, bits))
                continue;
            snprintf(text, sizeof text, "%s[] 0x%" PRIx64 ", element %" PRIu64 ": 0x%" PRIx64, type_names[item->element_type],
                     item->id, (at + (uint64_t)i) / size, bits);
            add_leak(c->redaction, LEAK_VALUE, item->offset, text);
            return; /* one of each array */
        }
    }
}

/* The constants and static fields of a CLASS_DUMP. */
static void check_class(struct checking *c, const struct hprof_item *item)
{
    uint64_t at = 0;
    const uint8_t *bytes;

    for (unsigned list = 0; list < 2; list++) {
        const unsigned key = list == 0 ? 2 : c->id_size;

        if (hprof_body(c->reader, at, 2, &bytes) != 2) {
            c->has_failed = true;
            return;
        }
        at += 2;
        for (uint64_t left = value_at(bytes, 2); left > 0; left--) {
            uint64_t name_id, bits;
            uint8_t type;

            if (hprof_body(c->reader, at, key + 1, &bytes) != (int64_t)key + 1) {
                c->has_failed = true;
                return;
            }
            name_id = list == 0 ? 0 : value_at(bytes, key);
            type = bytes[key];
            at += key + 1;
            unsigned size = size_of_type(type, c->id_size);
            if (hprof_body(c->reader, at, size, &bytes) != (int64_t)size) {
                c->has_failed = true;
                return;
            }
            bits = value_at(bytes, size);
            at += size;
            if (type != TYPE_OBJECT && !is_constant(c->redaction, type, bits))
                add_value(c, item, item->id, name_id, type, bits, list == 0 ? "constant" : "static field");
        }
    }
}

/* The bytes that a character of modified UTF-8 takes, by its first one. */
static unsigned width_of(uint8_t first)
{
    return first < 0xc0 ? 1 : first < 0xe0 ? 2 : 3;
}

/* A string that repeats one character shows its length only, as an array of constants does. */
static bool is_blank(struct checking *c, const struct hprof_item *item)
{
    const uint8_t *bytes;
    uint8_t first[3] = {0};
    unsigned width = 1;
    int64_t n;

    for (uint64_t at = 0; at < item->body; at += (uint64_t)n) {
        n = hprof_body(c->reader, at, CHUNK, &bytes);
        if (n <= 0) {
            c->has_failed = true;
            return false;
        }
        if (at == 0) {
            width = width_of(bytes[0]);
            if (item->body % width != 0 || n < width)
                return false;
            memcpy(first, bytes, width);
        }
        for (int64_t i = 0; i < n; i++)
            if (bytes[i] != first[(at + (uint64_t)i) % width])
                return false;
    }
    return true;
}

static void check_string(struct checking *c, const struct names *names, const struct hprof_item *item)
{
    const uint8_t *bytes;
    char text[PART_SIZE];

    if (names_have(names, item->id) || is_blank(c, item))
        return;
    int64_t n = hprof_body(c->reader, 0, 100, &bytes);
    snprintf(text, sizeof text, "string 0x%" PRIx64 ": %.*s", item->id, n > 0 ? (int)n : 0, (const char *)bytes);
    add_leak(c->redaction, LEAK_STRING, item->offset, text);
}

static void check_item(struct checking *c, const struct names *names, const struct hprof_item *item)
{
    if (item->kind == HPROF_ITEM_RECORD && item->tag == TAG_UTF8)
        check_string(c, names, item);
    if (item->kind != HPROF_ITEM_SUBRECORD)
        return;
    if (item->tag == SUB_INSTANCE_DUMP)
        check_instance(c, item);
    else if (item->tag == SUB_PRIMITIVE_ARRAY_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_NODATA)
        check_array(c, item);
    else if (item->tag == SUB_CLASS_DUMP)
        check_class(c, item);
    else if (item->tag == SUB_OBJECT_ARRAY_DUMP) {
        c->redaction->remains.arrays++;
        c->redaction->remains.elements += item->elements;
    }
}

static bool check_values(struct redaction *r, const struct names *names)
{
    struct side *b = &r->diff->sides[1];
    struct checking c = {.redaction = r, .reader = b->reader, .id_size = b->header.id_size};
    struct hprof_item item;
    int result = hprof_seek(b->reader, NULL);

    shapes_init(&c.shapes, b->reader, KEEP_ADDRESSES);
    hprof_item_init(&item);
    while (result == 1 && !c.has_failed && !c.out_of_memory && (result = hprof_next(b->reader, &item)) == 1)
        check_item(&c, names, &item);
    shapes_free(&c.shapes);
    if (c.has_failed || result < 0)
        snprintf(r->failure, sizeof r->failure, "%.200s", hprof_failure(b->reader));
    return result >= 0 && !c.has_failed && !c.out_of_memory;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

bool redaction_check(struct redaction *r)
{
    struct names names[SIDES] = {{0}};
    bool is_done;

    snprintf(r->failure, sizeof r->failure, "out of memory");
    r->leaks = calloc(LEAKS * r->leak_most + 1, sizeof *r->leaks);
    is_done = r->leaks != NULL;
    for (unsigned side = 0; side < SIDES && is_done; side++)
        is_done =
            names_collect(&names[side], r->diff->sides[side].reader, r->diff->sides[side].header.id_size, side == 1 ? r : NULL);
    is_done = is_done && check_values(r, &names[1]) && texts_check(r, names) && (!r->wants_names || names_list(r, &names[1]));
    for (unsigned side = 0; side < SIDES; side++)
        free(names[side].ids);
    return is_done;
}
