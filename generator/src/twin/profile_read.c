/* See profile.h: the lines of a profile. Each number is checked when it is read. */
#include "twin/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"

enum {
    LENGTH_MOST = 0x7fffffff,
    LENGTH_BITS = 31,
    DEPTH_MOST = 10000000, /* frames of a stack */
    DISTANCE_MOST = 64,
    NUMBER_MOST = (1 << 29) - 3,
    FIELDS_OF_A_CLASS = 65535,
    AROUND_A_REFERENCE = 64
};

struct reading {
    struct heap_profile *p;
    char *failure;
    uint32_t line;
    char *at; /* in the line */
    struct profile_class *class;
    struct profile_slot *slot; /* that `to` and `at` belong to */
    bool in_no_class, static_is_open;
    bool no_memory;
};

static bool wrong(struct reading *r, const char *why)
{
    if (!*r->failure)
        snprintf(r->failure, PROFILE_FAILURE_SIZE, "line %u of the profile: %s", r->line, why);
    return false;
}

/* ---- Words ---- */

static bool word(struct reading *r, const char *expected)
{
    size_t size = strlen(expected);

    if (strncmp(r->at, expected, size) != 0 || (r->at[size] && r->at[size] != ' '))
        return false;
    r->at += size + (r->at[size] == ' ');
    return true;
}

static bool number(struct reading *r, uint64_t most, uint64_t *value)
{
    char *at = r->at;

    *value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        *value = *value * 10 + (uint64_t)(*at - '0');
        if (*value > most)
            return wrong(r, "a number is too large");
    }
    if (at == r->at || (*at && *at != ' '))
        return wrong(r, "a number was expected");
    r->at = at + (*at == ' ');
    return true;
}

static bool is_end(struct reading *r)
{
    return !*r->at || wrong(r, "words follow that mean nothing");
}

/* The rest of the line, one word. */
static const char *last_word(struct reading *r)
{
    const char *text = r->at;

    if (!*text || strchr(text, ' ')) {
        wrong(r, "a name was expected");
        return NULL;
    }
    return text;
}

static bool type(struct reading *r, uint8_t *out)
{
    static const struct {
        const char *name;
        uint8_t type;
    } types[] = {{"object", TYPE_OBJECT}, {"boolean", TYPE_BOOLEAN}, {"char", TYPE_CHAR},
                 {"float", TYPE_FLOAT},   {"double", TYPE_DOUBLE},   {"byte", TYPE_BYTE},
                 {"short", TYPE_SHORT},   {"int", TYPE_INT},         {"long", TYPE_LONG}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (word(r, types[i].name)) {
            *out = types[i].type;
            return true;
        }
    return wrong(r, "a type was expected");
}

/* ---- Room ---- */

static void *room(struct reading *r, void **block, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count == *capacity) {
        uint32_t wanted = *capacity ? *capacity + *capacity / 2 : 1024;
        void *grown = wanted > *capacity ? realloc(*block, wanted * size) : NULL;

        if (!grown) {
            r->no_memory = true;
            return NULL;
        }
        *block = grown;
        *capacity = wanted;
    }
    memset((char *)*block + count * size, 0, size);
    return (char *)*block + count * size;
}
#define ROOM(r, list, one) room(r, (void **)&(r)->p->list, &(r)->p->one##_capacity, (r)->p->one##_count, sizeof *(r)->p->list)

static bool add_number(struct reading *r, struct profile_range *range, uint64_t value, uint64_t count)
{
    struct profile_number *n;

    if (range->count && range->first + range->count != r->p->number_count)
        return wrong(r, "lines of one kind do not follow each other");
    if (r->slot && range->count == AROUND_A_REFERENCE)
        return wrong(r, "the reference has too many of these lines");
    n = ROOM(r, numbers, number);
    if (!n)
        return false;
    *n = (struct profile_number){value, count};
    if (!range->count)
        range->first = r->p->number_count;
    range->count++;
    r->p->number_count++;
    return true;
}

static struct profile_slot *add_slot(struct reading *r)
{
    struct profile_slot *slot = ROOM(r, slots, slot);

    if (slot)
        r->p->slot_count++;
    return slot;
}

/* ---- Lines ---- */

