/* See parts.h. */
#include "parts.h"

enum { WHOLE_BODY = 1 << 20 };

unsigned type_size(uint8_t type, unsigned id_size)
{
    static const unsigned sizes[] = {[4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8};

    return type == TYPE_OBJECT ? id_size : type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

bool is_object(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_SUBRECORD &&
           (item->tag == SUB_INSTANCE_DUMP || item->tag == SUB_OBJECT_ARRAY_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_DUMP ||
            item->tag == SUB_ANDROID_PRIMITIVE_ARRAY_NODATA);
}

bool is_root(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_SUBRECORD && !is_object(item) && item->tag != SUB_CLASS_DUMP &&
           item->tag != SUB_ANDROID_HEAP_DUMP_INFO;
}

uint64_t number_at(const uint8_t *bytes, unsigned size)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < size; i++)
        number = number << 8 | bytes[i];
    return number;
}

const uint8_t *whole_body(struct hprof_reader *reader, const struct hprof_item *item)
{
    const uint8_t *bytes;

    if (item->body > WHOLE_BODY || hprof_body(reader, 0, (size_t)item->body, &bytes) != (int64_t)item->body)
        return NULL;
    return bytes;
}

/* ---- References ---- */

static void references_of_array(struct hprof_reader *reader, const struct hprof_item *item, unsigned id_size,
                                take_reference *take, void *context)
{
    uint64_t from = 0;
    const uint8_t *bytes;
    int64_t size;

    while (from < item->body && (size = hprof_body(reader, from, WHOLE_BODY, &bytes)) >= (int64_t)id_size) {
        uint64_t used = 0;

        for (; used + id_size <= (uint64_t)size; used += id_size) {
            uint64_t id = number_at(bytes + used, id_size);

            if (id != 0)
                take(context, item->offset + item->head + from + used, id);
        }
        from += used;
    }
}

static void references_in_fields(struct hprof_reader *reader, const struct hprof_item *item, uint64_t class_id, bool is_static,
                                 unsigned id_size, take_reference *take, void *context)
{
    const uint8_t *bytes = whole_body(reader, item);
    struct hprof_field field;

    hprof_field_init(&field);
    for (size_t i = 0; bytes != NULL && hprof_field_at(reader, class_id, is_static, i, &field) == 1; i++)
        if (field.type == TYPE_OBJECT && field.offset + id_size <= item->body) {
            uint64_t id = number_at(bytes + field.offset, id_size);

            if (id != 0)
                take(context, item->offset + item->head + field.offset, id);
        }
}

struct constants constants_of(const uint8_t *body, uint64_t size, unsigned id_size)
{
    return (struct constants){
        .body = body, .size = size, .left = size >= 2 ? number_at(body, 2) : 0, .at = 2, .id_size = id_size};
}

bool next_constant(struct constants *c)
{
    enum { BEFORE_VALUE = 2 + 1 /* the index and the type */ };

    c->at += c->value_size;
    if (c->left == 0 || c->size - c->at < BEFORE_VALUE)
        return false;
    c->left--;
    c->at += BEFORE_VALUE;
    c->type = c->body[c->at - 1];
    c->value_size = type_size(c->type, c->id_size);
    return c->value_size <= c->size - c->at;
}

static void references_in_constants(struct hprof_reader *reader, const struct hprof_item *item, unsigned id_size,
                                    take_reference *take, void *context)
{
    const uint8_t *bytes = whole_body(reader, item);
    struct constants c = constants_of(bytes, bytes != NULL ? item->body : 0, id_size);

    while (next_constant(&c))
        if (c.type == TYPE_OBJECT && number_at(bytes + c.at, id_size) != 0)
            take(context, item->offset + item->head + c.at, number_at(bytes + c.at, id_size));
}

void each_reference(struct hprof_reader *reader, const struct hprof_item *item, unsigned id_size, take_reference *take,
                    void *context)
{
    if (item->kind != HPROF_ITEM_SUBRECORD)
        return;
    if (item->tag == SUB_OBJECT_ARRAY_DUMP)
        references_of_array(reader, item, id_size, take, context);
    else if (item->tag == SUB_INSTANCE_DUMP)
        references_in_fields(reader, item, item->class_id, false, id_size, take, context);
    else if (item->tag == SUB_CLASS_DUMP) {
        references_in_constants(reader, item, id_size, take, context);
        references_in_fields(reader, item, item->id, true, id_size, take, context);
    }
}
