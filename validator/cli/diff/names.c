/* The strings that a dump uses as names. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "redacted.h"

enum {
    TAG_LOAD_CLASS = 0x02,
    TAG_FRAME = 0x04,
    TAG_START_THREAD = 0x0a,
    SUB_CLASS_DUMP = 0x20,
    SUB_HEAP_DUMP_INFO = 0xfe,
    RECORD_HEAD = 9
};

static void add(struct names *names, uint64_t id)
{
    if (id == 0 || (names->count > 0 && names->ids[names->count - 1] == id))
        return;
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 1024;
        uint64_t *grown = realloc(names->ids, capacity * sizeof *grown);

        if (grown == NULL) {
            names->out_of_memory = true;
            return;
        }
        names->ids = grown;
        names->capacity = capacity;
    }
    names->ids[names->count++] = id;
}

/* The IDs of a START_THREAD after its serial numbers: thread object, trace, then three names. */
static void add_thread_names(struct names *names, struct hprof_reader *reader, unsigned id_size)
{
    const uint64_t first = RECORD_HEAD + 4 + id_size + 4;

    for (unsigned n = 0; n < 3; n++) {
        const uint8_t *bytes;
        uint64_t id = 0;

        if (hprof_bytes(reader, first + (uint64_t)n * id_size, id_size, &bytes) != (int64_t)id_size)
            return;
        for (unsigned i = 0; i < id_size; i++)
            id = id << 8 | bytes[i];
        add(names, id);
    }
}

static void add_field_names(struct names *names, struct hprof_reader *reader, uint64_t class_id)
{
    struct hprof_class class;
    struct hprof_field field;

    hprof_class_init(&class);
    hprof_field_init(&field);
    if (hprof_class(reader, class_id, &class) != 1)
        return;
    for (size_t i = 0; i < class.static_fields && hprof_field_at(reader, class_id, true, i, &field) == 1; i++)
        add(names, field.name_id);
    for (size_t i = 0; i < class.fields && hprof_field_at(reader, class_id, false, i, &field) == 1; i++)
        add(names, field.name_id);
}

/* Counts what has a name in B. */
static void count_named(struct remains *remains, struct hprof_reader *reader, const struct hprof_item *item)
{
    struct hprof_class class;

    hprof_class_init(&class);
    if (item->kind == HPROF_ITEM_RECORD) {
        remains->classes += item->tag == TAG_LOAD_CLASS;
        remains->frames += item->tag == TAG_FRAME;
        remains->threads += item->tag == TAG_START_THREAD;
    } else if (item->tag == SUB_CLASS_DUMP && hprof_class(reader, item->id, &class) == 1) {
        remains->fields += (uint64_t) class.fields + class.static_fields;
    }
}

static void add_names(struct names *names, struct hprof_reader *reader, unsigned id_size, const struct hprof_item *item)
{
    if (item->kind == HPROF_ITEM_SUBRECORD) {
        if (item->tag == SUB_CLASS_DUMP)
            add_field_names(names, reader, item->id);
        else if (item->tag == SUB_HEAP_DUMP_INFO)
            add(names, item->name_id);
    } else if (item->tag == TAG_LOAD_CLASS) {
        add(names, item->name_id);
    } else if (item->tag == TAG_FRAME) {
        add(names, item->name_id);
        add(names, item->signature_id);
        add(names, item->source_id);
    } else if (item->tag == TAG_START_THREAD) {
        add_thread_names(names, reader, id_size);
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

    return one < other ? -1 : one > other;
}

bool names_collect(struct names *names, struct hprof_reader *reader, unsigned id_size, struct redaction *redaction)
{
    struct hprof_item item;
    int result;

    hprof_item_init(&item);
    while ((result = hprof_next(reader, &item)) == 1 && !names->out_of_memory) {
        if (item.kind == HPROF_ITEM_DAMAGE) {
            if (redaction != NULL)
                add_leak(redaction, LEAK_RECORD, item.offset, item.damage);
            continue;
        }
        if (redaction != NULL && item.kind == HPROF_ITEM_RECORD && hprof_record_name(item.tag) == NULL)
            add_leak(redaction, LEAK_RECORD, item.offset, "an undefined record");
        add_names(names, reader, id_size, &item);
        if (redaction != NULL)
            count_named(&redaction->remains, reader, &item);
    }
    if (names->count > 1)
        qsort(names->ids, names->count, sizeof *names->ids, compare_ids);
    names->is_sorted = true;
    return result >= 0 && !names->out_of_memory;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool names_list(struct redaction *r, const struct names *names)
{
    size_t kept = 0;

    r->names = calloc(names->count + 1, sizeof *r->names);
    if (r->names == NULL)
        return false;
    for (size_t i = 0; i < names->count; i++) {
        const char *text;
        size_t size;

        if (hprof_string(r->diff->sides[1].reader, names->ids[i], &text, &size) != 1)
            continue;
        r->names[r->name_count] = strndup(text, size);
        if (r->names[r->name_count] == NULL)
            return false;
        r->name_count++;
    }
    qsort(r->names, r->name_count, sizeof *r->names, compare_texts);
    for (size_t i = 0; i < r->name_count; i++) {
        if (kept == 0 || strcmp(r->names[kept - 1], r->names[i]) != 0)
            r->names[kept++] = r->names[i];
        else
            free(r->names[i]);
    }
    r->name_count = kept;
    return true;
}

bool names_have(const struct names *names, uint64_t id)
{
    return names->count > 0 && bsearch(&id, names->ids, names->count, sizeof id, compare_ids) != NULL;
}