static bool read_length(struct reading *r, struct profile_range *range, uint64_t most)
{
    uint64_t count, length;

    if (!number(r, COUNT_MOST, &count) || !number(r, most, &length))
        return false;
    if (!word(r, "mean"))
        word(r, "rounded");
    return is_end(r) && add_number(r, range, length, count);
}

static bool read_tag(struct reading *r, uint64_t *count, uint8_t *tag)
{
    char *end;
    const char *hex = strrchr(r->at, ' ');
    unsigned long value;

    if (!number(r, COUNT_MOST, count) || !hex || strncmp(hex, " 0x", 3) != 0)
        return wrong(r, "a tag was expected");
    value = strtoul(hex + 3, &end, 16);
    if (*end || end == hex + 3 || value > UINT8_MAX)
        return wrong(r, "a tag was expected");
    *tag = (uint8_t)value;
    return true;
}

static bool read_record(struct reading *r, bool is_sub)
{
    struct heap_profile *p = r->p;
    uint64_t count;
    uint8_t tag;

    if (!read_tag(r, &count, &tag))
        return false;
    if ((is_sub ? p->subrecords : p->records)[tag])
        return wrong(r, "a kind of record appears twice");
    if (is_sub && count)
        p->order[p->order_count++] = tag;
    if (!is_sub && count)
        p->record_order[p->record_order_count++] = tag;
    (is_sub ? p->subrecords : p->records)[tag] = count;
    if (!is_sub && (tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT)) {
        if (p->heap_tag)
            return wrong(r, "there are two kinds of heap dump records");
        p->heap_tag = tag;
    }
    return true;
}

static bool read_class(struct reading *r)
{
    struct heap_profile *p = r->p;
    struct profile_class *class;
    uint64_t n;
    const char *label;

    if (!number(r, NUMBER_MOST, &n))
        return false;
    if (p->class_count && n <= p->classes[p->class_count - 1].number)
        return wrong(r, "the numbers of classes do not ascend");
    label = last_word(r);
    class = label ? ROOM(r, classes, class) : NULL;
    if (!class)
        return false;
    *class = (struct profile_class){.number = (uint32_t)n,
                                    .label = label,
                                    .super = CLASS_NONE_INDEX,
                                    .is_loaded = n >= PRIMITIVES,
                                    .is_dumped = n >= PRIMITIVES,
                                    .first_static = p->field_count,
                                    .first_field = p->field_count,
                                    .first_static_slot = p->slot_count,
                                    .first_slot = p->slot_count,
                                    .element_slot = -1,
                                    .first_frame = p->frame_count};
    p->class_count++;
    r->class = class;
    return n >= PRIMITIVES || profile_element_type(class) || wrong(r, "a type of primitive arrays was expected");
}

static bool read_version(struct reading *r)
{
    for (enum version v = V101; v <= V103; v++) {
        char text[16];

        snprintf(text, sizeof text, "1.0.%d", (int)v);
        if (word(r, text)) {
            r->p->version = v;
            return is_end(r);
        }
    }
    return wrong(r, "a version of the format was expected");
}

static bool read_coder(struct reading *r)
{
    return number(r, COUNT_MOST, &r->p->latin1) && (word(r, "latin1") || wrong(r, "latin1 was expected")) &&
           number(r, COUNT_MOST, &r->p->utf16) && (word(r, "utf16") || wrong(r, "utf16 was expected")) && is_end(r);
}

static bool read_order(struct reading *r)
{
    while (*r->at) {
        struct profile_object *object = ROOM(r, sequence, sequence);
        char *end = strpbrk(r->at, ": ");
        bool has_bits = end && *end == ':';
        uint64_t n, bits = 0;

        if (has_bits)
            *end = ' ';
        if (!object || !number(r, NUMBER_MOST, &n) || (has_bits && !number(r, LENGTH_BITS, &bits)))
            return false;
        *object = (struct profile_object){(uint32_t)n, (uint32_t)bits};
        r->p->sequence_count++;
    }
    return true;
}

