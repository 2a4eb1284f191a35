/* How two items with the same ID differ. Both are read again. */
#include <inttypes.h>
#include <string.h>

#include "diff.h"

enum { TYPE_OBJECT = 2, TYPE_BOOLEAN = 4, TYPE_CHAR = 5, TYPE_FLOAT = 6, TYPE_DOUBLE = 7, SUB_PRIMITIVE_ARRAY_NODATA = 0xc3 };

struct describing {
    struct diff *diff;
    struct hprof_item items[SIDES];
    uint64_t found, most;
    void (*visit)(void *context, const struct part *part);
    void *context;
};

static struct hprof_reader *reader_of(const struct describing *d, unsigned side)
{
    return d->diff->sides[side].reader;
}

static void add(struct describing *d, const struct part *part)
{
    if (d->found++ < d->most)
        d->visit(d->context, part);
}

/* The text of a string, shortened, on one line. */
static void put_string(struct hprof_reader *reader, uint64_t id, const char *otherwise, char to[PART_SIZE])
{
    const char *text;
    size_t size;

    if (hprof_string(reader, id, &text, &size) != 1) {
        snprintf(to, PART_SIZE, "%s", otherwise);
        return;
    }
    if (size >= PART_SIZE)
        size = PART_SIZE - 1;
    for (size_t i = 0; i < size; i++)
        to[i] = (char)((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i]);
    to[size] = '\0';
}

static void put_class(struct hprof_reader *reader, uint64_t id, char to[PART_SIZE])
{
    struct hprof_class class;

    hprof_class_init(&class);
    if (hprof_class(reader, id, &class) == 1 && class.name[0] != '\0')
        snprintf(to, PART_SIZE, "%s", class.name);
    else if (id == 0)
        snprintf(to, PART_SIZE, "none");
    else
        snprintf(to, PART_SIZE, "class 0x%" PRIx64, id);
}

void format_value(const struct hprof_value *value, char to[PART_SIZE])
{
    switch (value->type) {
    case TYPE_OBJECT:
        snprintf(to, PART_SIZE, value->id != 0 ? "0x%" PRIx64 : "null", value->id);
        break;
    case TYPE_BOOLEAN:
        snprintf(to, PART_SIZE, value->integer == 0 ? "false" : value->integer == 1 ? "true" : "0x%" PRIx64, value->bits);
        break;
    case TYPE_CHAR:
        if (value->integer > ' ' && value->integer < 0x7f)
            snprintf(to, PART_SIZE, "'%c'", (char)value->integer);
        else
            snprintf(to, PART_SIZE, "'\\u%04" PRIx64 "'", value->bits);
        break;
    case TYPE_FLOAT:
        snprintf(to, PART_SIZE, "%.9g", value->real);
        break;
    case TYPE_DOUBLE:
        snprintf(to, PART_SIZE, "%.17g", value->real);
        break;
    default:
        snprintf(to, PART_SIZE, "%" PRId64, value->integer);
    }
}

static void put_number(uint64_t number, char to[PART_SIZE])
{
    snprintf(to, PART_SIZE, "%" PRIu64, number);
}

/* Adds a part if the numbers differ. */
static void compare_numbers(struct describing *d, const char *what, uint64_t a, uint64_t b)
{
    struct part part;

    if (a == b)
        return;
    snprintf(part.what, sizeof part.what, "%s", what);
    put_number(a, part.texts[0]);
    put_number(b, part.texts[1]);
    add(d, &part);
}

static void compare_classes(struct describing *d, const char *what, uint64_t a, uint64_t b)
{
    struct part part;

    if (a == b)
        return;
    snprintf(part.what, sizeof part.what, "%s", what);
    put_class(reader_of(d, 0), a, part.texts[0]);
    put_class(reader_of(d, 1), b, part.texts[1]);
    add(d, &part);
}

