/* The fields of a record or sub-record that an item has, and what the record defines. */
#include <stddef.h>

#include "base/versioned.h"
#include "format/tags.h"
#include "read/reader.h"

bool read_object_fields(const uint8_t *p, size_t n, unsigned id_size, struct hprof_item *item)
{
    struct cursor c = {p + 1, p + n};
    struct INSTANCE_DUMP instance;
    struct OBJECT_ARRAY_DUMP array;
    struct PRIMITIVE_ARRAY_DUMP primitives;

    switch (*p) {
    case SUB_INSTANCE_DUMP:
        if (!read_INSTANCE_DUMP(&c, id_size, &instance))
            return false;
        item->id = instance.object_id;
        item->trace_serial = instance.trace_serial;
        item->class_id = instance.class_id;
        item->elements = 0;
        item->element_type = 0;
        item->body = instance.bytes;
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        if (!read_OBJECT_ARRAY_DUMP(&c, id_size, &array))
            return false;
        item->id = array.object_id;
        item->trace_serial = array.trace_serial;
        item->class_id = array.class_id;
        item->elements = array.elements;
        item->element_type = TYPE_OBJECT;
        item->body = (uint64_t)array.elements * id_size;
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        if (!read_PRIMITIVE_ARRAY_DUMP(&c, id_size, &primitives))
            return false;
        item->id = primitives.object_id;
        item->trace_serial = primitives.trace_serial;
        item->class_id = 0;
        item->elements = primitives.elements;
        item->element_type = primitives.type;
        item->body = (uint64_t)primitives.elements * type_size(primitives.type, id_size);
        break;
    default:
        return false;
    }
    item->tag = *p;
    item->head = (uint64_t)(c.at - p);
    item->size = item->head + item->body;
    return true;
}

int hprof_counted_object(struct hprof_reader *r, const uint8_t *bytes, size_t size, struct hprof_item *item)
{
    if (reader_ready(r))
        return reader_ready(r);
    if (!item || item->struct_size < offsetof(struct hprof_item, class_id) + sizeof item->class_id)
        return reader_fail(r, HPROF_USAGE, not_initialised);
    if (size && (!is_object_tag(*bytes) || *bytes == SUB_CLASS_DUMP))
        return reader_fail(r, HPROF_USAGE, "these bytes are no instance and no array");
    if (!size || !read_object_fields(bytes, size, r->dump->id_size, item))
        return 0;
    item->kind = HPROF_ITEM_SUBRECORD;
    return 1;
}

