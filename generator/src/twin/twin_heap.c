/* See twin_parts.h: the heap dump, its sub-records in the order of the profile. */
#include <string.h>

#include "twin/twin_parts.h"

#define JNI_REFERENCES UINT64_C(0x7f3b0000)

/* ---- Sub-records ---- */

void twin_give_heap(struct twin *t, enum event_kind kind)
{
    struct event e = event_of(kind, t->p.heap_tag, LAYOUT_ID_NONE);

    give(t->to, &e);
}

/* As many segments as in the original, each with as many sub-records. */
static void give_sub(struct twin *t, struct event *e)
{
    uint64_t segment = (uint64_t)((unsigned __int128)t->given++ * t->segments / t->all);

    for (; t->segment < segment; t->segment++) {
        twin_give_heap(t, EVENT_CLOSE);
        twin_give_heap(t, EVENT_OPEN);
    }
    give(t->to, e);
}

static void give_class(struct twin *t, uint32_t number)
{
    const struct profile_class *class = &t->p.classes[number];
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);
    uint64_t loader = class->has_loader ? graph_instance(t->graph, "java.lang.ClassLoader", 0) : 0;
    uint8_t *at = t->room;
    uint32_t slot = class->first_static_slot;

    if (class->has_loader)
        loader = loader == UINT64_MAX ? any_object(t, 3, 0) : object_id(t, loader);
    e.fields.CLASS_DUMP = (struct CLASS_DUMP){.class_id = class_id(t, number),
                                              .trace_serial = dummy_trace(t),
                                              .super_id = class_id(t, class->super),
                                              .loader_id = loader,
                                              .instance_size = (uint32_t) class->bytes};
    at = put_u2(at, 0);
    at = put_u2(at, (uint16_t) class->statics);
    for (uint32_t i = 0; i < class->statics; i++) {
        const struct profile_field *field = &t->p.fields[class->first_static + i];
        unsigned size = type_size(field->type, t->p.id_size);

        at = put_id(at, texts_id(&t->texts, texts_of_name(&t->texts, field->name, i + 1)), t->p.id_size);
        at = put_u1(at, field->type);
        memset(at, 0, size);
        if (field->type == TYPE_OBJECT && slot < class->first_static_slot + class->static_slots)
            put_id(at, id_of_target(t, graph_static(t->graph, slot++)), t->p.id_size);
        at += size;
    }
    at = put_u2(at, (uint16_t) class->fields);
    for (uint32_t i = 0; i < class->fields; i++) {
        const struct profile_field *field = &t->p.fields[class->first_field + i];

        at = put_id(at, texts_id(&t->texts, texts_of_name(&t->texts, field->name, i + 1)), t->p.id_size);
        at = put_u1(at, field->type);
    }
    e.body = t->room;
    e.body_size = (uint64_t)(at - t->room);
    give_sub(t, &e);
}

static uint64_t depth_of(const struct twin *t, uint64_t stack)
{
    return t->frames ? nth(&t->p, t->p.stacks, stack) : 0;
}

static void give_thread(struct twin *t, uint64_t n)
{
    struct event e = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);
    uint64_t thread = t->threads ? graph_instance(t->graph, "java.lang.Thread", n % t->threads) : UINT64_MAX;

    e.fields.ROOT_THREAD_OBJECT =
        (struct ROOT_THREAD_OBJECT){.object_id = thread == UINT64_MAX ? any_object(t, 4, n) : object_id(t, thread),
                                    .thread_serial = (uint32_t)n + 1,
                                    .trace_serial = stack_trace(t, n)};
    give_sub(t, &e);
}

/* A thread that has a stack, and one of its frames. */
static void give_local(struct twin *t, uint8_t tag, uint64_t n)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_FRAME);
    uint64_t threads = t->p.subrecords[SUB_ROOT_THREAD_OBJECT], thread = threads ? n % threads : 0, depth;

    depth = thread < t->stacks ? depth_of(t, thread) : 0;
    for (uint64_t i = 0; i < threads && !depth; i++) {
        thread = (thread + 1) % threads;
        depth = thread < t->stacks ? depth_of(t, thread) : 0;
    }
    e.fields.ROOT_FRAME = (struct ROOT_FRAME){.object_id = any_object(t, tag, n),
                                              .thread_serial = (uint32_t)thread + 1,
                                              .frame = depth ? (int32_t)(n / (threads ? threads : 1) % depth) : -1};
    give_sub(t, &e);
}

