/* Fields, elements, frames and characters, which are smaller than a record or sub-record. See parts.h. */
#include <stdlib.h>

#include "parts.h"
#include "store.h"

enum { MOST_PARTS = 1 << 18 };

/* Parts of equal size, `from` bytes after the start of the item, which a number counts. */
static void repeated(struct members *m, const struct hprof_item *item, uint32_t record, uint64_t from, uint64_t each,
                     uint64_t count_at, unsigned count_size)
{
    const uint64_t parts = each != 0 && item->size > from ? (item->size - from) / each : 0;
    const uint64_t most = 1 + m->plan->base_size / MOST_PARTS; /* of an edit */

    for (uint64_t i = 0, count; i < parts; i += count) {
        count = parts - i < most ? parts - i : most;
        plan_add(m->plan, CHANGE_REMOVE, item->offset + from + i * each, count * each, m->plan->edits, record);
        if (count_size != 0)
            plan_add(m->plan, CHANGE_COUNT, item->offset + count_at, count_size, m->plan->edits, (uint32_t)count);
        m->plan->edits++;
    }
}

/* ---- Classes and instances ---- */

/* The edits of the fields that a class declares; NO_EDIT if the class is not known. */
static uint32_t edits_of_fields(struct members *m, uint64_t class_id)
{
    uint32_t number = hprof_class_number(m->reader, class_id);
    struct hprof_class class;

    hprof_class_init(&class);
    if (number == UINT32_MAX || hprof_class(m->reader, class_id, &class) != 1 || !class.is_dumped)
        return NO_EDIT;
    while (number >= m->class_room) {
        size_t had = m->class_room;

        m->first_field = store_grow(m->first_field, had, &m->class_room, sizeof *m->first_field);
        for (size_t i = had; i < m->class_room; i++)
            m->first_field[i] = 0;
    }
    if (m->first_field[number] == 0) {
        m->first_field[number] = m->plan->edits + 1;
        m->plan->edits += class.fields;
    }
    return m->first_field[number] - 1;
}

/* The fields of the class and its superclasses: each takes its bytes out of an instance, and makes a size smaller. */
static void instance_fields(struct members *m, const struct hprof_item *item, uint64_t class_id, uint32_t record,
                            uint64_t size_at, bool has_values)
{
    unsigned id_size = m->plan->id_size;
    struct hprof_field field;
    uint64_t declaring = 0;
    size_t first = 0;
    uint32_t edit = NO_EDIT;

    hprof_field_init(&field);
    for (size_t i = 0; hprof_field_at(m->reader, class_id, false, i, &field) == 1; i++) {
        unsigned size = type_size(field.type, id_size);

        if (i == 0 || field.class_id != declaring) {
            declaring = field.class_id;
            first = i;
            edit = edits_of_fields(m, declaring);
        }
        if (edit == NO_EDIT || size == 0 || (has_values && field.offset + size > item->body))
            continue;
        plan_add(m->plan, CHANGE_COUNT, item->offset + size_at, 4, edit + (uint32_t)(i - first), size);
        if (has_values)
            plan_add(m->plan, CHANGE_REMOVE, item->offset + item->head + field.offset, size, edit + (uint32_t)(i - first),
                     record);
    }
}

/* The constant pool, the static fields and the fields that a CLASS_DUMP lists. */
static void parts_of_class(struct members *m, const struct hprof_item *item, uint32_t record)
{
    const unsigned id_size = m->plan->id_size, before_type[] = {2, id_size, id_size};
    const uint64_t start = item->offset + item->head;
    const uint8_t *bytes = whole_body(m->reader, item);
    uint64_t at = 0;

    for (unsigned list = 0; bytes != NULL && list < 3; list++) {
        uint64_t count_at = at, count;
        uint32_t edit;

        if (at + 2 > item->body)
            return;
        count = number_at(bytes + at, 2);
        at += 2;
        edit = list == 2 ? edits_of_fields(m, item->id) : NO_EDIT;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t size = before_type[list] + 1;

            if (at + size > item->body)
                return;
            size += list < 2 ? type_size(bytes[at + before_type[list]], id_size) : 0;
            if (list == 2 && edit == NO_EDIT)
                return;
            plan_add(m->plan, CHANGE_REMOVE, start + at, size, list == 2 ? edit + (uint32_t)i : m->plan->edits, record);
            plan_add(m->plan, CHANGE_COUNT, start + count_at, 2, list == 2 ? edit + (uint32_t)i : m->plan->edits, 1);
            m->plan->edits += list < 2;
            at += size;
        }
    }
}

/* ---- All kinds ---- */

void members_of(struct members *m, const struct hprof_item *item, uint32_t record)
{
    const unsigned id = m->plan->id_size;

    if (item->kind == HPROF_ITEM_RECORD && record == NO_RECORD && item->tag <= TAG_CPU_SAMPLES)
        record = plan_add_record(m->plan, item->offset);
    if (item->kind == HPROF_ITEM_DAMAGE) {
        repeated(m, item, record, 0, 1, 0, 0);
    } else if (item->kind == HPROF_ITEM_RECORD) {
        if (item->tag == TAG_UTF8)
            repeated(m, item, record, RECORD_HEAD + id, 1, 0, 0);
        else if (item->tag == TAG_STACK_TRACE)
            repeated(m, item, record, RECORD_HEAD + 12, id, RECORD_HEAD + 8, 4);
        else if (item->tag == TAG_ALLOC_SITES)
            repeated(m, item, record, RECORD_HEAD + 34, 25, RECORD_HEAD + 30, 4);
        else if (item->tag == TAG_CPU_SAMPLES)
            repeated(m, item, record, RECORD_HEAD + 8, 8, RECORD_HEAD + 4, 4);
    } else if (item->kind == HPROF_ITEM_SUBRECORD) {
        if (item->tag == SUB_OBJECT_ARRAY_DUMP)
            repeated(m, item, record, item->head, id, 1 + id + 4, 4);
        else if (item->tag == SUB_PRIMITIVE_ARRAY_DUMP)
            repeated(m, item, record, item->head, type_size(item->element_type, id), 1 + id + 4, 4);
        else if (item->tag == SUB_INSTANCE_DUMP && edits_of_fields(m, item->class_id) == NO_EDIT)
            repeated(m, item, record, item->head, 1, 1 + id + 4 + id, 4); /* without its class it is so many bytes */
        else if (item->tag == SUB_INSTANCE_DUMP)
            instance_fields(m, item, item->class_id, record, 1 + id + 4 + id, true);
        else if (item->tag == SUB_CLASS_DUMP) {
            instance_fields(m, item, item->id, record, 1 + id + 4 + 6 * id, false);
            parts_of_class(m, item, record);
        }
    }
}

void members_free(struct members *m)
{
    free(m->first_field);
}
