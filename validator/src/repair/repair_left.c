/* See repair_copy.h. What the copy does not take, and what it cannot take unchanged. */
#include "repair/repair_copy.h"

#include "format/subrecord.h"
#include "format/tags.h"

enum { SEEN = 32 /* bytes that show what a record or sub-record is, and its class */ };

void leave_out(struct repair *r, enum left_out_kind kind, uint64_t key, uint64_t bytes)
{
    uint64_t index, seen = bytes < SEEN ? bytes : SEEN;

    if (!bytes)
        return;
    if (kind < LEFT_BYTES && damage_is_at(r, r->in.offset - bytes, seen)) {
        kind = LEFT_DAMAGED;
        key = 0;
    }
    damage_note_shift(r, copy_size(r));
    r->has_changed = r->heap.is_reduced = true;
    r->result.left_out += bytes;
    if (!keymap_get(&r->left_index[kind], key, &index)) {
        index = r->left_count;
        if (!memory_grow(&r->memory, (void **)&r->left, &r->left_capacity, r->left_count + 1, sizeof *r->left) ||
            !keymap_put(&r->left_index[kind], key, index))
            return;
        r->left[r->left_count++] = (struct left_out){.kind = kind, .key = key};
    }
    r->left[index].count++;
    r->left[index].bytes += bytes;
}

void leave_out_at(struct repair *r, uint64_t offset)
{
    if (memory_grow(&r->memory, (void **)&r->offsets, &r->offset_capacity, r->offset_count + 1, sizeof *r->offsets))
        r->offsets[r->offset_count++] = offset;
}

enum left_out_kind kind_of(const struct repair *r, struct cursor c, uint64_t *key)
{
    const uint8_t *tag = cursor_take(&c, 1);
    struct CLASS_DUMP class;
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;
    struct PRIMITIVE_ARRAY_DUMP values;

    *key = tag ? *tag : 0;
    if (!tag)
        return LEFT_BYTES;
    if (*tag == SUB_CLASS_DUMP && read_CLASS_DUMP(&c, r->id_size, &class)) {
        *key = class.class_id;
        return LEFT_CLASS;
    }
    if (*tag == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, r->id_size, &instance)) {
        *key = instance.class_id;
        return LEFT_INSTANCE;
    }
    if (*tag == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&c, r->id_size, &objects)) {
        *key = objects.class_id;
        return LEFT_OBJECT_ARRAY;
    }
    if (*tag == SUB_PRIMITIVE_ARRAY_DUMP && read_PRIMITIVE_ARRAY_DUMP(&c, r->id_size, &values)) {
        *key = values.type;
        return LEFT_PRIMITIVE_ARRAY;
    }
    return LEFT_SUBRECORD;
}

bool is_unwanted(struct repair *r, uint64_t n)
{
    uint64_t at = r->in.offset;

    while (r->next_offset < r->offset_count && r->offsets[r->next_offset] < at)
        r->next_offset++;
    return r->next_offset < r->offset_count && r->offsets[r->next_offset] - at < n;
}

/* ---- References to missing stack traces ---- */

size_t trace_of_record(const struct repair *r)
{
    switch (*r->in.at) {
    case TAG_LOAD_CLASS:
        return RECORD_HEADER_SIZE + OFFSET_OF(LOAD_CLASS, trace_serial, r->id_size);
    case TAG_START_THREAD:
        return RECORD_HEADER_SIZE + OFFSET_OF(START_THREAD, trace_serial, r->id_size);
    default:
        return 0;
    }
}

size_t trace_of_subrecord(const struct repair *r)
{
    switch (*r->in.at) {
    case SUB_ROOT_THREAD_OBJECT:
        return 1 + OFFSET_OF(ROOT_THREAD_OBJECT, trace_serial, r->id_size);
    case SUB_CLASS_DUMP:
        return 1 + OFFSET_OF(CLASS_DUMP, trace_serial, r->id_size);
    case SUB_INSTANCE_DUMP:
        return 1 + OFFSET_OF(INSTANCE_DUMP, trace_serial, r->id_size);
    case SUB_OBJECT_ARRAY_DUMP:
        return 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, trace_serial, r->id_size);
    case SUB_PRIMITIVE_ARRAY_DUMP:
        return 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, trace_serial, r->id_size);
    default:
        return 0;
    }
}

bool has_missing_trace(struct repair *r, size_t trace)
{
    return !r->is_first_pass && trace && input_need(&r->in, trace + 4) >= trace + 4 &&
           keymap_get(&r->missing_traces, get_u4(r->in.at + trace), NULL);
}

bool is_unwanted_without_trace(struct repair *r, uint64_t n, size_t trace)
{
    while (is_unwanted(r, n) && r->offsets[r->next_offset] == r->in.offset + trace)
        r->next_offset++;
    return is_unwanted(r, n);
}

void clear_trace(struct repair *r, uint64_t start, size_t trace)
{
    copy_number(r, start + trace, 0);
    r->result.traces_cleared++;
    r->has_changed = true;
}

/* ---- Classes and threads that a heap dump lacks ---- */

/* Whether what `field` of the next sub-record names is missing, and from now on it is if the previous copy has an error there. */
static bool lacks(struct repair *r, struct keymap *missing, uint64_t key, size_t field)
{
    bool is_here = keymap_get(&r->undefined_at, r->in.offset + 1 + field, NULL);
    uint64_t heap_dump;

    if (!key) /* elsewhere 0 is no class */
        return is_here;
    if (is_here)
        keymap_put(missing, key, r->heap_dump);
    return keymap_get(missing, key, &heap_dump) && heap_dump == r->heap_dump;
}

static bool lacks_class(struct repair *r, uint64_t id, size_t field)
{
    return lacks(r, &r->missing_classes, id, field);
}

bool needs_what_is_missing(struct repair *r, struct cursor c)
{
    const uint8_t *tag = cursor_take(&c, 1);
    struct CLASS_DUMP class;
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP objects;

    if (r->is_first_pass || !tag)
        return false;
    if (*tag == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, r->id_size, &instance))
        return lacks_class(r, instance.class_id, OFFSET_OF(INSTANCE_DUMP, class_id, r->id_size));
    if (*tag == SUB_OBJECT_ARRAY_DUMP && read_OBJECT_ARRAY_DUMP(&c, r->id_size, &objects))
        return lacks_class(r, objects.class_id, OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, r->id_size));
    if (is_root_of_thread(*tag) && (size_t)(c.end - c.at) >= r->id_size + 4)
        return lacks(r, &r->missing_threads, get_u4(c.at + r->id_size), r->id_size);
    if (*tag != SUB_CLASS_DUMP || !read_CLASS_DUMP(&c, r->id_size, &class) ||
        !lacks_class(r, class.super_id, OFFSET_OF(CLASS_DUMP, super_id, r->id_size)))
        return false;
    keymap_put(&r->missing_classes, class.class_id, r->heap_dump);
    return true;
}
