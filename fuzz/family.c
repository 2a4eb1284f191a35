/* See family.h. Most seeds are as small as one fault needs; with a family in the dump, checks have something to look up. */
#include "family.h"

#include <string.h>

enum {
    OBJECTS = 3, /* two of the class, and an array of primitives */
    FIELDS_MOST = 3,
    ID_DISTANCE = 8,
    SERIALS = 4, /* serials are below this in most seeds */

    TYPE_OBJECT = 2,
    TYPE_BOOLEAN = 4,
    TYPES_OF_PRIMITIVES = 8, /* from TYPE_BOOLEAN */

    TAG_UTF8 = 0x01,
    TAG_LOAD_CLASS = 0x02,
    TAG_HEAP_DUMP = 0x0c,
    TAG_STICKY_CLASS = 0x05,
    TAG_CLASS_DUMP = 0x20,
    TAG_INSTANCE_DUMP = 0x21,
    TAG_OBJECT_ARRAY_DUMP = 0x22,
    TAG_PRIMITIVE_ARRAY_DUMP = 0x23
};

struct family {
    struct pieces *pieces;
    struct dice *dice;
    unsigned id_size;
    uint64_t class_id; /* also that of the string with its name; objects follow */
    bool is_array;
    uint8_t types[FIELDS_MOST];
    unsigned fields;
    size_t at; /* where the next piece is inserted */
};

static uint64_t object_id(const struct family *f, uint64_t i)
{
    return f->class_id + ID_DISTANCE * (1 + i);
}

static uint8_t *put(uint8_t *to, unsigned width, uint64_t value)
{
    put_number(to, width, value);
    return to + width;
}

static uint8_t *put_id(const struct family *f, uint8_t *to, uint64_t id)
{
    return put(to, f->id_size, id);
}

static void insert(struct family *f, enum piece_kind kind, const uint8_t *bytes, const uint8_t *end)
{
    size_t size = (size_t)(end - bytes);
    uint8_t *copy = take_bytes(f->pieces, size);
    struct piece piece = {.kind = kind, .bytes = copy, .size = size};

    if (!copy)
        return;
    memcpy(copy, bytes, size);
    if (insert_piece(f->pieces, f->at, &piece))
        f->at++;
}

/* The ID with which another sub-record begins; 0 if there is none. */
static uint64_t id_of_another(struct family *f)
{
    const struct piece *piece = &f->pieces->list[below(f->dice, f->pieces->count)];

    return piece->kind == PIECE_SUBRECORD && piece->size > f->id_size ? get_number(piece->bytes + 1, f->id_size) : 0;
}

static uint64_t choose_reference(struct family *f)
{
    return one_in(f->dice, 3) ? id_of_another(f) : object_id(f, below(f->dice, OBJECTS));
}

static uint8_t *put_value(struct family *f, uint8_t *to, unsigned type)
{
    uint64_t value = type == TYPE_OBJECT ? choose_reference(f) : type == TYPE_BOOLEAN ? below(f->dice, 2) : throw_dice(f->dice);

    return put(to, value_size(type, f->id_size), value);
}

/* The ID of a class without a superclass; 0 if none is dumped. */
static uint64_t find_root_class(const struct family *f)
{
    for (size_t i = 1; i < f->pieces->count; i++) {
        const struct piece *p = &f->pieces->list[i];

        if (p->kind == PIECE_SUBRECORD && p->bytes[0] == TAG_CLASS_DUMP &&
            get_number(p->bytes + 1 + f->id_size + 4, f->id_size) == 0)
            return get_number(p->bytes + 1, f->id_size);
    }
    return 0;
}

static unsigned instance_size(const struct family *f)
{
    unsigned size = 0;

    for (unsigned i = 0; i < f->fields; i++)
        size += value_size(f->types[i], f->id_size);
    return size;
}

static void insert_class(struct family *f)
{
    uint8_t bytes[256], *to = put(bytes, 1, TAG_CLASS_DUMP);

    to = put_id(f, to, f->class_id);
    to = put(to, 4, 0); /* stack trace */
    to = put_id(f, to, find_root_class(f));
    for (int i = 0; i < 5; i++) /* loader, signers, domain, reserved */
        to = put_id(f, to, 0);
    to = put(to, 4, instance_size(f));
    to = put(to, 2, 0); /* constants */
    to = put(to, 2, 1); /* static fields */
    to = put_id(f, to, f->class_id);
    to = put(to, 1, TYPE_OBJECT);
    to = put_value(f, to, TYPE_OBJECT);
    to = put(to, 2, f->fields);
    for (unsigned i = 0; i < f->fields; i++) {
        to = put_id(f, to, f->class_id);
        to = put(to, 1, f->types[i]);
    }
    insert(f, PIECE_SUBRECORD, bytes, to);
}

static void insert_instance(struct family *f, uint64_t id)
{
    uint8_t bytes[128], *to = put(bytes, 1, TAG_INSTANCE_DUMP);

    to = put_id(f, to, id);
    to = put(to, 4, 0); /* stack trace */
    to = put_id(f, to, f->class_id);
    to = put(to, 4, instance_size(f));
    for (unsigned i = 0; i < f->fields; i++)
        to = put_value(f, to, f->types[i]);
    insert(f, PIECE_SUBRECORD, bytes, to);
}