static void compare_strings(struct describing *d, const char *what, uint64_t a, uint64_t b)
{
    struct part part;

    snprintf(part.what, sizeof part.what, "%s", what);
    put_string(reader_of(d, 0), a, a != 0 ? "undefined" : "none", part.texts[0]);
    put_string(reader_of(d, 1), b, b != 0 ? "undefined" : "none", part.texts[1]);
    if (a != b || strcmp(part.texts[0], part.texts[1]) != 0)
        add(d, &part);
}

/* ---- Fields and elements ----------------------------------------------------------------------------------------- */

/* The fields with an index on both sides; false if there is none on one. */
static bool compare_field(struct describing *d, const uint64_t class_ids[SIDES], bool is_static, size_t index, bool has[SIDES])
{
    struct hprof_field fields[SIDES];
    struct hprof_value values[SIDES];
    struct part part;

    for (unsigned side = 0; side < SIDES; side++) {
        hprof_field_init(&fields[side]);
        hprof_value_init(&values[side]);
        has[side] = hprof_field_at(reader_of(d, side), class_ids[side], is_static, index, &fields[side]) == 1 &&
                    hprof_field_value(reader_of(d, side), &fields[side], &values[side]) == 1;
    }
    if (!has[0] || !has[1])
        return false;
    if (values[0].type == values[1].type && values[0].bits == values[1].bits)
        return true;
    put_string(reader_of(d, 0), fields[0].name_id, "a field without a name", part.what);
    for (unsigned side = 0; side < SIDES; side++)
        format_value(&values[side], part.texts[side]);
    add(d, &part);
    return true;
}

static void compare_fields(struct describing *d, const uint64_t class_ids[SIDES], bool is_static)
{
    bool has[SIDES];
    size_t index = 0;

    while (compare_field(d, class_ids, is_static, index, has))
        index++;
    if (has[0] != has[1]) {
        struct part part = {.texts = {"absent", "absent"}};

        snprintf(part.what, sizeof part.what, "%s %zu and after", is_static ? "static field" : "field", index);
        snprintf(part.texts[has[0] ? 0 : 1], PART_SIZE, "present");
        add(d, &part);
    }
}

static void compare_elements(struct describing *d)
{
    struct hprof_value values[SIDES];
    struct part part;

    compare_numbers(d, "number of elements", d->items[0].elements, d->items[1].elements);
    compare_numbers(d, "type of elements", d->items[0].element_type, d->items[1].element_type);
    if (d->items[0].element_type != d->items[1].element_type)
        return;
    for (uint32_t i = 0; i < d->items[0].elements && i < d->items[1].elements; i++) {
        for (unsigned side = 0; side < SIDES; side++) {
            hprof_value_init(&values[side]);
            if (hprof_element(reader_of(d, side), i, &values[side]) != 1)
                return;
        }
        if (values[0].bits == values[1].bits)
            continue;
        snprintf(part.what, sizeof part.what, "[%" PRIu32 "]", i);
        for (unsigned side = 0; side < SIDES; side++)
            format_value(&values[side], part.texts[side]);
        add(d, &part);
    }
}

/* ---- Classes, records -------------------------------------------------------------------------------------------- */

static void compare_class_dumps(struct describing *d)
{
    const uint64_t ids[SIDES] = {d->items[0].id, d->items[1].id};
    struct hprof_class classes[SIDES];
    struct hprof_field fields[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        hprof_class_init(&classes[side]);
        hprof_field_init(&fields[side]);
        if (hprof_class(reader_of(d, side), ids[side], &classes[side]) != 1)
            return;
    }
    compare_classes(d, "superclass", classes[0].super_id, classes[1].super_id);
    compare_numbers(d, "class loader", classes[0].loader_id, classes[1].loader_id);
    compare_numbers(d, "instance size", classes[0].instance_size, classes[1].instance_size);
    compare_numbers(d, "number of static fields", classes[0].static_fields, classes[1].static_fields);
    compare_numbers(d, "number of fields", classes[0].fields, classes[1].fields);
    compare_fields(d, ids, true);
    for (size_t i = 0; i < classes[0].fields && i < classes[1].fields; i++) {
        char what[64];

        if (hprof_field_at(reader_of(d, 0), ids[0], false, i, &fields[0]) != 1 ||
            hprof_field_at(reader_of(d, 1), ids[1], false, i, &fields[1]) != 1)
            return;
        snprintf(what, sizeof what, "type of field %zu", i);
        compare_numbers(d, what, fields[0].type, fields[1].type);
        if (fields[0].name_id != fields[1].name_id) {
            snprintf(what, sizeof what, "name of field %zu", i);
            compare_strings(d, what, fields[0].name_id, fields[1].name_id);
        }
    }
}

