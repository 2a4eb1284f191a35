/* See profile.h: the lines of a profile. Each number is checked when it is read. */
#include "twin/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "twin/profile_line.h"

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
    struct profile_line line;
    struct profile_class *class;
    struct profile_slot *slot; /* that `to` and `at` belong to */
    bool in_no_class, static_is_open;
    bool no_memory;
};

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
        return line_wrong(&r->line, "lines of one kind do not follow each other");
    if (r->slot && range->count == AROUND_A_REFERENCE)
        return line_wrong(&r->line, "the reference has too many of these lines");
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

    if (!line_number(&r->line, COUNT_MOST, &count) || !line_number(&r->line, most, &length))
        return false;
    if (!line_word(&r->line, "mean"))
        line_word(&r->line, "rounded");
    return line_is_end(&r->line) && add_number(r, range, length, count);
}

static bool read_tag(struct reading *r, uint64_t *count, uint8_t *tag)
{
    char *end;
    const char *hex = strrchr(r->line.at, ' ');
    unsigned long value;

    if (!line_number(&r->line, COUNT_MOST, count) || !hex || strncmp(hex, " 0x", 3) != 0)
        return line_wrong(&r->line, "a tag was expected");
    value = strtoul(hex + 3, &end, 16);
    if (*end || end == hex + 3 || value > UINT8_MAX)
        return line_wrong(&r->line, "a tag was expected");
    *tag = (uint8_t)value;
    return true;
}

