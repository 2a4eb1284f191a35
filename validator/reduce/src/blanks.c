/* Names, values and references that can be made plain, so that a dump can be given away. See parts.h. */
#include <string.h>

#include "parts.h"

static bool is_zero(const uint8_t *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Adds to the present edit what is not zero yet. */
static bool zero(struct plan *plan, const uint8_t *bytes, uint64_t at, uint64_t size)
{
    if (is_zero(bytes, size))
        return false;
    plan_add(plan, CHANGE_ZERO, at, size, plan->edits, 0);
    return true;
}

/* As fields(), for the constants of a class. */
static bool constants(struct plan *plan, const uint8_t *bytes, const struct hprof_item *item, bool references)
{
    struct constants c = constants_of(bytes, item->body, plan->id_size);
    bool has_any = false;

    while (next_constant(&c))
        if ((c.type == TYPE_OBJECT) == references)
            has_any |= zero(plan, bytes + c.at, item->offset + item->head + c.at, c.value_size);
    return has_any;
}

/* The fields of one kind, an edit for all of an object's: its references, or its other values. */
static void fields(struct plan *plan, struct hprof_reader *reader, const struct hprof_item *item, bool references)
{
    const bool is_static = item->tag == SUB_CLASS_DUMP;
    const uint64_t class_id = is_static ? item->id : item->class_id;
    const uint8_t *bytes = whole_body(reader, item);
    struct hprof_field field;
    bool has_any = is_static && bytes != NULL && constants(plan, bytes, item, references);

    hprof_field_init(&field);
    for (size_t i = 0; bytes != NULL && hprof_field_at(reader, class_id, is_static, i, &field) == 1; i++) {
        unsigned size = type_size(field.type, plan->id_size);

        if ((field.type == TYPE_OBJECT) == references && field.offset + size <= item->body)
            has_any |= zero(plan, bytes + field.offset, item->offset + item->head + field.offset, size);
    }
    plan->edits += has_any;
}

static void elements(struct plan *plan, struct hprof_reader *reader, const struct hprof_item *item)
{
    const uint8_t *bytes;
    uint64_t from = 0;
    int64_t size;
    bool has_any = false;

    while (from < item->body && (size = hprof_body(reader, from, 1 << 16, &bytes)) > 0) {
        has_any |= zero(plan, bytes, item->offset + item->head + from, (uint64_t)size);
        from += (uint64_t)size;
    }
    plan->edits += has_any;
}

bool name_part_stays(uint8_t byte)
{
    return memchr("/.[;()$<>", byte, 9) != NULL;
}

/* What candidate_write() makes of a name, whatever its number: each part is x and digits. */
static bool is_plain_name(const uint8_t *text, uint64_t size)
{
    bool is_first = true;

    for (uint64_t i = 0; i < size; i++) {
        bool stays = name_part_stays(text[i]);

        if (!stays && (is_first ? text[i] != 'x' : text[i] < '0' || text[i] > '9'))
            return false;
        is_first = stays;
    }
    return true;
}

static void name(struct plan *plan, struct hprof_reader *reader, const struct hprof_item *item)
{
    const uint64_t head = RECORD_HEAD + plan->id_size;
    const uint8_t *body = whole_body(reader, item);

    if (body == NULL || item->size <= head || is_plain_name(body + (head - item->head), item->size - head))
        return;
    plan_add(plan, CHANGE_NAME, item->offset + head, item->size - head, plan->edits, plan->edits);
    plan->edits++;
}

void blanks_of(struct plan *plan, struct hprof_reader *reader, const struct hprof_item *item)
{
    if (item->kind == HPROF_ITEM_RECORD && item->time != 0)
        plan_add(plan, CHANGE_ZERO, item->offset + 1, 4, plan->edits++, 0);
    if (item->kind == HPROF_ITEM_RECORD && item->tag == TAG_UTF8) {
        name(plan, reader, item);
    } else if (item->kind == HPROF_ITEM_SUBRECORD) {
        if (item->tag == SUB_INSTANCE_DUMP || item->tag == SUB_CLASS_DUMP) {
            fields(plan, reader, item, false);
            fields(plan, reader, item, true);
        } else if (item->tag == SUB_OBJECT_ARRAY_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_DUMP) {
            elements(plan, reader, item);
        }
    }
}