void read_subrecord_fields(struct hprof_reader *r, const uint8_t *p, size_t n)
{
    const unsigned id_size = r->dump->id_size;
    struct cursor c = {p + 1, p + n};
    struct hprof_item *item = &r->item;
    const uint64_t size = item->size; /* what the check made of it */

    item->tag = *p;
    switch (*p) {
    case SUB_INSTANCE_DUMP:
    case SUB_OBJECT_ARRAY_DUMP:
    case SUB_PRIMITIVE_ARRAY_DUMP:
        if (read_object_fields(p, n, id_size, item))
            c.at = p + item->head;
        item->size = size;
        break;
    case SUB_PRIMITIVE_ARRAY_NODATA: {
        struct PRIMITIVE_ARRAY_DUMP s;

        if (read_PRIMITIVE_ARRAY_DUMP(&c, id_size, &s)) {
            item->id = s.object_id;
            item->trace_serial = s.trace_serial;
            item->elements = s.elements;
            item->element_type = s.type;
        }
        break;
    }
    case SUB_CLASS_DUMP: {
        struct CLASS_DUMP s;
        const uint8_t *body = c.at + SIZE_OF(CLASS_DUMP, id_size);

        if (read_CLASS_DUMP(&c, id_size, &s)) {
            item->id = s.class_id;
            item->trace_serial = s.trace_serial;
        }
        c.at = body;
        break;
    }
    case SUB_ROOT_JNI_GLOBAL: {
        struct ROOT_JNI_GLOBAL s;

        if (read_ROOT_JNI_GLOBAL(&c, id_size, &s))
            item->id = s.object_id;
        break;
    }
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_JAVA_FRAME: {
        struct ROOT_FRAME s;

        if (read_ROOT_FRAME(&c, id_size, &s)) {
            item->id = s.object_id;
            item->thread_serial = s.thread_serial;
            item->frame = (uint32_t)s.frame;
        }
        break;
    }
    case SUB_ROOT_NATIVE_STACK:
    case SUB_ROOT_THREAD_BLOCK: {
        struct ROOT_THREAD s;

        if (read_ROOT_THREAD(&c, id_size, &s)) {
            item->id = s.object_id;
            item->thread_serial = s.thread_serial;
        }
        break;
    }
    case SUB_ROOT_THREAD_OBJECT: {
        struct ROOT_THREAD_OBJECT s;

        if (read_ROOT_THREAD_OBJECT(&c, id_size, &s)) {
            item->id = s.object_id;
            item->thread_serial = s.thread_serial;
            item->trace_serial = s.trace_serial;
        }
        break;
    }
    case SUB_ROOT_JNI_MONITOR: {
        struct ROOT_JNI_MONITOR s;

        if (read_ROOT_JNI_MONITOR(&c, id_size, &s)) {
            item->id = s.object_id;
            item->thread_serial = s.thread_serial;
        }
        break;
    }
    case SUB_HEAP_DUMP_INFO: {
        struct HEAP_DUMP_INFO s;

        if (read_HEAP_DUMP_INFO(&c, id_size, &s))
            item->name_id = s.name;
        break;
    }
    default: { /* the other roots */
        struct ROOT_OBJECT s;

        if (read_ROOT_OBJECT(&c, id_size, &s))
            item->id = s.object_id;
        break;
    }
    }
    item->head = (uint64_t)(c.at - p);
    item->body = item->size > item->head ? item->size - item->head : 0;
}

void read_record_fields(struct hprof_reader *r, size_t there)
{
    const unsigned id_size = r->dump->id_size;
    struct hprof_item *item = &r->item;
    struct cursor c = {r->in.at + RECORD_HEADER_SIZE, r->in.at + there};
    struct UTF8 utf8;
    struct LOAD_CLASS load;
    struct UNLOAD_CLASS unload;
    struct FRAME frame;
    struct TRACE trace;
    struct START_THREAD start;
    struct END_THREAD end;

    switch (item->tag) {
    case TAG_UTF8:
        if (read_UTF8(&c, id_size, &utf8)) {
            item->id = utf8.id;
            item->head += id_size;
            item->body -= id_size;
            if (cursor_left(&c) >= item->body)
                know_string(r, utf8.id, c.at, item->body);
        }
        break;
    case TAG_LOAD_CLASS:
        if (read_LOAD_CLASS(&c, id_size, &load)) {
            item->id = load.class_id;
            item->class_serial = load.class_serial;
            item->trace_serial = load.trace_serial;
            item->name_id = load.name;
            know_load(r, &load);
        }
        break;
    case TAG_UNLOAD_CLASS:
        if (read_UNLOAD_CLASS(&c, id_size, &unload))
            item->class_serial = unload.class_serial;
        break;
    case TAG_FRAME:
        if (read_FRAME(&c, id_size, &frame)) {
            item->id = frame.id;
            item->name_id = frame.method;
            item->class_serial = frame.class_serial;
            item->signature_id = frame.signature;
            item->source_id = frame.source;
            item->line = frame.line;
        }
        break;
    case TAG_TRACE:
        if (read_TRACE(&c, id_size, &trace)) {
            item->trace_serial = trace.trace_serial;
            item->thread_serial = trace.thread_serial;
            item->frames = trace.frames;
        }
        break;
    case TAG_START_THREAD:
        if (read_START_THREAD(&c, id_size, &start)) {
            item->id = start.thread_id;
            item->thread_serial = start.thread_serial;
            item->trace_serial = start.trace_serial;
            item->name_id = start.name;
        }
        break;
    case TAG_END_THREAD:
        if (read_END_THREAD(&c, id_size, &end))
            item->thread_serial = end.thread_serial;
        break;
    default:
        break;
    }
}
