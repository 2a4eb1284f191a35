/* See emitter.h. */
#include "producers/emitter.h"

#include "stream/encode.h"

/* ---- Numbers to IDs ---- */

uint64_t missing_id(const struct emitter *em, unsigned number)
{
    return object_id(em, em->model->options.objects + number % SPARE_IDS);
}

uint64_t any_object_id(const struct emitter *em, uint64_t number)
{
    uint64_t objects = em->model->options.objects;

    return objects ? object_id(em, number % objects) : class_id(em, CORE_OBJECT);
}

uint32_t own_class(const struct emitter *em, unsigned number)
{
    return em->model->class_count + number;
}

uint32_t field_bytes(const struct emitter *em, uint32_t class)
{
    const struct model *m = em->model;

    if (class >= m->class_count)
        class = em->producer->classes[class - m->class_count].super;
    return class == MODEL_NONE ? 0 : m->classes[class].instance_bytes;
}

uint32_t own_string(const struct emitter *em, int number)
{
    return em->model->string_count + (uint32_t)number;
}

uint32_t class_name_string(const struct emitter *em, uint32_t class)
{
    if (class < em->model->class_count)
        return em->model->classes[class].name;
    return em->model->string_count + em->own_strings + (class - em->model->class_count);
}

/* ---- Strings ---- */

/* "[[Ljava/lang/String;" in the style of this producer. */
static size_t restyle(enum name_style style, const char *name, size_t n, char out[TEXT_MOST])
{
    static const struct {
        char letter;
        const char *name;
    } types[] = {{'Z', "boolean"}, {'C', "char"},  {'F', "float"}, {'D', "double"},
                 {'B', "byte"},    {'S', "short"}, {'I', "int"},   {'J', "long"}};
    size_t dimensions = 0, size = 0;

    while (style == NAMES_SOURCE && dimensions < n && name[dimensions] == '[')
        dimensions++;
    if (dimensions && n - dimensions == 1) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (types[i].letter == name[dimensions]) {
                size = strlen(types[i].name);
                memcpy(out, types[i].name, size);
            }
    } else {
        size = dimensions ? n - dimensions - 2 : n; /* without L and ; */
        memcpy(out, dimensions ? name + dimensions + 1 : name, size);
        for (size_t i = 0; i < size; i++)
            if (out[i] == '/')
                out[i] = '.';
    }
    for (; dimensions && size + 2 <= TEXT_MOST; dimensions--, size += 2)
        memcpy(out + size, "[]", 2);
    return size;
}

/* The text of a string, in em->text. */
static size_t text_of(struct emitter *em, uint32_t string)
{
    uint32_t own = string - em->model->string_count;
    const char *text;
    char name[MODEL_STRING_MOST];
    size_t n;

    if (string < em->model->string_count) {
        if (em->producer->names == NAMES_INNER || !get_bit(em->class_names, string))
            return model_string(em->model, string, em->text);
        n = model_string(em->model, string, name);
        return restyle(em->producer->names, name, n, em->text);
    }
    text = own < em->own_strings ? em->producer->strings[own] : em->producer->classes[own - em->own_strings].name;
    n = strlen(text);
    memcpy(em->text, text, n);
    return n;
}

void give_string(struct emitter *em, uint32_t string)
{
    struct event e = RECORD_EVENT(UTF8);

    e.fields.UTF8.id = id_of(&em->ids.strings, string);
    e.body_size = text_of(em, string);
    e.body = (const uint8_t *)em->text;
    if (get_bit(em->written, string))
        quirk(&e, RULE_STR_003, 1);
    set_bit(em->written, string);
    give_record(em, &e);
}

uint64_t named(struct emitter *em, uint32_t string)
{
    if (string == MODEL_NONE)
        return 0;
    if (!get_bit(em->written, string))
        give_string(em, string);
    return id_of(&em->ids.strings, string);
}

/* ---- Records ---- */

