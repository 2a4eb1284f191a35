#include "read_object.h"

#include "mix.h"

enum { SUB_PRIMITIVE_ARRAY_NODATA = 0xc3, CHUNK = 1 << 16 };

unsigned size_of_type(uint8_t type, unsigned id_size)
{
    static const uint8_t sizes[PRIMITIVE_TYPES_END] = {
        [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8};

    return type == TYPE_OBJECT ? id_size : type < PRIMITIVE_TYPES_END ? sizes[type] : 0;
}

uint64_t value_at(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

struct object_reading {
    struct hprof_reader *reader;
    const struct hprof_item *item;
    void (*reference)(void *context, uint64_t id);
    void *context;
    unsigned id_size;
};

/* The bytes of a body that is small, or of the part with a field. */
static const uint8_t *bytes_of(struct object_reading *r, const uint8_t **body, int64_t *there, uint64_t at, unsigned size)
{
    const uint8_t *bytes;

    if (*body != NULL && (uint64_t)*there >= at + size)
        return *body + at;
    *body = NULL; /* other bytes may be there now */
    return hprof_body(r->reader, at, size, &bytes) == (int64_t)size ? bytes : NULL;
}

/* Fields have no order: their digests are added. */
static uint64_t read_fields(struct object_reading *r, const struct shape *shape)
{
    const uint8_t *body = NULL, *at;
    int64_t there = r->item->body <= CHUNK ? hprof_body(r->reader, 0, (size_t)r->item->body, &body) : 0;
    uint64_t sum = 0;

    if (there <= 0)
        body = NULL;
    for (uint32_t i = 0; i < shape->value_count; i++) {
        const struct slot *slot = &shape->values[i];
        unsigned size = size_of_type(slot->type, r->id_size);

        at = bytes_of(r, &body, &there, slot->at, size);
        if (at != NULL)
            sum += mix_two(slot->name, value_at(at, size));
    }
    for (uint32_t i = 0; i < shape->reference_count; i++) {
        const struct slot *slot = &shape->references[i];
        uint64_t id = 0;

        if (slot->name_id == SLOT_SUPER)
            id = shape->super_id;
        else if (slot->name_id == SLOT_LOADER)
            id = shape->loader_id;
        else if ((at = bytes_of(r, &body, &there, slot->at, r->id_size)) != NULL)
            id = value_at(at, r->id_size);
        r->reference(r->context, id);
    }
    return sum;
}

static bool read_elements(struct object_reading *r)
{
    uint64_t at = 0, read = 0;
    const uint8_t *bytes;
    int64_t there = 0;

    while (read < r->item->elements && (there = hprof_body(r->reader, at, CHUNK, &bytes)) >= (int64_t)r->id_size) {
        size_t n = (size_t)there / r->id_size;

        for (size_t i = 0; i < n && read < r->item->elements; i++, read++)
            r->reference(r->context, value_at(bytes + i * r->id_size, r->id_size));
        at += (uint64_t)n * r->id_size;
    }
    for (; read < r->item->elements && there >= 0; read++) /* of an array that is not complete */
        r->reference(r->context, 0);
    return there >= 0;
}

static bool hash_elements(struct object_reading *r, uint64_t *h)
{
    uint64_t at = 0;
    const uint8_t *bytes;
    int64_t there = 0;

    while (at < r->item->body && (there = hprof_body(r->reader, at, CHUNK, &bytes)) > 0) {
        *h = mix_bytes(*h, bytes, (size_t)there);
        at += (uint64_t)there;
    }
    return there >= 0;
}

bool read_object(struct hprof_reader *reader, const struct hprof_item *item, const struct shape *shape, uint64_t seed,
                 void (*reference)(void *context, uint64_t id), void *context, uint64_t *digest)
{
    struct object_reading r = {
        .reader = reader, .item = item, .id_size = shape->id_size, .reference = reference, .context = context};
    bool is_read = true;
    uint64_t h = seed;

    switch (shape->kind) {
    case SHAPE_CLASS:
    case SHAPE_INSTANCE:
        h = mix_two(h, read_fields(&r, shape));
        break;
    case SHAPE_OBJECT_ARRAY:
        h = mix_two(h, item->elements);
        is_read = read_elements(&r);
        break;
    case SHAPE_PRIMITIVE_ARRAY:
        h = mix_two(h, (uint64_t)item->elements << 8 | item->element_type);
        is_read = shape->has_payload ? hash_elements(&r, &h) : true;
        break;
    case SHAPE_OPAQUE:
        h = mix_two(h, item->body);
        break;
    case SHAPE_KINDS:
        break;
    }
    *digest = h;
    return is_read;
}