/* The n-th class that the bootstrap loader has loaded. */
static uint32_t bootstrap_class(const struct twin *t, uint64_t n)
{
    uint32_t count = t->p.class_count - t->first_class, at = t->first_class + (uint32_t)(n % count);

    for (uint32_t i = 0; i < count && (t->p.classes[at].has_loader || !t->p.classes[at].is_dumped); i++)
        at = at + 1 < t->p.class_count ? at + 1 : t->first_class;
    return at;
}

static void give_root(struct twin *t, uint8_t tag, uint64_t n)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);
    uint64_t object = any_object(t, tag, n);

    switch (tag) {
    case SUB_ROOT_THREAD_OBJECT:
        give_thread(t, n);
        return;
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_JAVA_FRAME:
        give_local(t, tag, n);
        return;
    case SUB_ROOT_JNI_GLOBAL:
        e.layout = LAYOUT_ID_ROOT_JNI_GLOBAL;
        e.fields.ROOT_JNI_GLOBAL = (struct ROOT_JNI_GLOBAL){object, JNI_REFERENCES + 8 * n};
        break;
    case SUB_ROOT_NATIVE_STACK:
    case SUB_ROOT_THREAD_BLOCK:
        e.layout = LAYOUT_ID_ROOT_THREAD;
        e.fields.ROOT_THREAD = (struct ROOT_THREAD){object, 1};
        break;
    case SUB_ROOT_JNI_MONITOR:
        e.layout = LAYOUT_ID_ROOT_JNI_MONITOR;
        e.fields.ROOT_JNI_MONITOR = (struct ROOT_JNI_MONITOR){.object_id = object, .thread_serial = 1};
        break;
    case SUB_HEAP_DUMP_INFO:
        e.layout = LAYOUT_ID_HEAP_DUMP_INFO;
        e.fields.HEAP_DUMP_INFO =
            (struct HEAP_DUMP_INFO){.heap = 'A', .name = texts_id(&t->texts, texts_of_name(&t->texts, NULL, 0))};
        break;
    case SUB_ROOT_STICKY_CLASS:
        e.fields.ROOT_OBJECT.object_id = class_id(t, bootstrap_class(t, n));
        break;
    default:
        e.fields.ROOT_OBJECT.object_id = object;
        break;
    }
    give_sub(t, &e);
}

/* ---- Objects ---- */

static uint64_t value_of(struct twin *t, const struct profile_field *field, bool is_string, uint64_t object, uint64_t at)
{
    uint64_t bits = mix_of(t->key, object, at), all = t->p.latin1 + t->p.utf16;

    if (field->type == TYPE_BOOLEAN)
        return bits & 1;
    if (is_string && field->name && strcmp(field->name, "coder") == 0) {
        uint64_t wanted = all ? (uint64_t)((unsigned __int128)++t->strings * t->p.utf16 / all) : 0;
        bool is_utf16 = wanted > t->utf16;

        t->utf16 += is_utf16;
        return is_utf16;
    }
    return bits;
}

static void give_instance(struct twin *t, uint64_t object, uint32_t number)
{
    const struct profile_class *class = &t->p.classes[number];
    struct event e = SUBRECORD_EVENT(INSTANCE_DUMP, INSTANCE_DUMP);
    bool is_string = strcmp(class->label, "java.lang.String") == 0;
    uint32_t slot = class->first_slot;
    uint8_t *at = t->room;

    e.fields.INSTANCE_DUMP = (struct INSTANCE_DUMP){.object_id = object_id(t, object),
                                                    .trace_serial = dummy_trace(t),
                                                    .class_id = class_id(t, number),
                                                    .bytes = (uint32_t) class->bytes};
    e.body_size = class->bytes;
    for (const struct profile_class *c = class; t->source.detail != DETAIL_SIZES;) {
        for (uint32_t f = 0; f < c->fields; f++) {
            const struct profile_field *field = &t->p.fields[c->first_field + f];
            unsigned size = type_size(field->type, t->p.id_size);

            if (field->type == TYPE_OBJECT) {
                struct graph_target target = graph_reference(t->graph, slot++);

                e.nulls += target.kind == TARGET_NULL;
                put_id(at, id_of_target(t, target), t->p.id_size);
            } else {
                put_u8(at, value_of(t, field, is_string, object, (uint64_t)(at - t->room)) << (64 - 8 * size));
            }
            at += size;
        }
        if (c->super == CLASS_NONE_INDEX)
            break;
        c = &t->p.classes[c->super];
    }
    e.references = class->slots;
    e.body = t->room;
    give_sub(t, &e);
}