static uint32_t time_now(const struct emitter *em)
{
    switch (em->producer->time) {
    case TIME_ZERO:
        break;
    case TIME_MICROSECONDS:
        return (uint32_t)(em->given + em->pause);
    case TIME_AGENT: /* a thousand records a millisecond */
        return (uint32_t)(em->given / 1000 * 1000 + em->pause);
    case TIME_MILLISECONDS:
        return (uint32_t)(em->given / 1000 + em->pause);
    }
    return 0;
}

static void set_time(struct emitter *em, struct event *e)
{
    e->time = time_now(em);
    if (e->time < em->last_time && em->last_time - e->time < UINT32_C(1) << 31)
        quirk(e, RULE_REC_004, 1);
    em->last_time = e->time;
    em->given++;
}

void give_record(struct emitter *em, struct event *e)
{
    set_time(em, e);
    give(em->to, e);
}

void give_open(struct emitter *em)
{
    struct event e = event_of(EVENT_OPEN, em->heap_tag, LAYOUT_ID_NONE);

    give_record(em, &e);
}

void give_close(struct emitter *em)
{
    struct event e = event_of(EVENT_CLOSE, em->heap_tag, LAYOUT_ID_NONE);

    give(em->to, &e);
}

void give_load(struct emitter *em, uint32_t class, uint32_t serial)
{
    uint32_t name = class_name_string(em, class);
    struct event e = RECORD_EVENT(LOAD_CLASS);

    e.fields.LOAD_CLASS.name = named(em, name);
    e.fields.LOAD_CLASS.class_serial = serial;
    e.fields.LOAD_CLASS.class_id = class_id(em, class);
    e.fields.LOAD_CLASS.trace_serial = em->traces[class];
    em->text[text_of(em, name)] = '\0';
    e.class_name = em->text;
    if (serial != class_serial(em, class))
        quirk(&e, RULE_CLS_004, 1);
    else if (em->producer->on_load)
        em->producer->on_load(em, &e, class);
    give_record(em, &e);
}

void give_frame(struct emitter *em, uint64_t thread, uint64_t depth, int broken_rule)
{
    uint64_t number = thread * em->model->options.stack_depth + depth;
    struct event e = RECORD_EVENT(FRAME);
    struct model_frame frame;

    model_frame(em->model, thread, depth, &frame);
    if (em->producer->on_frame)
        em->producer->on_frame(em, &frame, number);
    e.fields.FRAME = (struct FRAME){.id = id_of(&em->ids.frames, number),
                                    .method = named(em, frame.method),
                                    .signature = named(em, frame.signature),
                                    .source = named(em, frame.source),
                                    .class_serial = frame.class == MODEL_NONE ? 0 : class_serial(em, frame.class),
                                    .line = frame.line < em->producer->lowest_line ? em->producer->line_unknown : frame.line};
    if (broken_rule != NO_RULE)
        quirk(&e, broken_rule, 1);
    else if (!e.fields.FRAME.class_serial)
        quirk(&e, RULE_STK_005, 1);
    if (!e.fields.FRAME.id && broken_rule == NO_RULE)
        quirk(&e, RULE_STK_013, 1);
    give_record(em, &e);
}

void leave_out_lines(struct model_frame *frame, uint64_t number, uint32_t generated)
{
    enum { LINE_UNKNOWN = -1 };

    if (frame->class < CORE_CLASSES || (number % 8 != 1 && number % 8 != 5))
        return;
    frame->line = LINE_UNKNOWN;
    if (number % 8 == 1) {
        frame->class = generated;
        frame->source = MODEL_NONE;
    }
}

static void give_body(struct emitter *em, struct event *e, const uint8_t *p)
{
    e->body = em->room;
    e->body_size = (uint64_t)(p - em->room);
    give(em->to, e);
}

void give_trace(struct emitter *em, uint64_t thread)
{
    uint64_t depth = em->model->options.stack_depth, per_piece = PIECE_SIZE / em->id_size;
    struct event e = RECORD_EVENT(TRACE), part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);
    bool whole = depth <= per_piece;

    e.fields.TRACE.trace_serial = thread_trace(em, thread);
    e.fields.TRACE.thread_serial = em->producer->names_threads ? thread_serial(em, thread) : 0;
    e.fields.TRACE.frames = (uint32_t)depth;
    e.body_size = depth * em->id_size;
    if (em->producer->on_trace)
        em->producer->on_trace(em, &e, thread);
    if (!whole)
        give_record(em, &e);
    for (uint64_t from = 0; from < depth; from += per_piece) {
        uint64_t to = depth - from < per_piece ? depth : from + per_piece;
        uint8_t *p = em->room;

        for (uint64_t d = from; d < to; d++)
            p = put_id(p, id_of(&em->ids.frames, thread * depth + d), em->id_size);
        if (!whole)
            give_body(em, &part, p);
    }
    if (whole) {
        e.body = em->room;
        give_record(em, &e);
    }
}

