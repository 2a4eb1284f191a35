/* Writes fields as bytes: big-endian, in the order of records.def. The inverse of cursor.h and the readers of format.h. */
#ifndef HPROF_GEN_ENCODE_H
#define HPROF_GEN_ENCODE_H

#include "stream/event.h"

/* Each writes at p and returns the end. */
static inline uint8_t *put_u1(uint8_t *p, uint8_t v)
{
    *p = v;
    return p + 1;
}

static inline uint8_t *put_u2(uint8_t *p, uint16_t v)
{
    v = FROM_BIG_ENDIAN(16, v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *put_u4(uint8_t *p, uint32_t v)
{
    v = FROM_BIG_ENDIAN(32, v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *put_u8(uint8_t *p, uint64_t v)
{
    v = FROM_BIG_ENDIAN(64, v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *put_id(uint8_t *p, uint64_t v, unsigned id_size)
{
    return id_size == 8 ? put_u8(p, v) : put_u4(p, (uint32_t)v);
}

/* The most bytes that the fields of any layout, a tag and a record header take. */
enum { FIELDS_MOST = 128 };

/* put_LOAD_CLASS(p, fields, id_size) and so on: the fields of a layout. Compiled once for IDs of 4 and once for IDs of 8 bytes. */
#define ENCODE_FOR_EITHER_SIZE static inline __attribute__((always_inline))
#define ENCODE_U1(p, v) put_u1(p, v)
#define ENCODE_U2(p, v) put_u2(p, v)
#define ENCODE_U4(p, v) put_u4(p, v)
#define ENCODE_U8(p, v) put_u8(p, v)
#define ENCODE_I4(p, v) put_u4(p, (uint32_t)(v))
#define ENCODE_ID(p, v) put_id(p, v, id_size)
#define ENCODE_FIELD(type, field, meaning) p = ENCODE_##type(p, r->field);
#define ENCODE_WRITER(name) \
    _Static_assert(sizeof(struct name##_in8) + RECORD_HEADER_SIZE <= FIELDS_MOST, "room for all"); \
    ENCODE_FOR_EITHER_SIZE uint8_t *put_##name(uint8_t *p, const struct name *r, unsigned id_size) \
    { \
        (void)id_size; \
        LAYOUT_##name(ENCODE_FIELD, NO_TAIL); \
        return p; \
    }
LAYOUTS_WITH_FIELDS(ENCODE_WRITER)

/* The bytes of a layout's fields; and the whole fixed part of an event: a RECORD's header (the length as given) and fields,
 * a SUBRECORD's tag and fields, the HEADER, an OPEN's header. At most FIELDS_MOST. */
uint8_t *put_fields(uint8_t *p, const struct event *event, unsigned id_size);
uint8_t *put_fixed_part(uint8_t *p, const struct event *event, uint32_t length, unsigned id_size);

extern const uint8_t fields_sizes[][2]; /* by layout, with IDs of 4 and of 8 bytes */

static inline size_t fields_size(enum layout_id layout, unsigned id_size)
{
    return fields_sizes[layout][id_size == 8];
}

static inline size_t fixed_part_size(const struct event *event, unsigned id_size)
{
    switch (event->kind) {
    case EVENT_HEADER:
        return event->header.text_size + 4u + 8u;
    case EVENT_RECORD:
        return RECORD_HEADER_SIZE + fields_size(event->layout, id_size);
    case EVENT_OPEN:
        return RECORD_HEADER_SIZE;
    case EVENT_SUBRECORD:
        return 1 + fields_size(event->layout, id_size);
    case EVENT_BATCH:
    case EVENT_RAW:
    case EVENT_PART:
    case EVENT_CLOSE:
    case EVENT_END:
        break;
    }
    return 0;
}

/* The offset of a field in the bytes of an event: EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, name, id_size). */
#define EVENT_OFFSET_OF(kind, layout, field, id_size) \
    ((kind == EVENT_RECORD ? RECORD_HEADER_SIZE : 1) + OFFSET_OF(layout, field, id_size))

#endif
