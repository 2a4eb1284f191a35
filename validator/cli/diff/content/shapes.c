#include "shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ignored.h"
#include "mix.h"
#include "read_object.h"

enum { SUB_CLASS_DUMP = 0x20, SUB_INSTANCE_DUMP = 0x21, SUB_OBJECT_ARRAY_DUMP = 0x22 };
#define NO_CLASS UINT32_MAX

/* Classes by their numbers. Superclasses without fields are passed over, so that the fields of an instance are found in a time that
 * its size bounds. */
struct class_shapes {
    uint64_t size;     /* of the fields, with those of superclasses */
    uint32_t fielded;  /* the nearest superclass that declares fields; NO_CLASS if there is none */
    uint32_t subclass; /* from which the size of this class was asked for */
    uint32_t of[SHAPE_KINDS];
    bool has_fields, has_size, is_visited;
};

void shapes_init(struct shapes *shapes, struct hprof_reader *reader, unsigned ignored)
{
    *shapes = (struct shapes){.reader = reader, .ignored = ignored};
    for (size_t i = 0; i < PRIMITIVE_TYPES_END; i++)
        shapes->others[i] = NO_SHAPE;
    for (size_t i = 0; i < sizeof shapes->recent / sizeof shapes->recent[0]; i++)
        shapes->recent[i].shape = NO_SHAPE;
}