void give_dummy_trace(struct emitter *em, uint32_t thread)
{
    struct event e = RECORD_EVENT(TRACE);

    e.fields.TRACE.trace_serial = em->producer->trace_start;
    e.fields.TRACE.thread_serial = thread;
    if (!e.fields.TRACE.trace_serial)
        quirk(&e, RULE_STK_014, 1);
    if (em->producer->on_trace)
        em->producer->on_trace(em, &e, UINT64_MAX);
    give_record(em, &e);
}

void part_settings(struct emitter *em)
{
    struct event e = RECORD_EVENT(CONTROL_SETTINGS);
    uint64_t depth = em->model->options.stack_depth;

    if (!(em->records & WRITES_SETTINGS))
        return;
    e.fields.CONTROL_SETTINGS.flags = 1 | (em->records & WRITES_SAMPLES ? 2 : 0);
    e.fields.CONTROL_SETTINGS.depth = depth > UINT16_MAX ? UINT16_MAX : (uint16_t)depth;
    give_record(em, &e);
}

void part_strings(struct emitter *em)
{
    for (uint32_t s = 0; s < em->string_count && !*em->stop; s++)
        give_string(em, s);
}

void part_class_names(struct emitter *em)
{
    for (uint32_t c = 0; c < em->class_count && !*em->stop; c++)
        named(em, class_name_string(em, c));
}

void part_loads(struct emitter *em)
{
    for (uint32_t c = 0; c < em->class_count && !*em->stop; c++)
        give_load(em, c, class_serial(em, c));
}

/* CLASS_DUMP has the names of fields, and no string can be defined within a heap dump. */
void part_field_names(struct emitter *em)
{
    for (uint32_t f = 0; f < em->model->field_count && !*em->stop; f++)
        named(em, em->model->fields[f].name);
    for (uint32_t s = 0; s < em->own_strings; s++)
        named(em, own_string(em, (int)s));
}

void part_frame_names(struct emitter *em)
{
    const struct model_options *o = &em->model->options;

    for (uint64_t t = 0; t < o->threads; t++)
        for (uint64_t d = 0; d < o->stack_depth && !*em->stop; d++) {
            struct model_frame frame;

            model_frame(em->model, t, d, &frame);
            named(em, frame.method);
            named(em, frame.signature);
            named(em, frame.source);
        }
}

void part_dummy_trace(struct emitter *em)
{
    give_dummy_trace(em, 0);
}

void part_traces(struct emitter *em)
{
    const struct model_options *o = &em->model->options;

    for (uint64_t t = 0; t < o->threads && !*em->stop; t++) {
        for (uint64_t d = 0; d < o->stack_depth && !*em->stop; d++)
            give_frame(em, t, d, NO_RULE);
        give_trace(em, t);
    }
}

static void give_start(struct emitter *em, uint64_t thread, uint64_t object, uint64_t name)
{
    struct event e = RECORD_EVENT(START_THREAD);
    uint64_t group = named(em, model_thread_group_name(em->model));

    e.fields.START_THREAD = (struct START_THREAD){.thread_serial = thread_serial(em, thread),
                                                  .thread_id = object,
                                                  .trace_serial = em->producer->trace_start,
                                                  .name = name,
                                                  .group = group};
    if (em->producer->on_start)
        em->producer->on_start(em, &e, thread);
    give_record(em, &e);
}