static void insert_object_array(struct family *f, uint64_t id)
{
    unsigned elements = (unsigned)below(f->dice, 4);
    uint8_t bytes[128], *to = put(bytes, 1, TAG_OBJECT_ARRAY_DUMP);

    to = put_id(f, to, id);
    to = put(to, 4, 0); /* stack trace */
    to = put(to, 4, elements);
    to = put_id(f, to, f->class_id);
    for (unsigned i = 0; i < elements; i++)
        to = put_value(f, to, TYPE_OBJECT);
    insert(f, PIECE_SUBRECORD, bytes, to);
}

static void insert_primitive_array(struct family *f, uint64_t id)
{
    unsigned elements = (unsigned)below(f->dice, 4), type = TYPE_BOOLEAN + (unsigned)below(f->dice, TYPES_OF_PRIMITIVES);
    uint8_t bytes[128], *to = put(bytes, 1, TAG_PRIMITIVE_ARRAY_DUMP);

    to = put_id(f, to, id);
    to = put(to, 4, 0); /* stack trace */
    to = put(to, 4, elements);
    to = put(to, 1, type);
    for (unsigned i = 0; i < elements; i++)
        to = put_value(f, to, type);
    insert(f, PIECE_SUBRECORD, bytes, to);
}

/* A root of one of the kinds that all versions have. */
static void insert_root(struct family *f)
{
    static const uint8_t tags[] = {0xff, 0x01, 0x02, 0x03, 0x04, TAG_STICKY_CLASS, 0x06, 0x07, 0x08};
    struct piece root = {.kind = PIECE_SUBRECORD, .bytes = &tags[below(f->dice, sizeof tags)], .size = 1};
    uint64_t to_object = object_id(f, below(f->dice, OBJECTS));
    uint8_t bytes[64], *to = put(bytes, 1, root.bytes[0]);

    to = put_id(f, to, root.bytes[0] == TAG_STICKY_CLASS ? f->class_id : to_object);
    for (const struct field *field = layout_of(&root)->fields + 1; field->type != FIELD_END; field++)
        to = put(to, field_width(field->type, f->id_size),
                 strcmp(field->name, "frame") == 0 ? UINT64_MAX : below(f->dice, SERIALS));
    insert(f, PIECE_SUBRECORD, bytes, to);
}

/* The name of the class, and the class as loaded. */
static void insert_loading(struct family *f)
{
    const char *name = f->is_array ? "[La;" : "a";
    uint8_t bytes[64] = {TAG_UTF8}, *to = put_id(f, bytes + RECORD_HEAD, f->class_id);

    memcpy(to, name, strlen(name));
    insert(f, PIECE_RECORD, bytes, to + strlen(name));
    bytes[0] = TAG_LOAD_CLASS;
    to = put(bytes + RECORD_HEAD, 4, SERIALS + below(f->dice, UINT32_MAX - SERIALS));
    to = put_id(f, to, f->class_id);
    to = put(to, 4, 0); /* stack trace */
    to = put_id(f, to, f->class_id);
    insert(f, PIECE_RECORD, bytes, to);
}

/* The position of a heap dump record; of a new one if there is none. 0 if there is no room. */
static size_t choose_heap(struct pieces *p, struct dice *dice)
{
    static const uint8_t head[RECORD_HEAD] = {TAG_HEAP_DUMP};
    size_t chosen = 0, end = p->count;
    unsigned seen = 0;

    for (size_t i = 1; i < p->count; i++)
        if (p->list[i].kind == PIECE_HEAP && one_in(dice, ++seen))
            chosen = i;
    if (chosen)
        return chosen;
    while (end > 1 && p->list[end - 1].kind == PIECE_REST)
        end--;
    chosen = 1 + (size_t)below(dice, end);
    return insert_piece(p, chosen, &(struct piece){PIECE_HEAP, false, head, RECORD_HEAD}) ? chosen : 0;
}

void insert_family(struct pieces *pieces, struct dice *dice)
{
    struct family f = {.pieces = pieces, .dice = dice, .id_size = pieces->id_size, .is_array = one_in(dice, 3)};

    f.class_id = 1 + below(dice, UINT32_MAX / 2);
    f.fields = f.is_array ? 0 : (unsigned)below(dice, FIELDS_MOST + 1);
    for (unsigned i = 0; i < f.fields; i++)
        f.types[i] = one_in(dice, 2) ? TYPE_OBJECT : (uint8_t)(TYPE_BOOLEAN + below(dice, TYPES_OF_PRIMITIVES));
    f.at = choose_heap(pieces, dice);
    if (!f.at)
        return;
    insert_loading(&f);
    f.at++; /* into the heap dump record */
    insert_class(&f);
    for (unsigned i = 0; i < OBJECTS - 1; i++)
        (f.is_array ? insert_object_array : insert_instance)(&f, object_id(&f, i));
    insert_primitive_array(&f, object_id(&f, OBJECTS - 1));
    for (uint64_t n = 1 + below(dice, 3); n; n--)
        insert_root(&f);
}