static bool read_outer(struct reading *r)
{
    struct heap_profile *p = r->p;
    uint64_t value;

    r->class = NULL;
    r->slot = NULL;
    r->in_no_class = false;
    if (word(r, "version"))
        return read_version(r);
    if (word(r, "id-size")) {
        if (!number(r, 8, &value) || (value != 4 && value != 8))
            return wrong(r, "IDs have 4 or 8 bytes");
        p->id_size = (unsigned)value;
        return is_end(r);
    }
    if (word(r, "objects"))
        return number(r, COUNT_MOST, &p->objects) && is_end(r);
    if (word(r, "objects-of-unknown-classes"))
        return number(r, COUNT_MOST, &p->unknown) && is_end(r);
    if (word(r, "sampled-one-of"))
        return number(r, UINT64_MAX / 16, &value) && is_end(r);
    if (strcmp(r->at, "class-names with dots") == 0)
        return p->has_dotted_names = true;
    if (word(r, "coder"))
        return read_coder(r);
    if (word(r, "record"))
        return read_record(r, false);
    if (word(r, "sub-record"))
        return read_record(r, true);
    if (word(r, "stack"))
        return read_length(r, &p->stacks, DEPTH_MOST);
    if (word(r, "trace"))
        return read_length(r, &p->traces, DEPTH_MOST);
    if (word(r, "text"))
        return read_length(r, &p->texts, LENGTH_MOST);
    if (word(r, "class"))
        return read_class(r);
    if (word(r, "order"))
        return read_order(r);
    if (strcmp(r->at, "no class") == 0)
        return r->in_no_class = true;
    return wrong(r, "the line has no meaning");
}

static bool read_field(struct reading *r, bool is_static)
{
    struct heap_profile *p = r->p;
    struct profile_class *class = r->class;
    struct profile_field *field;
    uint32_t *count = is_static ? &class->statics : &class->fields;
    const char *name;
    uint8_t code;

    if (!type(r, &code))
        return false;
    name = last_word(r);
    field = name ? ROOM(r, fields, field) : NULL;
    if (!field)
        return false;
    if (is_static && class->fields)
        return wrong(r, "a static field follows fields of instances");
    *field = (struct profile_field){code, strcmp(name, "-") == 0 ? NULL : name};
    if (!is_static && !class->fields)
        class->first_field = p->field_count;
    p->field_count++;
    r->static_is_open = is_static && code == TYPE_OBJECT;
    return ++*count <= FIELDS_OF_A_CLASS || wrong(r, "the class has too many fields");
}

static bool read_slot(struct reading *r, struct profile_slot **out)
{
    struct profile_slot *slot = add_slot(r);

    r->slot = *out = slot;
    return slot && number(r, COUNT_MOST, &slot->set) && (word(r, "null") || wrong(r, "null was expected")) &&
           number(r, COUNT_MOST, &slot->nulls) && is_end(r);
}

static bool read_frames(struct reading *r)
{
    struct profile_frame *frame = ROOM(r, frames, frame);
    const char *name;

    if (!frame || !number(r, COUNT_MOST, &frame->count))
        return false;
    name = last_word(r);
    if (!name)
        return false;
    frame->method = strcmp(name, "-") == 0 ? NULL : name;
    frame->class = r->in_no_class ? CLASS_NONE_INDEX : (int32_t)(r->class - r->p->classes);
    r->p->frame_count++;
    if (r->class)
        r->class->frames++;
    return true;
}

/* Followed by a + if it is that of an octave. */
static bool in_degree(struct reading *r, uint64_t *least)
{
    char *plus = strchr(r->at, '+');

    if (plus)
        memmove(plus, plus + 1, strlen(plus));
    return number(r, UINT32_MAX, least);
}

static bool read_named(struct reading *r)
{
    uint64_t count, least;

    return number(r, COUNT_MOST, &count) && in_degree(r, &least) && is_end(r) && add_number(r, &r->class->named, least, count);
}

static bool read_where(struct reading *r)
{
    uint64_t count, least, part;

    return number(r, COUNT_MOST, &count) && in_degree(r, &least) && number(r, HEAP_PARTS - 1, &part) && is_end(r) &&
           add_number(r, &r->class->where, HEAP_PARTS * least + part, count);
}

static bool read_super(struct reading *r)
{
    uint64_t n;

    if (word(r, "unknown"))
        return true;
    if (!number(r, NUMBER_MOST, &n))
        return false;
    r->class->super_number = (uint32_t)n;
    return last_word(r) != NULL;
}