/* All threads except the first, which lives before the VM is up; and one that ends before the heap dump. */
void part_starts(struct emitter *em)
{
    const struct model *m = em->model;
    uint64_t threads = m->options.threads;
    struct event end = RECORD_EVENT(END_THREAD);

    if (!(em->records & WRITES_THREADS))
        return;
    for (uint64_t t = 1; t < threads && !*em->stop; t++) {
        uint64_t name = named(em, model_thread_name(m, t)), object = model_thread_object(m, t);

        give_start(em, t, object == MODEL_NULL ? missing_id(em, 0) : object_id(em, object), name);
    }
    give_start(em, threads, missing_id(em, 0), named(em, model_thread_group_name(m)));
    end.fields.END_THREAD.thread_serial = thread_serial(em, threads);
    give_record(em, &end);
}

/* The producer's own classes that are loaded and not dumped. */
void part_unload(struct emitter *em)
{
    for (unsigned c = 0; c < em->own_classes && em->records & WRITES_UNLOADS; c++)
        if (em->producer->classes[c].absent) {
            struct event e = RECORD_EVENT(UNLOAD_CLASS);

            e.fields.UNLOAD_CLASS.class_serial = class_serial(em, own_class(em, c));
            give_record(em, &e);
        }
}

/* ---- Classes ---- */

static uint8_t *put_value(const struct emitter *em, uint8_t *p, unsigned type, unsigned form, uint64_t object, uint64_t bits)
{
    unsigned size = type_size(type, em->id_size);

    if (type == TYPE_OBJECT)
        return put_id(p, object, em->id_size);
    if (type == TYPE_BOOLEAN)
        bits &= 1;
    else if (form == VALUE_SMALL)
        bits &= 127;
    else if (form == VALUE_ZERO)
        bits = 0;
    put_u8(p, bits << (64 - 8 * size));
    return p + size;
}

static uint8_t *put_constants(const struct emitter *em, uint8_t *p, uint32_t class)
{
    static const uint8_t types[] = {TYPE_OBJECT, TYPE_OBJECT, TYPE_BOOLEAN, TYPE_CHAR, TYPE_FLOAT,
                                    TYPE_DOUBLE, TYPE_BYTE,   TYPE_SHORT,   TYPE_INT,  TYPE_LONG};
    const struct model_class *c = &em->model->classes[class];
    unsigned n = em->producer->constants == CONSTANTS_ALL ? sizeof types : em->producer->constants == CONSTANTS_OBJECTS ? 2 : 0;

    if (c->element || class % 2)
        n = 0;
    p = put_u2(p, (uint16_t)n);
    for (unsigned i = 0; i < n; i++) {
        p = put_u2(p, (uint16_t)(i + 1));
        p = put_u1(p, types[i]);
        p = put_value(em, p, types[i], VALUE_ANY, class_id(em, i ? CORE_STRING : c->super),
                      model_random(em->model, class, 2 + i));
    }
    return p;
}

static uint8_t *put_statics(const struct emitter *em, uint8_t *p, uint32_t class)
{
    const struct model *m = em->model;
    const struct model_class *c = &m->classes[class];
    const struct model_field *f = m->fields + c->first_field + c->fields;
    uint8_t *count = p;
    uint16_t own = 0;
    uint32_t slot = 0;

    p += 2;
    for (unsigned i = 0; i < c->statics; i++, f++) {
        uint64_t object = f->type == TYPE_OBJECT ? object_id(em, model_static(m, class, slot++)) : 0;

        p = put_id(p, id_of(&em->ids.strings, f->name), em->id_size);
        p = put_u1(p, f->type);
        p = put_value(em, p, f->type, f->form, object, model_random(m, class, 100 + i));
    }
    for (const struct own_static *s = em->producer->statics; s && s->each; s++)
        if (class % s->each == s->rest && (s->value || !c->element)) {
            p = put_id(p, id_of(&em->ids.strings, own_string(em, s->name)), em->id_size);
            p = put_u1(p, TYPE_OBJECT);
            p = put_id(p, s->value ? s->value(em, class) : 0, em->id_size);
            own++;
        }
    put_u2(count, (uint16_t)(c->statics + own));
    return p;
}