void shapes_free(struct shapes *shapes)
{
    for (uint32_t i = 0; i < shapes->count; i++) {
        free(shapes->list[i].references);
        free(shapes->list[i].values);
    }
    free(shapes->list);
    free(shapes->classes);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The address in the name of a hidden class depends on the run: "Main$$Lambda$14+0x000000080007a840". */
static size_t size_of_address(const char *at)
{
    return (*at == '+' || *at == '/' || *at == '.') && at[1] == '0' && at[2] == 'x' ? 3 + strspn(at + 3, "0123456789abcdef")
                                                                                    : 0;
}

/* So does the number of a lambda. */
static size_t size_of_number(const char *name, const char *at)
{
    static const char lambda[] = "$$Lambda";
    const size_t size = sizeof lambda - 1;

    return *at == '$' && (size_t)(at - name) >= size && memcmp(at - size, lambda, size) == 0 ? 1 + strspn(at + 1, "0123456789")
                                                                                             : 0;
}

static uint64_t hash_of_name(const char *name)
{
    uint64_t h = 1;

    for (const char *at = name; *at != '\0';) {
        size_t skipped = size_of_address(at) + size_of_number(name, at);

        if (skipped == 0)
            h = (h ^ (uint8_t)*at++) * 0x100000001b3U;
        at += skipped;
    }
    return mix(h);
}

static uint64_t hash_of_string(struct shapes *shapes, uint64_t id)
{
    const char *text;
    size_t size;

    return hprof_string(shapes->reader, id, &text, &size) == 1 ? mix_bytes(2, text, size) : 0;
}

/* hprof_class() shortens long names. */
static uint64_t hash_of_class(struct shapes *shapes, const struct hprof_class *class)
{
    uint64_t h = hash_of_name(class->name);
    size_t size = strlen(class->name);
    bool is_whole = size < 3 || strcmp(class->name + size - 3, "...") != 0;

    return is_whole ? h : mix_two(h, hash_of_string(shapes, class->name_id));
}

void shape_name(struct shapes *shapes, const struct shape *shape, char *to, size_t size)
{
    static const char *const types[PRIMITIVE_TYPES_END] = {
        [4] = "boolean[]", [5] = "char[]",  [6] = "float[]", [7] = "double[]",
        [8] = "byte[]",    [9] = "short[]", [10] = "int[]",  [11] = "long[]"};
    struct hprof_class class;

    hprof_class_init(&class);
    if (shape->kind == SHAPE_PRIMITIVE_ARRAY)
        snprintf(to, size, "%s", types[shape->element_type]);
    else if (shape->class_number == UINT32_MAX || hprof_class_at(shapes->reader, shape->class_number, &class) != 1)
        snprintf(to, size, "an undefined class");
    else if (class.name[0] == '\0')
        snprintf(to, size, "class 0x%" PRIx64, class.id);
    else
        snprintf(to, size, "%s", class.name);
}

void slot_name(struct shapes *shapes, const struct slot *slot, char *to, size_t size)
{
    const char *text;
    size_t length;

    if (slot->name_id == SLOT_SUPER)
        snprintf(to, size, "(superclass)");
    else if (slot->name_id == SLOT_LOADER)
        snprintf(to, size, "(class loader)");
    else if (hprof_string(shapes->reader, slot->name_id, &text, &length) == 1)
        snprintf(to, size, "%.*s", (int)(length < size ? length : size), text);
    else
        snprintf(to, size, "(field 0x%" PRIx64 ")", slot->name_id);
}

uint32_t find_slot(struct shapes *shapes, const struct slot *slots, uint32_t count, const char *name)
{
    const char *text;
    size_t size;

    for (uint32_t i = 0; i < count; i++)
        if (hprof_string(shapes->reader, slots[i].name_id, &text, &size) == 1 && size == strlen(name) &&
            memcmp(text, name, size) == 0)
            return i;
    return NO_SLOT;
}

/* ---- Sizes of instances ------------------------------------------------------------------------------------------ */

static struct class_shapes *class_shapes(struct shapes *shapes, uint32_t number)
{
    if (number >= shapes->class_capacity) {
        size_t capacity = number < 512 ? 1024 : 2 * (size_t)number;
        struct class_shapes *grown = realloc(shapes->classes, capacity * sizeof *grown);

        if (grown == NULL) {
            shapes->out_of_memory = true;
            return NULL;
        }
        memset(grown + shapes->class_capacity, 0, (capacity - shapes->class_capacity) * sizeof *grown);
        for (size_t i = shapes->class_capacity; i < capacity; i++)
            for (unsigned kind = 0; kind < SHAPE_KINDS; kind++)
                grown[i].of[kind] = NO_SHAPE;
        shapes->classes = grown;
        shapes->class_capacity = capacity;
    }
    return &shapes->classes[number];
}

static unsigned id_size_of(struct shapes *shapes)
{
    struct hprof_header header;

    hprof_header_init(&header);
    return hprof_read_header(shapes->reader, &header) == 1 ? header.id_size : 8;
}

static uint64_t declared_size(struct shapes *shapes, const struct hprof_class *class, unsigned id_size)
{
    struct hprof_field field;
    uint64_t size = 0;

    hprof_field_init(&field);
    for (size_t i = 0; i < class->fields && hprof_field_at(shapes->reader, class->id, false, i, &field) == 1; i++)
        size += size_of_type(field.type, id_size);
    return size;
}

static void set_size(struct shapes *shapes, struct class_shapes *of, const struct hprof_class *class, uint32_t super)
{
    const struct class_shapes *above = super != NO_CLASS ? &shapes->classes[super] : NULL;

    of->size = declared_size(shapes, class, id_size_of(shapes)) + (above != NULL ? above->size : 0);
    of->fielded = above == NULL ? NO_CLASS : above->has_fields ? super : above->fielded;
    of->has_fields = class->fields > 0;
    of->has_size = true;
}

/* Sets the size of a class, and of its superclasses, each once. A class has none if it is not defined, or is its own superclass. */
static bool find_size(struct shapes *shapes, uint32_t number)
{
    uint32_t last = NO_CLASS, super = NO_CLASS;
    struct class_shapes *of;
    struct hprof_class class;

    hprof_class_init(&class);
    for (;;) { /* up to a class that has a size, or has no superclass */
        of = class_shapes(shapes, number);
        if (of == NULL || (of->is_visited && !of->has_size))
            return false;
        if (of->has_size) {
            super = number;
            break;
        }
        of->is_visited = true;
        of->subclass = last;
        last = number;
        if (hprof_class_at(shapes->reader, number, &class) != 1 || !class.is_dumped)
            return false;
        if (class.super_id == 0)
            break;
        number = hprof_class_number(shapes->reader, class.super_id);
        if (number == NO_CLASS)
            return false;
    }
    while (last != NO_CLASS) {
        if (hprof_class_at(shapes->reader, last, &class) != 1)
            return false;
        of = &shapes->classes[last];
        set_size(shapes, of, &class, super);
        super = last;
        last = of->subclass;
    }
    return true;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static uint32_t add_shape(struct shapes *shapes, const struct shape *shape)
{
    if (shapes->count == shapes->capacity) {
        uint32_t capacity = shapes->capacity ? 2 * shapes->capacity : 256;
        struct shape *grown = realloc(shapes->list, capacity * sizeof *grown);

        if (grown == NULL) {
            shapes->out_of_memory = true;
            free(shape->references);
            free(shape->values);
            return NO_SHAPE;
        }
        shapes->list = grown;
        shapes->capacity = capacity;
    }
    shapes->list[shapes->count] = *shape;
    shapes->list[shapes->count].id_size = (uint8_t)id_size_of(shapes);
    shapes->list[shapes->count].has_payload = (shapes->ignored & IGNORE_PAYLOAD) == 0;
    return shapes->count++;
}

static bool add_slot(struct slot **slots, uint32_t *count, const struct slot *slot)
{
    if ((*count & (*count - 1)) == 0) { /* 0 or a power of two: it is full */
        struct slot *grown = realloc(*slots, (*count ? 2 * (size_t)*count : 1) * sizeof *grown);

        if (grown == NULL)
            return false;
        *slots = grown;
    }
    (*slots)[(*count)++] = *slot;
    return true;
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *one = a, *other = b;

    return one->name != other->name ? (one->name < other->name ? -1 : 1) : one->at < other->at ? -1 : one->at > other->at;
}

/* Adds the fields that a class declares; those of an instance are `from` the start of its body on. */
static uint64_t add_declared(struct shapes *shapes, struct shape *shape, const struct hprof_class *class, bool is_static,
                             uint64_t from)
{
    const uint64_t declaring = hash_of_class(shapes, class);
    const size_t count = is_static ? class->static_fields : class->fields;
    struct hprof_field field;
    uint64_t size = 0;
    char name[64];

    hprof_field_init(&field);
    for (size_t i = 0; i < count && hprof_field_at(shapes->reader, class->id, is_static, i, &field) == 1; i++) {
        struct slot slot = {.name_id = field.name_id, .at = from + field.offset, .type = field.type};

        size += size_of_type(field.type, id_size_of(shapes));
        slot_name(shapes, &slot, name, sizeof name);
        if (field_is_ignored(shapes->ignored, class->name, name, field.type))
            continue;
        slot.name = mix_two(hash_of_string(shapes, field.name_id), declaring);
        shapes->out_of_memory |= field.type == TYPE_OBJECT ? !add_slot(&shape->references, &shape->reference_count, &slot)
                                                           : !add_slot(&shape->values, &shape->value_count, &slot);
    }
    return from + size;
}

/* Of a class that has a size. */
static void add_fields(struct shapes *shapes, struct shape *shape, uint32_t number)
{
    struct hprof_class class;
    uint64_t at = 0;

    hprof_class_init(&class);
    for (; number != NO_CLASS && hprof_class_at(shapes->reader, number, &class) == 1; number = shapes->classes[number].fielded)
        at = add_declared(shapes, shape, &class, false, at);
}

static void sort_slots(struct shapes *shapes, struct shape *shape, const char *class_name)
{
    char name[64];

    if (shape->reference_count > 1)
        qsort(shape->references, shape->reference_count, sizeof(struct slot), compare_slots);
    if (shape->value_count > 1)
        qsort(shape->values, shape->value_count, sizeof(struct slot), compare_slots);
    for (uint32_t i = 0; i < shape->reference_count && (shapes->ignored & IGNORE_ORDER_OF_MAPS) != 0; i++) {
        slot_name(shapes, &shape->references[i], name, sizeof name);
        if (shape->kind == SHAPE_INSTANCE && is_entry_link(name, class_name))
            shape->link = i;
        if (shape->kind == SHAPE_INSTANCE && is_entry_key(name, class_name))
            shape->entry_key = i;
        if (shape->kind == SHAPE_INSTANCE && is_map_table(class_name, name, &shape->table_order))
            shape->table = i;
    }
}

static uint32_t make_shape(struct shapes *shapes, enum shape_kind kind, const struct hprof_class *class, uint64_t size)
{
    struct shape shape = {.kind = kind,
                          .element_type = TYPE_OBJECT,
                          .class_number = class->number,
                          .size = size,
                          .key = hash_of_class(shapes, class),
                          .super_id = class->super_id,
                          .loader_id = class->loader_id,
                          .link = NO_SLOT,
                          .entry_key = NO_SLOT,
                          .table = NO_SLOT};

    if (kind == SHAPE_OBJECT_ARRAY && (shapes->ignored & IGNORE_ORDER_OF_MAPS) != 0)
        shape.order = order_of_array(class->name);
    if (kind == SHAPE_CLASS) {
        const struct slot super = {.name = 1, .name_id = SLOT_SUPER}, loader = {.name = 2, .name_id = SLOT_LOADER};

        shapes->out_of_memory |= !add_slot(&shape.references, &shape.reference_count, &super) ||
                                 !add_slot(&shape.references, &shape.reference_count, &loader);
    }
    if (kind == SHAPE_CLASS)
        add_declared(shapes, &shape, class, true, 0);
    if (kind == SHAPE_INSTANCE)
        add_fields(shapes, &shape, class->number);
    sort_slots(shapes, &shape, class->name);
    return add_shape(shapes, &shape);
}

static enum shape_kind kind_of(struct shapes *shapes, const struct hprof_item *item, const struct class_shapes *of,
                               uint32_t number)
{
    switch (item->tag) {
    case SUB_CLASS_DUMP:
        return SHAPE_CLASS;
    case SUB_OBJECT_ARRAY_DUMP:
        return SHAPE_OBJECT_ARRAY;
    default:
        return (of->has_size || find_size(shapes, number)) && shapes->classes[number].size == item->body ? SHAPE_INSTANCE
                                                                                                         : SHAPE_OPAQUE;
    }
}

/* Primitive arrays, and what has no class that is defined. */
static uint32_t shape_without_class(struct shapes *shapes, const struct hprof_item *item, enum shape_kind kind)
{
    uint8_t type = kind == SHAPE_PRIMITIVE_ARRAY && item->element_type < PRIMITIVE_TYPES_END ? item->element_type : 0;
    struct shape shape = {.kind = type != 0 ? kind : SHAPE_OPAQUE,
                          .element_type = type,
                          .class_number = UINT32_MAX,
                          .key = mix(type),
                          .link = NO_SLOT,
                          .entry_key = NO_SLOT,
                          .table = NO_SLOT};

    if (shapes->others[type] == NO_SHAPE)
        shapes->others[type] = add_shape(shapes, &shape);
    return shapes->others[type];
}

static uint32_t find_shape(struct shapes *shapes, const struct hprof_item *item, uint64_t class_id)
{
    uint32_t number = hprof_class_number(shapes->reader, class_id);
    struct class_shapes *of = number != UINT32_MAX ? class_shapes(shapes, number) : NULL;
    struct hprof_class class;
    enum shape_kind kind;

    if (number == UINT32_MAX)
        return shape_without_class(shapes, item, SHAPE_OPAQUE);
    if (of == NULL)
        return NO_SHAPE;
    kind = kind_of(shapes, item, of, number);
    of = &shapes->classes[number];
    hprof_class_init(&class);
    if (of->of[kind] == NO_SHAPE && hprof_class_at(shapes->reader, number, &class) == 1) {
        uint32_t made = make_shape(shapes, kind, &class, of->size);

        shapes->classes[number].of[kind] = made;
    }
    return shapes->out_of_memory ? NO_SHAPE : shapes->classes[number].of[kind];
}

uint32_t shape_of_item(struct shapes *shapes, const struct hprof_item *item)
{
    const bool is_class = item->tag == SUB_CLASS_DUMP;
    uint64_t class_id = is_class ? item->id : item->class_id;
    struct recent *recent = &shapes->recent[(class_id >> 3 ^ class_id >> 13) & 1023];
    const struct shape *shape = recent->shape != NO_SHAPE ? &shapes->list[recent->shape] : NULL;

    if (!is_class && item->tag != SUB_INSTANCE_DUMP && item->tag != SUB_OBJECT_ARRAY_DUMP)
        return shape_without_class(shapes, item, SHAPE_PRIMITIVE_ARRAY);
    if (shape != NULL && recent->class_id == class_id &&
        (item->tag == SUB_INSTANCE_DUMP ? shape->kind == SHAPE_INSTANCE && shape->size == item->body
                                        : item->tag == SUB_OBJECT_ARRAY_DUMP && shape->kind == SHAPE_OBJECT_ARRAY))
        return recent->shape;
    *recent = (struct recent){class_id, find_shape(shapes, item, class_id)};
    return recent->shape;
}

uint32_t shape_in_order(struct shapes *shapes, uint32_t number, enum shape_order order)
{
    struct shape other = shapes->list[number];
    uint32_t made = other.in_order[order];

    if (made == 0) {
        other.order = order;
        made = add_shape(shapes, &other);
        if (made != NO_SHAPE)
            shapes->list[number].in_order[order] = made;
    }
    return made;
}

void shape_add_loader(struct shape *shape, uint64_t loader_key)
{
    shape->key = mix_two(mix_two(shape->key, loader_key), shape->kind == SHAPE_CLASS);
}
