/* The fields of a record or sub-record that an item has, and what the record defines. */
#include "read/reader.h"

void read_subrecord_fields(struct hprof_reader *r, const uint8_t *p, size_t n)
{
    const unsigned id_size = r->dump->id_size;
    struct cursor c = {p + 1, p + n};
    struct hprof_item *item = &r->item;

    item->tag = *p;
    switch (*p) {
    case SUB_INSTANCE_DUMP: {
        struct INSTANCE_DUMP s;

        if (read_INSTANCE_DUMP(&c, id_size, &s)) {
            item->id = s.object_id;
            item->trace_serial = s.trace_serial;
            item->class_id = s.class_id;
        }
        break;
    }
    case SUB_OBJECT_ARRAY_DUMP: {
        struct OBJECT_ARRAY_DUMP s;

        if (read_OBJECT_ARRAY_DUMP(&c, id_size, &s)) {
            item->id = s.object_id;
            item->trace_serial = s.trace_serial;
            item->class_id = s.class_id;
            item->elements = s.elements;
            item->element_type = TYPE_OBJECT;
        }
        break;
    }
    case SUB_PRIMITIVE_ARRAY_DUMP:
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