static uint8_t *put_instance_fields(const struct emitter *em, uint8_t *p, uint32_t class)
{
    const struct model_class *c = &em->model->classes[class];
    const struct model_field *f = em->model->fields + c->first_field;

    p = put_u2(p, c->fields);
    for (unsigned i = 0; i < c->fields; i++, f++) {
        p = put_id(p, id_of(&em->ids.strings, f->name), em->id_size);
        p = put_u1(p, f->type);
    }
    return p;
}

static void give_class(struct emitter *em, struct event *e, uint32_t class, const uint8_t *end)
{
    e->body = em->room;
    e->body_size = (uint64_t)(end - em->room);
    if (em->producer->on_class)
        em->producer->on_class(em, e, class);
    give(em->to, e);
}

static void give_model_class(struct emitter *em, uint32_t class)
{
    const struct model_class *c = &em->model->classes[class];
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);

    if (em->producer->before_class)
        em->producer->before_class(em, class);
    e.fields.CLASS_DUMP = (struct CLASS_DUMP){.class_id = class_id(em, class),
                                              .trace_serial = em->traces[class],
                                              .super_id = class_id(em, c->super),
                                              .loader_id = object_id(em, model_class_loader(em->model, class)),
                                              .instance_size = c->instance_bytes};
    give_class(em, &e, class, put_instance_fields(em, put_statics(em, put_constants(em, em->room, class), class), class));
}

/* A class of the producer's own has only the fields of its superclass. */
static void give_own_class(struct emitter *em, unsigned number)
{
    enum { NOTHING = 3 * 2 }; /* no constants, statics, fields */
    const struct own_class *own = &em->producer->classes[number];
    uint32_t class = own_class(em, number);
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);

    e.fields.CLASS_DUMP = (struct CLASS_DUMP){.class_id = class_id(em, class),
                                              .trace_serial = em->traces[class],
                                              .super_id = class_id(em, own->super),
                                              .instance_size = field_bytes(em, class)};
    memset(em->room, 0, NOTHING);
    give_class(em, &e, class, em->room + NOTHING);
}

void part_classes(struct emitter *em)
{
    for (uint32_t c = 0; c < em->model->class_count && !*em->stop; c++)
        give_model_class(em, c);
    for (unsigned c = 0; c < em->own_classes; c++)
        if (!em->producer->classes[c].absent)
            give_own_class(em, c);
}

/* ---- Roots ---- */

void give_root(struct emitter *em, uint8_t tag, uint64_t object)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);

    e.fields.ROOT_OBJECT.object_id = object;
    give(em->to, &e);
}

void give_root_of_nothing(struct emitter *em, uint8_t tag, uint64_t missing)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);

    e.fields.ROOT_OBJECT.object_id = missing;
    quirk(&e, RULE_REF_001, 1);
    give(em->to, &e);
}

void give_root_of_thread(struct emitter *em, uint8_t tag, uint64_t object, uint64_t thread)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_THREAD);

    e.fields.ROOT_THREAD.object_id = object;
    e.fields.ROOT_THREAD.thread_serial = thread_serial(em, thread);
    give(em->to, &e);
}

static void give_locals(struct emitter *em, uint64_t thread)
{
    uint64_t depth = em->model->options.stack_depth;

    for (uint64_t d = 0; d < depth && !*em->stop; d++) {
        uint64_t object = model_local(em->model, thread, d);
        struct event e = SUBRECORD_EVENT(ROOT_JAVA_FRAME, ROOT_FRAME);
        struct model_frame frame;

        if (object == MODEL_NULL)
            continue;
        model_frame(em->model, thread, d, &frame);
        if (frame.line == MODEL_LINE_NATIVE)
            e.tag = SUB_ROOT_JNI_LOCAL;
        e.fields.ROOT_FRAME = (struct ROOT_FRAME){object_id(em, object), thread_serial(em, thread), (int32_t)d};
        if (em->producer->on_local)
            em->producer->on_local(em, &e, thread * depth + d);
        give(em->to, &e);
    }
}