static bool read_inner(struct reading *r)
{
    struct profile_class *class = r->class;
    struct profile_slot *slot;

    r->slot = NULL;
    if (word(r, "frames") && (class || r->in_no_class))
        return read_frames(r);
    if (!class)
        return wrong(r, "the line belongs to no class");
    if (word(r, "super"))
        return read_super(r);
    if (strcmp(r->at, "not loaded") == 0)
        return !(class->is_loaded = false);
    if (strcmp(r->at, "not dumped") == 0)
        return !(class->is_dumped = false);
    if (strcmp(r->at, "loaded by an object") == 0)
        return class->has_loader = true;
    if (word(r, "static"))
        return read_field(r, true);
    if (word(r, "field"))
        return read_field(r, false);
    if (word(r, "is")) {
        if (!r->static_is_open)
            return wrong(r, "it belongs to no static field of type object");
        r->static_is_open = false;
        if (!class->static_slots++)
            class->first_static_slot = r->p->slot_count;
        return read_slot(r, &slot);
    }
    if (word(r, "instances"))
        return number(r, COUNT_MOST, &class->instances) && is_end(r);
    if (word(r, "arrays"))
        return number(r, COUNT_MOST, &class->arrays) && is_end(r);
    if (word(r, "length"))
        return read_length(r, &class->lengths, LENGTH_MOST);
    if (word(r, "named"))
        return read_named(r);
    if (word(r, "where"))
        return read_where(r);
    if (word(r, "elements")) {
        if (class->element_slot >= 0)
            return wrong(r, "elements are described twice");
        class->element_slot = r->p->slot_count;
        return read_slot(r, &slot);
    }
    if (word(r, "reference")) {
        if (class->element_slot >= 0)
            return wrong(r, "references follow elements");
        if (!class->slots++)
            class->first_slot = r->p->slot_count;
        return read_slot(r, &slot);
    }
    return wrong(r, "the line has no meaning");
}

static bool read_target(struct reading *r)
{
    uint64_t count, n;

    if (!number(r, COUNT_MOST, &count))
        return false;
    if (strcmp(r->at, "a class") == 0)
        return add_number(r, &r->slot->to, (uint64_t)TO_CLASS, count);
    if (strcmp(r->at, "rest") == 0 || strcmp(r->at, "unknown") == 0)
        return add_number(r, &r->slot->to, (uint64_t)TO_REST, count);
    if (strcmp(r->at, "nothing") == 0)
        return add_number(r, &r->slot->to, (uint64_t)TO_NOTHING, count);
    return number(r, NUMBER_MOST, &n) && last_word(r) && add_number(r, &r->slot->to, n, count);
}

static bool read_distance(struct reading *r)
{
    uint64_t count, size;
    bool is_before;

    if (!number(r, COUNT_MOST, &count))
        return false;
    is_before = *r->at == '-';
    r->at += is_before;
    return number(r, DISTANCE_MOST, &size) && is_end(r) &&
           add_number(r, &r->slot->at, is_before ? (uint64_t) - (int64_t)size : size, count);
}

static bool read_line(struct reading *r)
{
    if (r->line == 1)
        return strcmp(r->at, "hprof-gen profile 1") == 0 || wrong(r, "a profile begins with \"hprof-gen profile 1\"");
    if (r->at[0] != ' ')
        return read_outer(r);
    if (*++r->at != ' ')
        return read_inner(r);
    r->at++;
    if (!r->slot)
        return wrong(r, "the line belongs to no reference");
    if (word(r, "to"))
        return read_target(r);
    if (word(r, "at"))
        return read_distance(r);
    return wrong(r, "the line has no meaning");
}

static bool read_lines(struct reading *r, char *text)
{
    for (char *next; *text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        else
            next = text + strlen(text);
        r->line++;
        r->at = text;
        if (!read_line(r))
            return false;
    }
    return r->line > 0 || wrong(r, "it is empty");
}

bool profile_read_lines(struct heap_profile *p, char *text, char failure[PROFILE_FAILURE_SIZE])
{
    struct reading r = {.p = p, .failure = failure};

    return read_lines(&r, text);
}
