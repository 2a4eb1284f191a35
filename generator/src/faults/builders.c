/* See fault.h. The means of the rows of faults.def: bytes, valid records, and the offset at which a rule is broken. engine.c
 * decides when, and which rule. */
#include "faults/fault.h"

#include <stdlib.h>

void break_at(const struct faults *v, struct event *e, uint64_t at)
{
    e->rule = (int)rule_at_work(v);
    e->rule_at = at;
    e->variant = variant_at_work(v);
}

void insert(struct faults *v, struct event *e)
{
    if ((e->kind == EVENT_RECORD || e->kind == EVENT_OPEN) && !e->time)
        e->time = v->flow.time;
    give(v->break_.next, e);
}

/* ---- Bytes ---- */

void begin_bytes(struct faults *v)
{
    v->scratch_fill = 0;
}

/* Reserves n bytes more. No body is longer than the scratch buffer. */
static uint8_t *room(struct faults *v, size_t n)
{
    uint8_t *p = v->scratch + v->scratch_fill;

    if (n > SCRATCH - v->scratch_fill)
        abort();
    v->scratch_fill += n;
    return p;
}

void add_u1(struct faults *v, unsigned value)
{
    put_u1(room(v, 1), (uint8_t)value);
}

void add_u2(struct faults *v, unsigned value)
{
    put_u2(room(v, 2), (uint16_t)value);
}

void add_u4(struct faults *v, uint32_t value)
{
    put_u4(room(v, 4), value);
}

void add_id(struct faults *v, uint64_t value)
{
    put_id(room(v, v->id_size), value, v->id_size);
}

void add_zeros(struct faults *v, size_t n)
{
    memset(room(v, n), 0, n);
}

void add_bytes(struct faults *v, const void *bytes, size_t n)
{
    if (n)
        memcpy(room(v, n), bytes, n);
}

size_t encode(const struct faults *v, const struct event *e, uint8_t to[ENCODED_MOST])
{
    uint8_t *p = put_fixed_part(to, e, 0, v->id_size);

    if (e->body_size)
        memcpy(p, e->body, (size_t)e->body_size);
    return (size_t)(p - to) + (size_t)e->body_size;
}

void insert_raw(struct faults *v, const uint8_t *bytes, size_t n, bool broken)
{
    struct event e = event_of(EVENT_RAW, 0, LAYOUT_ID_NONE);

    e.body = bytes;
    e.body_size = n;
    if (broken)
        break_at(v, &e, 0);
    insert(v, &e);
}

void end_bytes(struct faults *v, struct event *e)
{
    e->body = v->scratch;
    e->body_size = v->scratch_fill;
}

uint8_t *own_body(struct faults *v, struct event *e)
{
    begin_bytes(v);
    add_bytes(v, e->body, (size_t)e->body_size);
    end_bytes(v, e);
    return v->scratch;
}

/* ---- Valid records ---- */

void keep_the_first(struct faults *v, struct event *e)
{
    if (!v->facts.frames_again)
        return;
    give(v->break_.next, e);
    if (e->layout == LAYOUT_ID_FRAME)
        e->fields.FRAME.id = fresh_id(v, OTHER);
    else
        e->fields.TRACE.trace_serial = fresh_serial(v, TRACE_SERIAL);
}

void insert_utf8(struct faults *v, uint64_t id, const char *text)
{
    struct event e = RECORD_EVENT(UTF8);

    e.fields.UTF8.id = id;
    e.body = (const uint8_t *)text;
    e.body_size = strlen(text);
    insert(v, &e);
}

void insert_load_class(struct faults *v, uint32_t serial, uint64_t class_id, uint64_t name, const char *text)
{
    struct event e = RECORD_EVENT(LOAD_CLASS);

    e.fields.LOAD_CLASS = (struct LOAD_CLASS){.class_serial = serial, .class_id = class_id, .name = name};
    e.class_name = text;
    insert(v, &e);
}

void insert_start_thread(struct faults *v, uint32_t serial, uint64_t name)
{
    struct event e = RECORD_EVENT(START_THREAD);

    e.fields.START_THREAD = (struct START_THREAD){.thread_serial = serial, .thread_id = fresh_id(v, OBJECT), .name = name};
    insert(v, &e);
}

void insert_mark(struct faults *v, enum event_kind kind, uint8_t tag)
{
    struct event e = event_of(kind, tag, LAYOUT_ID_NONE);

    insert(v, &e);
}

struct event class_dump(struct faults *v, uint64_t class_id, uint64_t super_id, const char *types)
{
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);
    size_t n = strlen(types);
    uint32_t size = 0;

    begin_bytes(v);
    add_u2(v, 0);
    add_u2(v, 0);
    add_u2(v, (unsigned)n);
    for (size_t i = 0; i < n; i++) {
        add_id(v, fresh_id(v, FIELD));
        add_u1(v, (uint8_t)types[i]);
        size += type_size((uint8_t)types[i], v->id_size);
    }
    end_bytes(v, &e);
    e.fields.CLASS_DUMP =
        (struct CLASS_DUMP){.class_id = class_id, .super_id = super_id ? super_id : v->flow.top_class, .instance_size = size};
    return e;
}

struct event instance_dump(struct faults *v, uint64_t id, uint64_t class_id, size_t bytes)
{
    struct event e = SUBRECORD_EVENT(INSTANCE_DUMP, INSTANCE_DUMP);

    begin_bytes(v);
    add_zeros(v, bytes);
    end_bytes(v, &e);
    e.fields.INSTANCE_DUMP = (struct INSTANCE_DUMP){.object_id = id, .class_id = class_id, .bytes = (uint32_t)bytes};
    return e;
}

struct event object_array(uint64_t id, uint64_t class_id)
{
    struct event e = SUBRECORD_EVENT(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP);

