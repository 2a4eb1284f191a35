/* See columns.h. */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

enum { SUB_CLASS_DUMP = 0x20, SUB_INSTANCE_DUMP = 0x21, SUB_OBJECT_ARRAY_DUMP = 0x22, SUB_PRIMITIVE_ARRAY_DUMP = 0x23 };
enum { SUB_ANDROID_PRIMITIVE_ARRAY_NODATA = 0xc3, TYPE_OBJECT = 2, WINDOW = 1 << 20 };

struct collecting {
    struct hprof_reader *reader;
    struct hprof_python_columns *columns;
    uint64_t room;
    unsigned id_size;
    bool has_objects; /* else references */
    int result;       /* 1 while all goes well */
    /* By the number of a class: where its instances have references, after their number. NULL if that is not known yet. */
    uint32_t **offsets;
    size_t class_room;
};

static bool grow(uint64_t **column, uint64_t room)
{
    uint64_t *larger = room <= SIZE_MAX / sizeof **column ? realloc(*column, (size_t)room * sizeof **column) : NULL;

    if (larger != NULL)
        *column = larger;
    return larger != NULL;
}

/* Room for one more row. */
static bool has_room(struct collecting *c)
{
    struct hprof_python_columns *columns = c->columns;
    uint8_t *kind;

    if (columns->count < c->room)
        return true;
    c->room = c->room != 0 ? 2 * c->room : 4096;
    if (grow(&columns->a, c->room) && grow(&columns->b, c->room)) {
        if (!c->has_objects)
            return true;
        kind = realloc(columns->kind, (size_t)c->room);
        if (kind != NULL)
            columns->kind = kind;
        if (kind != NULL && grow(&columns->c, c->room) && grow(&columns->d, c->room))
            return true;
    }
    c->result = -HPROF_LIMIT;
    return false;
}

static bool is_object(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_SUBRECORD &&
           (item->tag == SUB_INSTANCE_DUMP || item->tag == SUB_OBJECT_ARRAY_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_DUMP ||
            item->tag == SUB_ANDROID_PRIMITIVE_ARRAY_NODATA);
}

static void add_object(struct collecting *c, const struct hprof_item *item)
{
    struct hprof_python_columns *columns = c->columns;

    if (!is_object(item) || !has_room(c))
        return;
    columns->a[columns->count] = item->id;
    columns->b[columns->count] = item->class_id;
    columns->c[columns->count] = item->size;
    columns->d[columns->count] = item->offset;
    columns->kind[columns->count++] = item->tag;
}

/* ---- References ---- */

static void add_reference(struct collecting *c, uint64_t from, const uint8_t *bytes)
{
    uint64_t to = 0;

    for (unsigned i = 0; i < c->id_size; i++)
        to = to << 8 | bytes[i];
    if (to == 0 || !has_room(c))
        return;
    c->columns->a[c->columns->count] = from;
    c->columns->b[c->columns->count++] = to;
}

/* NULL if the class is not known yet, or memory has run out. */
static const uint32_t *reference_offsets(struct collecting *c, uint64_t class_id)
{
    uint32_t number = hprof_class_number(c->reader, class_id), count = 0, *offsets = NULL;
    struct hprof_field field;

    if (number == UINT32_MAX)
        return NULL;
    if (number >= c->class_room) {
        size_t room = 2 * ((size_t)number + 1);
        uint32_t **larger = realloc(c->offsets, room * sizeof *larger);

        if (larger == NULL) {
            c->result = -HPROF_LIMIT;
            return NULL;
        }
        memset(larger + c->class_room, 0, (room - c->class_room) * sizeof *larger);
        c->offsets = larger;
        c->class_room = room;
    }
    if (c->offsets[number] != NULL)
        return c->offsets[number];
    hprof_field_init(&field);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && (offsets = malloc((count + 1) * sizeof *offsets)) == NULL) {
            c->result = -HPROF_LIMIT;
            return NULL;
        }
        count = 0;
        for (size_t i = 0; hprof_field_at(c->reader, class_id, false, i, &field) == 1; i++)
            if (field.type == TYPE_OBJECT && ++count != 0 && pass == 1)
                offsets[count] = (uint32_t)field.offset;
    }
    offsets[0] = count;
    c->offsets[number] = offsets;
    return offsets;
}