/* Gives the body of an array in parts, each of which a function makes. */
static void give_body(struct twin *t, struct event *e, uint64_t object, uint32_t slot,
                      void (*make)(struct twin *, uint64_t object, uint32_t slot, uint64_t done, uint64_t size))
{
    struct event part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);
    bool whole = e->body_size <= PIECE, makes = t->source.detail != DETAIL_SIZES;

    if (whole && makes)
        make(t, object, slot, 0, e->body_size);
    e->body = whole ? t->room : NULL;
    give_sub(t, e);
    part.body = t->room;
    for (uint64_t done = 0; !whole && makes && done < e->body_size && !*t->stop; done += part.body_size) {
        part.body_size = e->body_size - done < PIECE ? e->body_size - done : PIECE;
        make(t, object, slot, done, part.body_size);
        give(t->to, &part);
    }
}

static void make_ids(struct twin *t, uint64_t object, uint32_t slot, uint64_t done, uint64_t size)
{
    uint8_t *at = t->room;

    (void)object;
    (void)done;
    for (uint64_t i = 0; i < size; i += t->p.id_size)
        at = put_id(at, id_of_target(t, graph_reference(t->graph, slot)), t->p.id_size);
}

/* Text for bytes and characters, 0 and 1 for booleans, any bits for others. */
static void make_elements(struct twin *t, uint64_t object, uint32_t type, uint64_t done, uint64_t size)
{
    uint64_t from = mix_of(t->key, object, done) % PIECE / 8 * 8;

    memcpy(t->room, t->block + from, size);
    for (uint64_t i = 0; i < size && type == TYPE_CHAR; i += 2)
        t->room[i] = 0;
    for (uint64_t i = 0; i < size && type == TYPE_BOOLEAN; i++)
        t->room[i] &= 1;
}

static void give_array(struct twin *t, uint64_t object, uint32_t number)
{
    const struct profile_class *class = &t->p.classes[number];
    uint64_t length = graph_length(t->graph, number, t->arrays[number]++);
    uint8_t type = profile_element_type(class);
    struct event e;

    if (class->number >= PRIMITIVES) {
        e = SUBRECORD_EVENT(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP);
        e.fields.OBJECT_ARRAY_DUMP = (struct OBJECT_ARRAY_DUMP){.object_id = object_id(t, object),
                                                                .trace_serial = dummy_trace(t),
                                                                .elements = (uint32_t)length,
                                                                .class_id = class_id(t, number)};
        e.body_size = length * t->p.id_size;
        give_body(t, &e, object, (uint32_t) class->element_slot, make_ids);
        return;
    }
    e = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP);
    e.fields.PRIMITIVE_ARRAY_DUMP = (struct PRIMITIVE_ARRAY_DUMP){
        .object_id = object_id(t, object), .trace_serial = dummy_trace(t), .elements = (uint32_t)length, .type = type};
    e.body_size = length * type_size(type, t->p.id_size);
    give_body(t, &e, object, type, make_elements);
}

static void give_objects(struct twin *t)
{
    uint64_t objects = graph_objects(t->graph);

    memset(t->arrays, 0, t->p.class_count * sizeof *t->arrays);
    t->strings = t->utf16 = 0;
    if (t->source.detail != DETAIL_SIZES)
        graph_begin(t->graph);
    for (uint64_t i = 0; i < objects && !*t->stop; i++) {
        bool is_array;
        uint32_t class;

        if (t->source.detail != DETAIL_SIZES)
            graph_next(t->graph);
        class = graph_class(t->graph, i, &is_array);
        (is_array ? give_array : give_instance)(t, i, class);
    }
}

bool twin_is_object(uint8_t tag)
{
    return tag == SUB_INSTANCE_DUMP || tag == SUB_OBJECT_ARRAY_DUMP || tag == SUB_PRIMITIVE_ARRAY_DUMP ||
           tag == SUB_PRIMITIVE_ARRAY_NODATA;
}

void twin_give_subrecords(struct twin *t)
{
    bool has_objects = false;

    t->given = t->segment = 0;
    for (unsigned i = 0; i < t->p.order_count && !*t->stop; i++) {
        uint8_t tag = t->p.order[i];

        if (twin_is_object(tag)) {
            if (!has_objects)
                give_objects(t);
            has_objects = true;
        } else if (tag == SUB_CLASS_DUMP) {
            for (uint32_t c = t->first_class; c < t->p.class_count && !*t->stop; c++)
                if (t->p.classes[c].is_dumped)
                    give_class(t, c);
        } else {
            for (uint64_t n = 0; n < t->p.subrecords[tag] && !*t->stop; n++)
                give_root(t, tag, n);
        }
    }
}