static void compare_traces(struct describing *d)
{
    compare_numbers(d, "thread serial number", d->items[0].thread_serial, d->items[1].thread_serial);
    compare_numbers(d, "number of frames", d->items[0].frames, d->items[1].frames);
    for (uint32_t i = 0; i < d->items[0].frames && i < d->items[1].frames; i++) {
        uint64_t ids[SIDES];
        struct part part;

        if (hprof_trace_frame(reader_of(d, 0), i, &ids[0]) != 1 || hprof_trace_frame(reader_of(d, 1), i, &ids[1]) != 1)
            return;
        if (ids[0] == ids[1])
            continue;
        snprintf(part.what, sizeof part.what, "frame %" PRIu32, i);
        for (unsigned side = 0; side < SIDES; side++)
            snprintf(part.texts[side], PART_SIZE, "0x%" PRIx64, ids[side]);
        add(d, &part);
    }
}

/* Where the bytes begin to differ, if nothing else has a name. */
static void compare_bytes(struct describing *d)
{
    uint64_t size[SIDES], at;
    struct part part;

    for (unsigned side = 0; side < SIDES; side++)
        size[side] = d->items[side].head + d->items[side].body;
    compare_numbers(d, "bytes", size[0], size[1]);
    for (at = d->items[0].kind == HPROF_ITEM_RECORD ? 9 : 0; at < size[0] && at < size[1]; at++) {
        const uint8_t *bytes[SIDES];

        if (hprof_bytes(reader_of(d, 0), at, 1, &bytes[0]) != 1 || hprof_bytes(reader_of(d, 1), at, 1, &bytes[1]) != 1)
            return;
        if (*bytes[0] == *bytes[1])
            continue;
        snprintf(part.what, sizeof part.what, "byte %" PRIu64, at);
        for (unsigned side = 0; side < SIDES; side++)
            snprintf(part.texts[side], PART_SIZE, "0x%02x", *bytes[side]);
        add(d, &part);
        return;
    }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool read_again(struct describing *d, const struct difference *difference, unsigned side)
{
    hprof_item_init(&d->items[side]);
    return difference->offsets[side] != HPROF_NO_OFFSET && hprof_seek(reader_of(d, side), &difference->items[side]) == 1 &&
           hprof_next(reader_of(d, side), &d->items[side]) == 1;
}

void diff_name(struct diff *diff, const struct difference *difference, char name[PART_SIZE])
{
    unsigned side = difference->offsets[0] != HPROF_NO_OFFSET ? 0 : 1;
    struct describing d = {.diff = diff};
    char class[PART_SIZE];

    if (!read_again(&d, difference, side)) {
        snprintf(name, PART_SIZE, "%s", kind_names[difference->kind]);
        return;
    }
    const struct hprof_item *item = &d.items[side];
    switch (difference->kind) {
    case KIND_STRINGS:
        snprintf(name, PART_SIZE, "string 0x%" PRIx64, item->id);
        break;
    case KIND_LOADED_CLASSES:
    case KIND_CLASSES:
        put_class(reader_of(&d, side), item->id, class);
        snprintf(name, PART_SIZE, "%s of 0x%" PRIx64 " (%.400s)",
                 difference->kind == KIND_CLASSES ? "CLASS_DUMP" : "LOAD_CLASS", item->id, class);
        break;
    case KIND_FRAMES:
        snprintf(name, PART_SIZE, "FRAME 0x%" PRIx64, item->id);
        break;
    case KIND_TRACES:
        snprintf(name, PART_SIZE, "TRACE %" PRIu32, item->trace_serial);
        break;
    case KIND_INSTANCES:
    case KIND_OBJECT_ARRAYS:
        put_class(reader_of(&d, side), item->class_id, class);
        snprintf(name, PART_SIZE, "%.400s 0x%" PRIx64, class, item->id);
        break;
    case KIND_PRIMITIVE_ARRAYS: {
        static const char *const types[] = {"boolean", "char", "float", "double", "byte", "short", "int", "long"};
        unsigned type = item->element_type - TYPE_BOOLEAN;

        snprintf(name, PART_SIZE, "%s[] 0x%" PRIx64, type < sizeof types / sizeof types[0] ? types[type] : "undefined",
                 item->id);
        break;
    }
    case KIND_ROOTS:
        snprintf(name, PART_SIZE, "%s 0x%" PRIx64, hprof_subrecord_name(item->tag), item->id);
        break;
    case KIND_OTHER_RECORDS:
    case KINDS: {
        const char *record = hprof_record_name(item->tag);

        snprintf(name, PART_SIZE, "%s", record != NULL ? record : "undefined record");
        break;
    }
    }
}

uint64_t diff_describe(struct diff *diff, const struct difference *difference, uint64_t most,
                       void (*visit)(void *context, const struct part *part), void *context)
{
    struct describing d = {.diff = diff, .most = most, .visit = visit, .context = context};

    if (!read_again(&d, difference, 0) || !read_again(&d, difference, 1))
        return 0;
    const uint64_t class_ids[SIDES] = {d.items[0].class_id, d.items[1].class_id};
    if (difference->kind != KIND_TRACES)
        compare_numbers(&d, "serial number of the stack trace", d.items[0].trace_serial, d.items[1].trace_serial);
    switch (difference->kind) {
    case KIND_STRINGS:
        compare_strings(&d, "text", d.items[0].id, d.items[1].id);
        break;
    case KIND_LOADED_CLASSES:
        compare_numbers(&d, "class serial number", d.items[0].class_serial, d.items[1].class_serial);
        compare_strings(&d, "name", d.items[0].name_id, d.items[1].name_id);
        break;
    case KIND_FRAMES:
        compare_strings(&d, "method", d.items[0].name_id, d.items[1].name_id);
        compare_strings(&d, "signature", d.items[0].signature_id, d.items[1].signature_id);
        compare_strings(&d, "source file", d.items[0].source_id, d.items[1].source_id);
        compare_numbers(&d, "class serial number", d.items[0].class_serial, d.items[1].class_serial);
        if (d.items[0].line != d.items[1].line)
            compare_numbers(&d, "line", (uint32_t)d.items[0].line, (uint32_t)d.items[1].line);
        break;
    case KIND_TRACES:
        compare_traces(&d);
        break;
    case KIND_CLASSES:
        compare_class_dumps(&d);
        break;
    case KIND_INSTANCES:
        compare_classes(&d, "class", class_ids[0], class_ids[1]);
        if (class_ids[0] == class_ids[1])
            compare_fields(&d, class_ids, false);
        break;
    case KIND_OBJECT_ARRAYS:
    case KIND_PRIMITIVE_ARRAYS:
        compare_classes(&d, "class", class_ids[0], class_ids[1]);
        compare_elements(&d);
        break;
    case KIND_ROOTS:
    case KIND_OTHER_RECORDS:
    case KINDS:
        break;
    }
    if (d.found == 0)
        compare_bytes(&d);
    return d.found;
}