static bool read_record(struct reading *r, bool is_sub)
{
    struct heap_profile *p = r->p;
    uint64_t count;
    uint8_t tag = 0;

    if (!read_tag(r, &count, &tag))
        return false;
    if ((is_sub ? p->subrecords : p->records)[tag])
        return line_wrong(&r->line, "a kind of record appears twice");
    if (is_sub && count)
        p->order[p->order_count++] = tag;
    if (!is_sub && count)
        p->record_order[p->record_order_count++] = tag;
    (is_sub ? p->subrecords : p->records)[tag] = count;
    if (!is_sub && (tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT)) {
        if (p->heap_tag)
            return line_wrong(&r->line, "there are two kinds of heap dump records");
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

    if (!line_number(&r->line, NUMBER_MOST, &n))
        return false;
    if (p->class_count && n <= p->classes[p->class_count - 1].number)
        return line_wrong(&r->line, "the numbers of classes do not ascend");
    label = line_last_word(&r->line);
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
    return n >= PRIMITIVES || profile_element_type(class) || line_wrong(&r->line, "a type of primitive arrays was expected");
}

static bool read_version(struct reading *r)
{
    for (enum version v = V101; v <= V103; v++) {
        char text[16];

        snprintf(text, sizeof text, "1.0.%d", (int)v);
        if (line_word(&r->line, text)) {
            r->p->version = v;
            return line_is_end(&r->line);
        }
    }
    return line_wrong(&r->line, "a version of the format was expected");
}

static bool read_coder(struct reading *r)
{
    return line_number(&r->line, COUNT_MOST, &r->p->latin1) &&
           (line_word(&r->line, "latin1") || line_wrong(&r->line, "latin1 was expected")) &&
           line_number(&r->line, COUNT_MOST, &r->p->utf16) &&
           (line_word(&r->line, "utf16") || line_wrong(&r->line, "utf16 was expected")) && line_is_end(&r->line);
}

static bool read_follows(struct reading *r)
{
    enum { HEADER_MOST = 64 };
    uint64_t count, header, array_header, reference;

    if (!line_number(&r->line, COUNT_MOST, &count) || !line_number(&r->line, HEADER_MOST, &header) ||
        !line_number(&r->line, HEADER_MOST, &array_header) || !line_number(&r->line, 8, &reference))
        return false;
    if (!header || (reference != 4 && reference != 8))
        return line_wrong(&r->line, "objects have a header, and references 4 or 8 bytes");
    r->p->sizes = (struct profile_sizes){(unsigned)header, (unsigned)array_header, (unsigned)reference};
    return line_is_end(&r->line);
}

static bool read_order(struct reading *r)
{
    while (*r->line.at) {
        struct profile_object *object = ROOM(r, sequence, sequence);
        char *end = strpbrk(r->line.at, ": ");
        bool has_bits = end && *end == ':';
        uint64_t n, bits = 0;

        if (has_bits)
            *end = ' ';
        if (!object || !line_number(&r->line, NUMBER_MOST, &n) || (has_bits && !line_number(&r->line, LENGTH_BITS, &bits)))
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
    if (line_word(&r->line, "version"))
        return read_version(r);
    if (line_word(&r->line, "id-size")) {
        if (!line_number(&r->line, 8, &value) || (value != 4 && value != 8))
            return line_wrong(&r->line, "IDs have 4 or 8 bytes");
        p->id_size = (unsigned)value;
        return line_is_end(&r->line);
    }
    if (line_word(&r->line, "objects"))
        return line_number(&r->line, COUNT_MOST, &p->objects) && line_is_end(&r->line);
    if (line_word(&r->line, "objects-of-unknown-classes"))
        return line_number(&r->line, COUNT_MOST, &p->unknown) && line_is_end(&r->line);
    if (line_word(&r->line, "sampled-one-of"))
        return line_number(&r->line, UINT64_MAX / 16, &value) && line_is_end(&r->line);
    if (strcmp(r->line.at, "class-names with dots") == 0)
        return p->has_dotted_names = true;
    if (line_word(&r->line, "coder"))
        return read_coder(r);
    if (line_word(&r->line, "follow"))
        return read_follows(r);
    if (line_word(&r->line, "record"))
        return read_record(r, false);
    if (line_word(&r->line, "sub-record"))
        return read_record(r, true);
    if (line_word(&r->line, "stack"))
        return read_length(r, &p->stacks, DEPTH_MOST);
    if (line_word(&r->line, "trace"))
        return read_length(r, &p->traces, DEPTH_MOST);
    if (line_word(&r->line, "text"))
        return read_length(r, &p->texts, LENGTH_MOST);
    if (line_word(&r->line, "class"))
        return read_class(r);
    if (line_word(&r->line, "order"))
        return read_order(r);
    if (strcmp(r->line.at, "no class") == 0)
        return r->in_no_class = true;
    return line_wrong(&r->line, "the line has no meaning");
}

static bool read_field(struct reading *r, bool is_static)
{
    struct heap_profile *p = r->p;
    struct profile_class *class = r->class;
    struct profile_field *field;
    uint32_t *count = is_static ? &class->statics : &class->fields;
    const char *name;
    uint8_t code;

    if (!line_type(&r->line, &code))
        return false;
    name = line_last_word(&r->line);
    field = name ? ROOM(r, fields, field) : NULL;
    if (!field)
        return false;
    if (is_static && class->fields)
        return line_wrong(&r->line, "a static field follows fields of instances");
    *field = (struct profile_field){code, strcmp(name, "-") == 0 ? NULL : name};
    if (!is_static && !class->fields)
        class->first_field = p->field_count;
    p->field_count++;
    r->static_is_open = is_static && code == TYPE_OBJECT;
    return ++*count <= FIELDS_OF_A_CLASS || line_wrong(&r->line, "the class has too many fields");
}

static bool read_slot(struct reading *r, struct profile_slot **out)
{
    struct profile_slot *slot = add_slot(r);

    r->slot = *out = slot;
    return slot && line_number(&r->line, COUNT_MOST, &slot->set) &&
           (line_word(&r->line, "null") || line_wrong(&r->line, "null was expected")) &&
           line_number(&r->line, COUNT_MOST, &slot->nulls) && line_is_end(&r->line);
}

static bool read_frames(struct reading *r)
{
    struct profile_frame *frame = ROOM(r, frames, frame);
    const char *name;

    if (!frame || !line_number(&r->line, COUNT_MOST, &frame->count))
        return false;
    name = line_last_word(&r->line);
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
    char *plus = strchr(r->line.at, '+');

    if (plus)
        memmove(plus, plus + 1, strlen(plus));
    return line_number(&r->line, UINT32_MAX, least);
}

static bool read_named(struct reading *r)
{
    uint64_t count, least;

    return line_number(&r->line, COUNT_MOST, &count) && in_degree(r, &least) && line_is_end(&r->line) &&
           add_number(r, &r->class->named, least, count);
}

static bool read_where(struct reading *r)
{
    uint64_t count, least, part;

    return line_number(&r->line, COUNT_MOST, &count) && in_degree(r, &least) && line_number(&r->line, HEAP_PARTS - 1, &part) &&
           line_is_end(&r->line) && add_number(r, &r->class->where, HEAP_PARTS * least + part, count);
}

static bool read_super(struct reading *r)
{
    uint64_t n;

    if (line_word(&r->line, "unknown"))
        return true;
    if (!line_number(&r->line, NUMBER_MOST, &n))
        return false;
    r->class->super_number = (uint32_t)n;
    return line_last_word(&r->line) != NULL;
}

static bool read_inner(struct reading *r)
{
    struct profile_class *class = r->class;
    struct profile_slot *slot;

    r->slot = NULL;
    if (line_word(&r->line, "frames") && (class || r->in_no_class))
        return read_frames(r);
    if (!class)
        return line_wrong(&r->line, "the line belongs to no class");
    if (line_word(&r->line, "super"))
        return read_super(r);
    if (strcmp(r->line.at, "not loaded") == 0)
        return !(class->is_loaded = false);
    if (strcmp(r->line.at, "not dumped") == 0)
        return !(class->is_dumped = false);
    if (strcmp(r->line.at, "loaded by an object") == 0)
        return class->has_loader = true;
    if (line_word(&r->line, "static"))
        return read_field(r, true);
    if (line_word(&r->line, "field"))
        return read_field(r, false);
    if (line_word(&r->line, "is")) {
        if (!r->static_is_open)
            return line_wrong(&r->line, "it belongs to no static field of type object");
        r->static_is_open = false;
        if (!class->static_slots++)
            class->first_static_slot = r->p->slot_count;
        return read_slot(r, &slot);
    }
    if (line_word(&r->line, "instances"))
        return line_number(&r->line, COUNT_MOST, &class->instances) && line_is_end(&r->line);
    if (line_word(&r->line, "arrays"))
        return line_number(&r->line, COUNT_MOST, &class->arrays) && line_is_end(&r->line);
    if (line_word(&r->line, "length"))
        return read_length(r, &class->lengths, LENGTH_MOST);
    if (line_word(&r->line, "named"))
        return read_named(r);
    if (line_word(&r->line, "where"))
        return read_where(r);
    if (line_word(&r->line, "elements")) {
        if (class->element_slot >= 0)
            return line_wrong(&r->line, "elements are described twice");
        class->element_slot = r->p->slot_count;
        return read_slot(r, &slot);
    }
    if (line_word(&r->line, "reference")) {
        if (class->element_slot >= 0)
            return line_wrong(&r->line, "references follow elements");
        if (!class->slots++)
            class->first_slot = r->p->slot_count;
        return read_slot(r, &slot);
    }
    return line_wrong(&r->line, "the line has no meaning");
}

static bool read_target(struct reading *r)
{
    uint64_t count, n;

    if (!line_number(&r->line, COUNT_MOST, &count))
        return false;
    if (strcmp(r->line.at, "a class") == 0)
        return add_number(r, &r->slot->to, (uint64_t)TO_CLASS, count);
    if (strcmp(r->line.at, "rest") == 0 || strcmp(r->line.at, "unknown") == 0)
        return add_number(r, &r->slot->to, (uint64_t)TO_REST, count);
    if (strcmp(r->line.at, "nothing") == 0)
        return add_number(r, &r->slot->to, (uint64_t)TO_NOTHING, count);
    return line_number(&r->line, NUMBER_MOST, &n) && line_last_word(&r->line) && add_number(r, &r->slot->to, n, count);
}

static bool read_distance(struct reading *r)
{
    uint64_t count, size;
    bool is_before;

    if (!line_number(&r->line, COUNT_MOST, &count))
        return false;
    is_before = *r->line.at == '-';
    r->line.at += is_before;
    return line_number(&r->line, DISTANCE_MOST, &size) && line_is_end(&r->line) &&
           add_number(r, &r->slot->at, is_before ? (uint64_t) - (int64_t)size : size, count);
}

static bool read_line(struct reading *r)
{
    if (r->line.number == 1)
        return strcmp(r->line.at, "hprof-gen profile 1") == 0 ||
               line_wrong(&r->line, "a profile begins with \"hprof-gen profile 1\"");
    if (r->line.at[0] != ' ')
        return read_outer(r);
    if (*++r->line.at != ' ')
        return read_inner(r);
    r->line.at++;
    if (!r->slot)
        return line_wrong(&r->line, "the line belongs to no reference");
    if (line_word(&r->line, "to"))
        return read_target(r);
    if (line_word(&r->line, "at"))
        return read_distance(r);
    return line_wrong(&r->line, "the line has no meaning");
}

static bool read_lines(struct reading *r, char *text)
{
    for (char *next; *text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        else
            next = text + strlen(text);
        r->line.number++;
        r->line.at = text;
        if (!read_line(r))
            return false;
    }
    return r->line.number > 0 || line_wrong(&r->line, "it is empty");
}

bool profile_read_lines(struct heap_profile *p, char *text, char failure[PROFILE_FAILURE_SIZE])
{
    struct reading r = {.p = p, .line.failure = failure};

    return read_lines(&r, text);
}
