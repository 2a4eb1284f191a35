/* See encode.h. */
#include "encode.h"

/* Compiled once for IDs of 4 and once for IDs of 8 bytes. */
#define FOR_EITHER_SIZE static inline __attribute__((always_inline))

#define PUT_U1(p, v) put_u1(p, v)
#define PUT_U2(p, v) put_u2(p, v)
#define PUT_U4(p, v) put_u4(p, v)
#define PUT_U8(p, v) put_u8(p, v)
#define PUT_I4(p, v) put_u4(p, (uint32_t)(v))
#define PUT_ID(p, v) put_id(p, v, id_size)

#define PUT_FIELD(type, field, meaning) p = PUT_##type(p, r->field);
#define DEFINE_WRITER(name) \
    _Static_assert(sizeof(struct name##_in8) + RECORD_HEADER_SIZE <= FIELDS_MOST, "room for all"); \
    FOR_EITHER_SIZE uint8_t *put_##name(uint8_t *p, const struct name *r, unsigned id_size) \
    { \
        (void)id_size; \
        LAYOUT_##name(PUT_FIELD, NO_TAIL); \
        return p; \
    }
LAYOUTS_WITH_FIELDS(DEFINE_WRITER)

#define SIZES(name) [LAYOUT_ID_##name] = {SIZE_OF(name, 4), SIZE_OF(name, 8)},
const uint8_t fields_sizes[][2] = {[LAYOUT_ID_NONE] = {0, 0}, LAYOUTS_WITH_FIELDS(SIZES)};

FOR_EITHER_SIZE uint8_t *put_fields_of(uint8_t *p, const struct event *e, unsigned id_size)
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
    case EVENT_RAW:
    case EVENT_PART:
    case EVENT_CLOSE:
    case EVENT_END:
        break;
    }
    return p;
}
