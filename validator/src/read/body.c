/* The body of the last item, and values in it. */
#include <string.h>

#include "base/versioned.h"
#include "read/reader.h"

int64_t hprof_bytes(struct hprof_reader *r, uint64_t from, size_t want, const uint8_t **bytes)
{
    const struct hprof_item *item = &r->item;
    const uint64_t size = item->head + item->body;
    const size_t most = r->in.buffer ? BODY_MOST : SIZE_MAX;
    uint64_t left;
    size_t there;

    *bytes = (const uint8_t *)"";
    if (reader_ready(r))
        return reader_ready(r);
    if (!item->kind || item->kind == HPROF_ITEM_DAMAGE || from >= size)
        return 0;
    left = size - from;
    if (want > left)
        want = (size_t)left;
    if (want > most)
        want = most;
    if (r->joined) {
        *bytes = r->joined + from;
        return (int64_t)want;
    }
    if (!r->in.source.seekable && item->offset + from < r->in.offset && !input_can_go_back(&r->in, item->offset + from))
        return reader_fail(r, HPROF_USAGE, "this source can be read only once, and the bytes are too far back");
    there = reader_see(r, item->offset + from, want);
    *bytes = r->in.at;
    return there < want && reader_check(r) ? reader_check(r) : (int64_t)there;
}

int64_t hprof_body(struct hprof_reader *r, uint64_t from, size_t want, const uint8_t **bytes)
{
    *bytes = (const uint8_t *)"";
    if (reader_ready(r))
        return reader_ready(r);
    return from < r->item.body ? hprof_bytes(r, r->item.head + from, want, bytes) : 0;
}

/* The value of a type, which takes `size` bytes, at p. */
static struct hprof_value read_value(const uint8_t *p, uint8_t type, unsigned size)
{
    struct hprof_value value = {.struct_size = sizeof value, .type = type};
    uint32_t four;
    float single;

    value.bits = size == 1 ? get_u1(p) : size == 2 ? get_u2(p) : size == 4 ? get_u4(p) : get_u8(p);
    switch (type) {
    case TYPE_OBJECT:
        value.id = value.bits;
        break;
    case TYPE_BYTE:
        value.integer = (int8_t)value.bits;
        break;
    case TYPE_SHORT:
        value.integer = (int16_t)value.bits;
        break;
    case TYPE_INT:
        value.integer = (int32_t)value.bits;
        break;
    case TYPE_FLOAT:
        four = (uint32_t)value.bits;
        memcpy(&single, &four, sizeof single);
        value.real = (double)single;
        break;
    case TYPE_DOUBLE:
        memcpy(&value.real, &value.bits, sizeof value.real);
        break;
    default: /* boolean, char, long */
        value.integer = (int64_t)value.bits;
        break;
    }
    return value;
}

/* The value at an offset of the body. */
static int value_at(struct hprof_reader *r, uint64_t from, uint8_t type, struct hprof_value *value)
{
    const unsigned size = type_size(type, r->dump->id_size);
    struct hprof_value own;
    const uint8_t *bytes;
    int64_t there = size ? hprof_body(r, from, size, &bytes) : 0;

    if (there < 0)
        return (int)there;
    if (!size || there < (int64_t)size)
        return 0;
    own = read_value(bytes, type, size);
    return reader_give(r, value, &own, sizeof own);
}

int hprof_field_value(struct hprof_reader *r, const struct hprof_field *field, struct hprof_value *value)
{
    struct hprof_field own;
    const char *reason = take_versioned(&own, sizeof own, field);

    if (reason)
        return reader_fail(r, HPROF_USAGE, reason);
    if (r->item.kind != HPROF_ITEM_SUBRECORD || r->item.tag != (own.is_static ? SUB_CLASS_DUMP : SUB_INSTANCE_DUMP) ||
        (own.is_static && r->item.id != own.class_id))
        return 0;
    return value_at(r, own.offset, own.type, value);
}

int hprof_element(struct hprof_reader *r, uint64_t index, struct hprof_value *value)
{
    const struct hprof_item *item = &r->item;

    if (item->kind != HPROF_ITEM_SUBRECORD || index >= item->elements || item->tag == SUB_PRIMITIVE_ARRAY_NODATA)
        return 0;
    return value_at(r, index * type_size(item->element_type, r->dump->id_size), item->element_type, value);
}

int hprof_trace_frame(struct hprof_reader *r, uint32_t index, uint64_t *frame_id)
{
    const struct hprof_item *item = &r->item;
    struct hprof_value value = {.struct_size = sizeof value};
    const uint64_t from = SIZE_OF(TRACE, r->dump->id_size) + (uint64_t)index * r->dump->id_size;
    int result;

    if (item->kind != HPROF_ITEM_RECORD || item->tag != TAG_TRACE || index >= item->frames)
        return 0;
    result = value_at(r, from, TYPE_OBJECT, &value);
    *frame_id = value.id;
    return result;
}
