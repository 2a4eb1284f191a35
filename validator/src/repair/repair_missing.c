/* See repair.h. Only the first use of an undefined ID or serial number is an error. All its uses are left out together, since each
 * pass would otherwise leave out only one. */
#include <unistd.h>

#include "findings/rules.h"
#include "format/subrecord.h"
#include "repair/repair.h"

/* The rules whose findings are at a use of something undefined. */
static bool kind_of_missing(enum rule rule, enum missing_kind *kind)
{
    switch ((int)rule) {
    case RULE_STR_006:
        *kind = MISSING_STRING;
        return true;
    case RULE_STK_006:
        *kind = MISSING_CLASS_SERIAL;
        return true;
    case RULE_STK_010:
        *kind = MISSING_FRAME;
        return true;
    default:
        return false;
    }
}

void missing_init(struct repair *r)
{
    for (int i = 0; i < MISSING_KINDS; i++)
        keymap_init(&r->missing[i], &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
}

void missing_clear(struct repair *r)
{
    for (int i = 0; i < MISSING_KINDS; i++)
        keymap_clear(&r->missing[i]);
}

void missing_note(struct repair *r, enum rule rule, uint64_t offset)
{
    enum missing_kind kind;
    uint8_t bytes[8];
    size_t size;

    if (!kind_of_missing(rule, &kind))
        return;
    size = kind == MISSING_CLASS_SERIAL ? 4 : r->id_size;
    if (copy_read(r, offset, bytes, size))
        keymap_put(&r->missing[kind], size == 4 ? get_u4(bytes) : get_id(bytes, r->id_size), 0);
}

static bool is_missing(const struct repair *r, enum missing_kind kind, uint64_t key)
{
    return keymap_get(&r->missing[kind], key, NULL);
}

static bool frames_missing(const struct repair *r, struct cursor c, uint32_t frames)
{
    const uint8_t *id;

    while (frames-- && (id = cursor_take(&c, r->id_size)))
        if (is_missing(r, MISSING_FRAME, get_id(id, r->id_size)))
            return true;
    return false;
}

bool missing_in_record(struct repair *r, struct cursor c)
{
    const uint8_t *tag = cursor_take(&c, RECORD_HEADER_SIZE);
    struct LOAD_CLASS load;
    struct FRAME frame;
    struct TRACE trace;
    struct START_THREAD start;

    if (!tag)
        return false;
    switch (*tag) {
    case TAG_LOAD_CLASS:
        return read_LOAD_CLASS(&c, r->id_size, &load) &&
               (is_missing(r, MISSING_STRING, load.name) || is_renamed(r, load.class_id));
    case TAG_FRAME:
        return read_FRAME(&c, r->id_size, &frame) &&
               (is_missing(r, MISSING_STRING, frame.method) || is_missing(r, MISSING_STRING, frame.signature) ||
                is_missing(r, MISSING_STRING, frame.source) || is_missing(r, MISSING_CLASS_SERIAL, frame.class_serial));
    case TAG_TRACE:
        return read_TRACE(&c, r->id_size, &trace) && frames_missing(r, c, trace.frames);
    case TAG_START_THREAD:
        return read_START_THREAD(&c, r->id_size, &start) &&
               (is_missing(r, MISSING_STRING, start.name) || is_missing(r, MISSING_STRING, start.group) ||
                is_missing(r, MISSING_STRING, start.parent_group));
    default:
        return false;
    }
}

bool missing_in_class(const struct repair *r, const uint8_t *p)
{
    struct entry e;

    p += 1 + SIZE_OF(CLASS_DUMP, r->id_size);
    for (uint16_t n = read_count(&p); n; n--)
        read_entry(&p, SIZE_OF(CONSTANT, r->id_size), r->id_size, &e);
    for (uint16_t n = read_count(&p); n; n--) {
        read_entry(&p, SIZE_OF(STATIC_FIELD, r->id_size), r->id_size, &e);
        if (is_missing(r, MISSING_STRING, get_id(e.head, r->id_size)))
            return true;
    }
    for (uint16_t n = read_count(&p); n; n--, p += SIZE_OF(INSTANCE_FIELD, r->id_size))
        if (is_missing(r, MISSING_STRING, get_id(p, r->id_size)))
            return true;
    return false;
}