void part_threads(struct emitter *em)
{
    for (uint64_t t = 0; t < em->model->options.threads && !*em->stop; t++) {
        struct event e = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);
        uint64_t object = object_id(em, model_thread_object(em->model, t));

        e.fields.ROOT_THREAD_OBJECT = (struct ROOT_THREAD_OBJECT){object, thread_serial(em, t), thread_trace(em, t)};
        if (em->producer->on_thread)
            em->producer->on_thread(em, &e, t);
        give(em->to, &e);
        if (em->producer->thread_blocks && object)
            give_root_of_thread(em, SUB_ROOT_THREAD_BLOCK, object, t);
        give_locals(em, t);
    }
}

/* What JNI holds, and the mirrors, which the VM itself holds in the same way. */
void part_globals(struct emitter *em)
{
    uint64_t n = model_global_count(em->model), all = n + em->model->options.mirrors;

    for (uint64_t i = 0; i < all && !*em->stop; i++) {
        struct event e = SUBRECORD_EVENT(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL);
        uint64_t object = i < n ? model_global(em->model, i) : model_mirror(em->model, i - n);

        if (object == MODEL_NULL)
            continue;
        e.fields.ROOT_JNI_GLOBAL.object_id = object_id(em, object);
        e.fields.ROOT_JNI_GLOBAL.reference_id = id_of(&em->ids.references, i);
        give(em->to, &e);
    }
}

/* ---- The list of roots of the archive of class data sharing ---- */

static uint64_t archive_id(const struct emitter *em)
{
    return missing_id(em, SPARE_IDS - 1);
}

/* Itself, as 28 writes it, classes, and objects that are not dumped. Nothing else names it. */
void part_archive(struct emitter *em)
{
    enum { CLASSES = 4 };
    struct event e = SUBRECORD_EVENT(OBJECT_ARRAY_DUMP, OBJECT_ARRAY_DUMP);
    unsigned missing = em->producer->archived_mirrors, n = 1 + CLASSES + missing;

    if (!em->beside)
        return;
    e.fields.OBJECT_ARRAY_DUMP = (struct OBJECT_ARRAY_DUMP){.object_id = archive_id(em),
                                                            .trace_serial = em->traces[CORE_OBJECT_ARRAY],
                                                            .elements = n,
                                                            .class_id = class_id(em, CORE_OBJECT_ARRAY)};
    for (unsigned i = 0; i < n; i++) {
        uint64_t id = i == 0 ? archive_id(em) : i <= CLASSES ? class_id(em, i - 1) : missing_id(em, i - CLASSES);

        put_id(em->room + (size_t)i * em->id_size, id, em->id_size);
    }
    e.body = em->room;
    e.body_size = (uint64_t)n * em->id_size;
    em->hot[CORE_OBJECT_ARRAY].objects++;
    em->hot[CORE_OBJECT_ARRAY].array_bytes += e.body_size;
    quirk(&e, RULE_REF_002, missing);
    give(em->to, &e);
}

void part_root_of_archive(struct emitter *em)
{
    struct event e = SUBRECORD_EVENT(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL);

    if (!em->beside)
        return;
    e.fields.ROOT_JNI_GLOBAL.object_id = archive_id(em);
    e.fields.ROOT_JNI_GLOBAL.reference_id = id_of(&em->ids.references, SPARE_IDS + model_global_count(em->model));
    give(em->to, &e);
}

/* The classes of the bootstrap loader: only array classes, or only the others. */
static void give_sticky(struct emitter *em, bool arrays)
{
    for (uint32_t c = 0; c < em->model->class_count && !*em->stop; c++)
        if (!em->model->classes[c].element == !arrays && model_class_loader(em->model, c) == MODEL_NULL)
            give_root(em, SUB_ROOT_STICKY_CLASS, class_id(em, c));
}

void part_sticky_classes(struct emitter *em)
{
    give_sticky(em, false);
}

void part_sticky_arrays(struct emitter *em)
{
    give_sticky(em, true);
}

void part_monitors(struct emitter *em)
{
    for (unsigned i = 0; i < 2; i++)
        give_root(em, SUB_ROOT_MONITOR_USED, any_object_id(em, 3 + i));
}

void part_unknown_roots(struct emitter *em)
{
    for (unsigned i = 0; i < 4; i++)
        give_root(em, SUB_ROOT_UNKNOWN, any_object_id(em, 5 + i));
}
