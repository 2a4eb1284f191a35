/* See encode.h. */
#include "stream/encode.h"

#define SIZES(name) [LAYOUT_ID_##name] = {SIZE_OF(name, 4), SIZE_OF(name, 8)},
const uint8_t fields_sizes[][2] = {[LAYOUT_ID_NONE] = {0, 0}, LAYOUTS_WITH_FIELDS(SIZES)};

ENCODE_FOR_EITHER_SIZE uint8_t *put_fields_of(uint8_t *p, const struct event *e, unsigned id_size)
{
    switch (e->layout) {
    case LAYOUT_ID_NONE:
        break;
#define PUT_CASE(name) \
    case LAYOUT_ID_##name: \
        return put_##name(p, &e->fields.name, id_size);
        LAYOUTS_WITH_FIELDS(PUT_CASE)
    }
    return p;
}

uint8_t *put_fields(uint8_t *p, const struct event *e, unsigned id_size)
{
    return id_size == 8 ? put_fields_of(p, e, 8) : put_fields_of(p, e, 4);
}

static uint8_t *put_record_header(uint8_t *p, const struct event *e, uint32_t length)
{
    p = put_u1(p, e->tag);
    p = put_u4(p, e->time);
    return put_u4(p, length);
}

uint8_t *put_fixed_part(uint8_t *p, const struct event *e, uint32_t length, unsigned id_size)
{
    switch (e->kind) {
    case EVENT_HEADER:
        memcpy(p, e->header.text, e->header.text_size);
        p = put_u4(p + e->header.text_size, e->header.id_size);
        return put_u8(p, e->header.timestamp);
    case EVENT_RECORD:
        return put_fields(put_record_header(p, e, length), e, id_size);
    case EVENT_OPEN:
        return put_record_header(p, e, length);
    case EVENT_SUBRECORD:
        return put_fields(put_u1(p, e->tag), e, id_size);
    case EVENT_BATCH:
    case EVENT_RAW:
    case EVENT_PART:
    case EVENT_CLOSE:
    case EVENT_END:
        break;
    }
    return p;
}