    e.fields.OBJECT_ARRAY_DUMP = (struct OBJECT_ARRAY_DUMP){.object_id = id, .class_id = class_id};
    return e;
}

struct event primitive_array(struct faults *v, uint64_t id, enum basic_type type, uint32_t elements)
{
    struct event e = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP);

    begin_bytes(v);
    add_zeros(v, elements * type_size(type, v->id_size));
    end_bytes(v, &e);
    e.fields.PRIMITIVE_ARRAY_DUMP = (struct PRIMITIVE_ARRAY_DUMP){.object_id = id, .elements = elements, .type = (uint8_t)type};
    return e;
}

bool root_has_thread(unsigned tag)
{
    return tag == SUB_ROOT_JNI_LOCAL || tag == SUB_ROOT_JAVA_FRAME || tag == SUB_ROOT_NATIVE_STACK ||
           tag == SUB_ROOT_THREAD_BLOCK || tag == SUB_ROOT_JNI_MONITOR;
}

struct event root(unsigned tag, uint64_t object_id, uint32_t thread_serial, int32_t frame)
{
    struct event e = event_of(EVENT_SUBRECORD, (uint8_t)tag, LAYOUT_ID_ROOT_OBJECT);

    switch (tag) {
    case SUB_ROOT_JNI_GLOBAL:
        e.layout = LAYOUT_ID_ROOT_JNI_GLOBAL;
        e.fields.ROOT_JNI_GLOBAL = (struct ROOT_JNI_GLOBAL){.object_id = object_id};
        break;
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_JAVA_FRAME:
        e.layout = LAYOUT_ID_ROOT_FRAME;
        e.fields.ROOT_FRAME = (struct ROOT_FRAME){.object_id = object_id, .thread_serial = thread_serial, .frame = frame};
        break;
    case SUB_ROOT_NATIVE_STACK:
    case SUB_ROOT_THREAD_BLOCK:
        e.layout = LAYOUT_ID_ROOT_THREAD;
        e.fields.ROOT_THREAD = (struct ROOT_THREAD){.object_id = object_id, .thread_serial = thread_serial};
        break;
    case SUB_ROOT_JNI_MONITOR:
        e.layout = LAYOUT_ID_ROOT_JNI_MONITOR;
        e.fields.ROOT_JNI_MONITOR = (struct ROOT_JNI_MONITOR){.object_id = object_id, .thread_serial = thread_serial};
        break;
    case SUB_ROOT_THREAD_OBJECT:
        e.layout = LAYOUT_ID_ROOT_THREAD_OBJECT;
        e.fields.ROOT_THREAD_OBJECT = (struct ROOT_THREAD_OBJECT){.object_id = object_id, .thread_serial = thread_serial};
        break;
    default:
        e.fields.ROOT_OBJECT = (struct ROOT_OBJECT){.object_id = object_id};
        break;
    }
    return e;
}

void insert_class(struct faults *v, uint64_t class_id, uint64_t super_id, const char *types)
{
    struct event e = class_dump(v, class_id, super_id, types);

    insert(v, &e);
}

void insert_object(struct faults *v, uint64_t id)
{
    struct event e = primitive_array(v, id, TYPE_BYTE, 0);

    insert(v, &e);
}

void insert_thread_root(struct faults *v, uint32_t serial, uint32_t trace)
{
    struct event e = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);

    e.fields.ROOT_THREAD_OBJECT = (struct ROOT_THREAD_OBJECT){.thread_serial = serial, .trace_serial = trace};
    insert(v, &e);
}

void prepare_strings(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "Broken");
    insert_utf8(v, fresh_id(v, FIELD), "value");
}

void prepare_class(struct faults *v, struct event *e, int variant)
{
    prepare_strings(v, e, variant);
    insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, NAME), "Broken");
}

void prepare_two_classes(struct faults *v, struct event *e, int variant)
{
    prepare_class(v, e, variant);
    insert_load_class(v, fresh_serial(v, OTHER_SERIAL), fresh_id(v, OTHER), fresh_id(v, NAME), "Broken");
}

static void prepare_class_named(struct faults *v, const char *name)
{
    insert_utf8(v, fresh_id(v, NAME), name);
    insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, NAME), name);
}

void prepare_array_class(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    prepare_class_named(v, "[LBroken;");
}

void prepare_int_array_class(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    prepare_class_named(v, "[I");
}

void prepare_array_and_class(struct faults *v, struct event *e, int variant)
{
    prepare_array_class(v, e, variant);
    insert_utf8(v, fresh_id(v, FIELD), "value");
    insert_load_class(v, fresh_serial(v, OTHER_SERIAL), fresh_id(v, OTHER), fresh_id(v, FIELD), "value");
    insert_load_class(v, fresh_serial(v, TOP_SERIAL), fresh_id(v, TOP), fresh_id(v, FIELD), "value");
}

void prepare_trace(struct faults *v, struct event *e, int variant)
{
    struct event frame = RECORD_EVENT(FRAME), trace = RECORD_EVENT(TRACE);

    prepare_class(v, e, variant);
    frame.fields.FRAME = (struct FRAME){.id = fresh_id(v, OTHER),
                                        .method = fresh_id(v, FIELD),
                                        .signature = fresh_id(v, FIELD),
                                        .class_serial = fresh_serial(v, CLASS_SERIAL)};
    insert(v, &frame);
    begin_bytes(v);
    for (int i = 0; i < variant; i++)
        add_id(v, fresh_id(v, OTHER));
    end_bytes(v, &trace);
    trace.fields.TRACE = (struct TRACE){.trace_serial = fresh_serial(v, TRACE_SERIAL), .frames = (uint32_t)variant};
    insert(v, &trace);
}