static void add_fields(struct collecting *c, const struct hprof_item *item)
{
    const uint32_t *offsets = reference_offsets(c, item->class_id);
    const uint8_t *bytes;
    int64_t size = offsets != NULL && offsets[0] != 0 ? hprof_body(c->reader, 0, WINDOW, &bytes) : 0;

    for (uint32_t i = 1; size > 0 && i <= offsets[0]; i++)
        if ((int64_t)offsets[i] + c->id_size <= size)
            add_reference(c, item->id, bytes + offsets[i]);
}

static void add_statics(struct collecting *c, const struct hprof_item *item)
{
    struct hprof_field field;
    const uint8_t *bytes;

    hprof_field_init(&field);
    for (size_t i = 0; hprof_field_at(c->reader, item->id, true, i, &field) == 1; i++)
        if (field.type == TYPE_OBJECT && hprof_body(c->reader, field.offset, c->id_size, &bytes) == (int64_t)c->id_size)
            add_reference(c, item->id, bytes);
}

static void add_elements(struct collecting *c, const struct hprof_item *item)
{
    const uint8_t *bytes;
    uint64_t from = 0;
    int64_t size;

    while (from < item->body && (size = hprof_body(c->reader, from, WINDOW, &bytes)) >= (int64_t)c->id_size) {
        uint64_t used = 0;

        for (; used + c->id_size <= (uint64_t)size; used += c->id_size)
            add_reference(c, item->id, bytes + used);
        from += used;
    }
}

static void add_references(struct collecting *c, const struct hprof_item *item)
{
    if (item->kind != HPROF_ITEM_SUBRECORD)
        return;
    if (item->tag == SUB_INSTANCE_DUMP)
        add_fields(c, item);
    else if (item->tag == SUB_OBJECT_ARRAY_DUMP)
        add_elements(c, item);
    else if (item->tag == SUB_CLASS_DUMP)
        add_statics(c, item);
}

/* ---- Both ---- */

static int collect(struct collecting *c, uint64_t heap_dump)
{
    struct hprof_header header;
    struct hprof_item item;
    int got = 1;

    hprof_header_init(&header);
    hprof_item_init(&item);
    *c->columns = (struct hprof_python_columns){0};
    c->result = hprof_read_header(c->reader, &header);
    c->id_size = header.id_size;
    while (c->result == 1 && (got = hprof_next(c->reader, &item)) == 1) {
        if (heap_dump != 0 && item.heap_dump != heap_dump) {
            if (item.heap_dump > heap_dump)
                break;
            continue;
        }
        (c->has_objects ? add_object : add_references)(c, &item);
    }
    for (size_t i = 0; i < c->class_room; i++)
        free(c->offsets[i]);
    free(c->offsets);
    return got < 0 ? got : c->result;
}

int hprof_python_objects(struct hprof_reader *reader, uint64_t heap_dump, struct hprof_python_columns *columns)
{
    struct collecting c = {.reader = reader, .columns = columns, .has_objects = true};

    return collect(&c, heap_dump);
}

int hprof_python_references(struct hprof_reader *reader, uint64_t heap_dump, struct hprof_python_columns *columns)
{
    struct collecting c = {.reader = reader, .columns = columns};

    return collect(&c, heap_dump);
}

void hprof_python_free(struct hprof_python_columns *columns)
{
    free(columns->a);
    free(columns->b);
    free(columns->c);
    free(columns->d);
    free(columns->kind);
    *columns = (struct hprof_python_columns){0};
}

size_t hprof_python_size(const char *structure)
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {
        {"hprof_rule", sizeof(struct hprof_rule)},
        {"hprof_profile", sizeof(struct hprof_profile)},
        {"hprof_finding", sizeof(struct hprof_finding)},
        {"hprof_summary", sizeof(struct hprof_summary)},
        {"hprof_source", sizeof(struct hprof_source)},
        {"hprof_options", sizeof(struct hprof_options)},
        {"hprof_read_options", sizeof(struct hprof_read_options)},
        {"hprof_header", sizeof(struct hprof_header)},
        {"hprof_item", sizeof(struct hprof_item)},
        {"hprof_class", sizeof(struct hprof_class)},
        {"hprof_field", sizeof(struct hprof_field)},
        {"hprof_python_columns", sizeof(struct hprof_python_columns)},
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(sizes[i].name, structure) == 0)
            return sizes[i].size;
    return 0;
}
