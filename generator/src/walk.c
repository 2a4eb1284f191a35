/* See walk.h. */
#include "walk.h"

#include "encode.h"

/* ---- Numbers to IDs ---- */

uint64_t missing_id(const struct walk *w, unsigned number)
{
    return object_id(w, w->model->options.objects + number % SPARE_IDS);
}

uint64_t any_object_id(const struct walk *w, uint64_t number)
{
    uint64_t objects = w->model->options.objects;

    return objects ? object_id(w, number % objects) : class_id(w, CORE_OBJECT);
}

uint32_t own_class(const struct walk *w, unsigned number)
{
    return w->model->class_count + number;
}

uint32_t field_bytes(const struct walk *w, uint32_t class)
{
    const struct model *m = w->model;

    if (class >= m->class_count)
        class = w->like->classes[class - m->class_count].super;
    return class == MODEL_NONE ? 0 : m->classes[class].instance_bytes;
}

uint32_t own_string(const struct walk *w, int number)
{
    return w->model->string_count + (uint32_t)number;
}

uint32_t class_name_string(const struct walk *w, uint32_t class)
{
    if (class < w->model->class_count)
        return w->model->classes[class].name;
    return w->model->string_count + w->own_strings + (class - w->model->class_count);
}

/* ---- Strings ---- */

/* "[[Ljava/lang/String;" as this producer has it. */
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
        size = dimensions ? n - dimensions - 2 : n; /* less L and ; */
        memcpy(out, dimensions ? name + dimensions + 1 : name, size);
        for (size_t i = 0; i < size; i++)
            if (out[i] == '/')
                out[i] = '.';
    }
    for (; dimensions && size + 2 <= TEXT_MOST; dimensions--, size += 2)
        memcpy(out + size, "[]", 2);
    return size;
}

/* The text of a string, in w->text. */
static size_t text_of(struct walk *w, uint32_t string)
{
    uint32_t own = string - w->model->string_count;
    const char *text;
    char name[MODEL_STRING_MOST];
    size_t n;

    if (string < w->model->string_count) {
        if (w->like->names == NAMES_INNER || !get_bit(w->class_names, string))
            return model_string(w->model, string, w->text);
        n = model_string(w->model, string, name);
        return restyle(w->like->names, name, n, w->text);
    }
    text = own < w->own_strings ? w->like->strings[own] : w->like->classes[own - w->own_strings].name;
    n = strlen(text);
    memcpy(w->text, text, n);
    return n;
}

void give_string(struct walk *w, uint32_t string)
{
    struct event e = RECORD_EVENT(UTF8);

    e.fields.UTF8.id = id_of(&w->ids.strings, string);
    e.body_size = text_of(w, string);
    e.body = (const uint8_t *)w->text;
    if (get_bit(w->written, string))
        habit(&e, RULE_STR_003, 1);
    set_bit(w->written, string);
    give_record(w, &e);
}

uint64_t named(struct walk *w, uint32_t string)
{
    if (string == MODEL_NONE)
        return 0;
    if (!get_bit(w->written, string))
        give_string(w, string);
    return id_of(&w->ids.strings, string);
}

/* ---- Records ---- */

static uint32_t time_now(const struct walk *w)
{
    switch (w->like->time) {
    case TIME_ZERO:
        break;
    case TIME_MICROSECONDS:
        return (uint32_t)(w->given + w->pause);
    case TIME_AGENT: /* a thousand records a millisecond */
        return (uint32_t)(w->given / 1000 * 1000 + w->pause);
    case TIME_MILLISECONDS:
        return (uint32_t)(w->given / 1000 + w->pause);
    }
    return 0;
}

static void set_time(struct walk *w, struct event *e)
{
    e->time = time_now(w);
    if (e->time < w->last_time && w->last_time - e->time < UINT32_C(1) << 31)
        habit(e, RULE_REC_004, 1);
    w->last_time = e->time;
    w->given++;
}

void give_record(struct walk *w, struct event *e)
{
    set_time(w, e);
    give(w->to, e);
}

void give_open(struct walk *w)
{
    struct event e = event_of(EVENT_OPEN, w->heap_tag, LAYOUT_ID_NONE);

    give_record(w, &e);
}

void give_close(struct walk *w)
{
    struct event e = event_of(EVENT_CLOSE, w->heap_tag, LAYOUT_ID_NONE);

    give(w->to, &e);
}

void give_load(struct walk *w, uint32_t class, uint32_t serial)
{
    uint32_t name = class_name_string(w, class);
    struct event e = RECORD_EVENT(LOAD_CLASS);

    e.fields.LOAD_CLASS.name = named(w, name);
    e.fields.LOAD_CLASS.class_serial = serial;
    e.fields.LOAD_CLASS.class_id = class_id(w, class);
    e.fields.LOAD_CLASS.trace_serial = w->traces[class];
    w->text[text_of(w, name)] = '\0';
    e.class_name = w->text;
    if (serial != class_serial(w, class))
        habit(&e, RULE_CLS_004, 1);
    else if (w->like->on_load)
        w->like->on_load(w, &e, class);
    give_record(w, &e);
}

void give_frame(struct walk *w, uint64_t thread, uint64_t depth, int broken_rule)
{
    uint64_t number = thread * w->model->options.stack_depth + depth;
    struct event e = RECORD_EVENT(FRAME);
    struct model_frame frame;

    model_frame(w->model, thread, depth, &frame);
    if (w->like->on_frame)
        w->like->on_frame(w, &frame, number);
    e.fields.FRAME = (struct FRAME){.id = id_of(&w->ids.frames, number),
                                    .method = named(w, frame.method),
                                    .signature = named(w, frame.signature),
                                    .source = named(w, frame.source),
                                    .class_serial = frame.class == MODEL_NONE ? 0 : class_serial(w, frame.class),
                                    .line = frame.line < w->like->lowest_line ? w->like->line_unknown : frame.line};
    if (broken_rule != NO_RULE)
        habit(&e, broken_rule, 1);
    else if (!e.fields.FRAME.class_serial)
        habit(&e, RULE_STK_005, 1);
    if (!e.fields.FRAME.id && broken_rule == NO_RULE)
        habit(&e, RULE_STK_013, 1);
    give_record(w, &e);
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

static void give_body(struct walk *w, struct event *e, const uint8_t *p)
{
    e->body = w->room;
    e->body_size = (uint64_t)(p - w->room);
    give(w->to, e);
}

void give_trace(struct walk *w, uint64_t thread)
{
    uint64_t depth = w->model->options.stack_depth, per_piece = PIECE_SIZE / w->id_size;
    struct event e = RECORD_EVENT(TRACE), part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);
    bool whole = depth <= per_piece;

    e.fields.TRACE.trace_serial = thread_trace(w, thread);
    e.fields.TRACE.thread_serial = w->like->names_threads ? thread_serial(w, thread) : 0;
    e.fields.TRACE.frames = (uint32_t)depth;
    e.body_size = depth * w->id_size;
    if (w->like->on_trace)
        w->like->on_trace(w, &e, thread);
    if (!whole)
        give_record(w, &e);
    for (uint64_t from = 0; from < depth; from += per_piece) {
        uint64_t to = depth - from < per_piece ? depth : from + per_piece;
        uint8_t *p = w->room;

        for (uint64_t d = from; d < to; d++)
            p = put_id(p, id_of(&w->ids.frames, thread * depth + d), w->id_size);
        if (!whole)
            give_body(w, &part, p);
    }
    if (whole) {
        e.body = w->room;
        give_record(w, &e);
    }
}

void give_dummy_trace(struct walk *w, uint32_t thread)
{
    struct event e = RECORD_EVENT(TRACE);

    e.fields.TRACE.trace_serial = w->like->trace_start;
    e.fields.TRACE.thread_serial = thread;
    if (!e.fields.TRACE.trace_serial)
        habit(&e, RULE_STK_014, 1);
    if (w->like->on_trace)
        w->like->on_trace(w, &e, UINT64_MAX);
    give_record(w, &e);
}

void part_settings(struct walk *w)
{
    struct event e = RECORD_EVENT(CONTROL_SETTINGS);
    uint64_t depth = w->model->options.stack_depth;

    if (!(w->records & WRITES_SETTINGS))
        return;
    e.fields.CONTROL_SETTINGS.flags = 1 | (w->records & WRITES_SAMPLES ? 2 : 0);
    e.fields.CONTROL_SETTINGS.depth = depth > UINT16_MAX ? UINT16_MAX : (uint16_t)depth;
    give_record(w, &e);
}

void part_strings(struct walk *w)
{
    for (uint32_t s = 0; s < w->string_count && !*w->stop; s++)
        give_string(w, s);
}

void part_class_names(struct walk *w)
{
    for (uint32_t c = 0; c < w->class_count && !*w->stop; c++)
        named(w, class_name_string(w, c));
}

void part_loads(struct walk *w)
{
    for (uint32_t c = 0; c < w->class_count && !*w->stop; c++)
        give_load(w, c, class_serial(w, c));
}

/* Names of fields stand in CLASS_DUMP, where no string can be defined. */
void part_field_names(struct walk *w)
{
    for (uint32_t f = 0; f < w->model->field_count && !*w->stop; f++)
        named(w, w->model->fields[f].name);
    for (uint32_t s = 0; s < w->own_strings; s++)
        named(w, own_string(w, (int)s));
}

void part_frame_names(struct walk *w)
{
    const struct model_options *o = &w->model->options;

    for (uint64_t t = 0; t < o->threads; t++)
        for (uint64_t d = 0; d < o->stack_depth && !*w->stop; d++) {
            struct model_frame frame;

            model_frame(w->model, t, d, &frame);
            named(w, frame.method);
            named(w, frame.signature);
            named(w, frame.source);
        }
}

void part_dummy_trace(struct walk *w)
{
    give_dummy_trace(w, 0);
}

void part_traces(struct walk *w)
{
    const struct model_options *o = &w->model->options;

    for (uint64_t t = 0; t < o->threads && !*w->stop; t++) {
        for (uint64_t d = 0; d < o->stack_depth && !*w->stop; d++)
            give_frame(w, t, d, NO_RULE);
        give_trace(w, t);
    }
}

static void give_start(struct walk *w, uint64_t thread, uint64_t object, uint64_t name)
{
    struct event e = RECORD_EVENT(START_THREAD);
    uint64_t group = named(w, model_thread_group_name(w->model));

    e.fields.START_THREAD = (struct START_THREAD){.thread_serial = thread_serial(w, thread),
                                                  .thread_id = object,
                                                  .trace_serial = w->like->trace_start,
                                                  .name = name,
                                                  .group = group};
    if (w->like->on_start)
        w->like->on_start(w, &e, thread);
    give_record(w, &e);
}

/* All threads but the first, which is there when the VM is up; and one that has ended before the heap is dumped. */
void part_starts(struct walk *w)
{
    const struct model *m = w->model;
    uint64_t threads = m->options.threads;
    struct event end = RECORD_EVENT(END_THREAD);

    if (!(w->records & WRITES_THREADS))
        return;
    for (uint64_t t = 1; t < threads && !*w->stop; t++) {
        uint64_t name = named(w, model_thread_name(m, t)), object = model_thread_object(m, t);

        give_start(w, t, object == MODEL_NULL ? missing_id(w, 0) : object_id(w, object), name);
    }
    give_start(w, threads, missing_id(w, 0), named(w, model_thread_group_name(m)));
    end.fields.END_THREAD.thread_serial = thread_serial(w, threads);
    give_record(w, &end);
}

/* Of its own classes, those that are loaded and not dumped. */
void part_unload(struct walk *w)
{
    for (unsigned c = 0; c < w->own_classes && w->records & WRITES_UNLOADS; c++)
        if (w->like->classes[c].absent) {
            struct event e = RECORD_EVENT(UNLOAD_CLASS);

            e.fields.UNLOAD_CLASS.class_serial = class_serial(w, own_class(w, c));
            give_record(w, &e);
        }
}

/* ---- Classes ---- */

static uint8_t *put_value(const struct walk *w, uint8_t *p, unsigned type, unsigned form, uint64_t object, uint64_t bits)
{
    unsigned size = type_size(type, w->id_size);

    if (type == TYPE_OBJECT)
        return put_id(p, object, w->id_size);
    if (type == TYPE_BOOLEAN)
        bits &= 1;
    else if (form == VALUE_SMALL)
        bits &= 127;
    else if (form == VALUE_ZERO)
        bits = 0;
    put_u8(p, bits << (64 - 8 * size));
    return p + size;
}

static uint8_t *put_constants(const struct walk *w, uint8_t *p, uint32_t class)
{
    static const uint8_t types[] = {TYPE_OBJECT, TYPE_OBJECT, TYPE_BOOLEAN, TYPE_CHAR, TYPE_FLOAT,
                                    TYPE_DOUBLE, TYPE_BYTE,   TYPE_SHORT,   TYPE_INT,  TYPE_LONG};
    const struct model_class *c = &w->model->classes[class];
    unsigned n = w->like->constants == CONSTANTS_ALL ? sizeof types : w->like->constants == CONSTANTS_OBJECTS ? 2 : 0;

    if (c->element || class % 2)
        n = 0;
    p = put_u2(p, (uint16_t)n);
    for (unsigned i = 0; i < n; i++) {
        p = put_u2(p, (uint16_t)(i + 1));
        p = put_u1(p, types[i]);
        p = put_value(w, p, types[i], VALUE_ANY, class_id(w, i ? CORE_STRING : c->super), model_random(w->model, class, 2 + i));
    }
    return p;
}

static uint8_t *put_statics(const struct walk *w, uint8_t *p, uint32_t class)
{
    const struct model *m = w->model;
    const struct model_class *c = &m->classes[class];
    const struct model_field *f = m->fields + c->first_field + c->fields;
    uint8_t *count = p;
    uint16_t own = 0;
    uint32_t slot = 0;

    p += 2;
    for (unsigned i = 0; i < c->statics; i++, f++) {
        uint64_t object = f->type == TYPE_OBJECT ? object_id(w, model_static(m, class, slot++)) : 0;

        p = put_id(p, id_of(&w->ids.strings, f->name), w->id_size);
        p = put_u1(p, f->type);
        p = put_value(w, p, f->type, f->form, object, model_random(m, class, 100 + i));
    }
    for (const struct own_static *s = w->like->statics; s && s->each; s++)
        if (class % s->each == s->rest && (s->value || !c->element)) {
            p = put_id(p, id_of(&w->ids.strings, own_string(w, s->name)), w->id_size);
            p = put_u1(p, TYPE_OBJECT);
            p = put_id(p, s->value ? s->value(w, class) : 0, w->id_size);
            own++;
        }
    put_u2(count, (uint16_t)(c->statics + own));
    return p;
}

static uint8_t *put_instance_fields(const struct walk *w, uint8_t *p, uint32_t class)
{
    const struct model_class *c = &w->model->classes[class];
    const struct model_field *f = w->model->fields + c->first_field;

    p = put_u2(p, c->fields);
    for (unsigned i = 0; i < c->fields; i++, f++) {
        p = put_id(p, id_of(&w->ids.strings, f->name), w->id_size);
        p = put_u1(p, f->type);
    }
    return p;
}

static void give_class(struct walk *w, struct event *e, uint32_t class, const uint8_t *end)
{
    e->body = w->room;
    e->body_size = (uint64_t)(end - w->room);
    if (w->like->on_class)
        w->like->on_class(w, e, class);
    give(w->to, e);
}

static void give_model_class(struct walk *w, uint32_t class)
{
    const struct model_class *c = &w->model->classes[class];
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);

    if (w->like->before_class)
        w->like->before_class(w, class);
    e.fields.CLASS_DUMP = (struct CLASS_DUMP){.class_id = class_id(w, class),
                                              .trace_serial = w->traces[class],
                                              .super_id = class_id(w, c->super),
                                              .loader_id = object_id(w, model_class_loader(w->model, class)),
                                              .instance_size = c->instance_bytes};
    give_class(w, &e, class, put_instance_fields(w, put_statics(w, put_constants(w, w->room, class), class), class));
}

/* An own class has no fields but those of its superclass. */
static void give_own_class(struct walk *w, unsigned number)
{
    enum { NOTHING = 3 * 2 }; /* no constants, statics, fields */
    const struct own_class *own = &w->like->classes[number];
    uint32_t class = own_class(w, number);
    struct event e = SUBRECORD_EVENT(CLASS_DUMP, CLASS_DUMP);

    e.fields.CLASS_DUMP = (struct CLASS_DUMP){.class_id = class_id(w, class),
                                              .trace_serial = w->traces[class],
                                              .super_id = class_id(w, own->super),
                                              .instance_size = field_bytes(w, class)};
    memset(w->room, 0, NOTHING);
    give_class(w, &e, class, w->room + NOTHING);
}

void part_classes(struct walk *w)
{
    for (uint32_t c = 0; c < w->model->class_count && !*w->stop; c++)
        give_model_class(w, c);
    for (unsigned c = 0; c < w->own_classes; c++)
        if (!w->like->classes[c].absent)
            give_own_class(w, c);
}

/* ---- Roots ---- */

void give_root(struct walk *w, uint8_t tag, uint64_t object)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);

    e.fields.ROOT_OBJECT.object_id = object;
    give(w->to, &e);
}

void give_root_of_nothing(struct walk *w, uint8_t tag, uint64_t missing)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);

    e.fields.ROOT_OBJECT.object_id = missing;
    habit(&e, RULE_REF_001, 1);
    give(w->to, &e);
}

void give_root_of_thread(struct walk *w, uint8_t tag, uint64_t object, uint64_t thread)
{
    struct event e = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_THREAD);

    e.fields.ROOT_THREAD.object_id = object;
    e.fields.ROOT_THREAD.thread_serial = thread_serial(w, thread);
    give(w->to, &e);
}

static void give_locals(struct walk *w, uint64_t thread)
{
    uint64_t depth = w->model->options.stack_depth;

    for (uint64_t d = 0; d < depth && !*w->stop; d++) {
        uint64_t object = model_local(w->model, thread, d);
        struct event e = SUBRECORD_EVENT(ROOT_JAVA_FRAME, ROOT_FRAME);
        struct model_frame frame;

        if (object == MODEL_NULL)
            continue;
        model_frame(w->model, thread, d, &frame);
        if (frame.line == MODEL_LINE_NATIVE)
            e.tag = SUB_ROOT_JNI_LOCAL;
        e.fields.ROOT_FRAME = (struct ROOT_FRAME){object_id(w, object), thread_serial(w, thread), (int32_t)d};
        if (w->like->on_local)
            w->like->on_local(w, &e, thread * depth + d);
        give(w->to, &e);
    }
}

void part_threads(struct walk *w)
{
    for (uint64_t t = 0; t < w->model->options.threads && !*w->stop; t++) {
        struct event e = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);
        uint64_t object = object_id(w, model_thread_object(w->model, t));

        e.fields.ROOT_THREAD_OBJECT = (struct ROOT_THREAD_OBJECT){object, thread_serial(w, t), thread_trace(w, t)};
        if (w->like->on_thread)
            w->like->on_thread(w, &e, t);
        give(w->to, &e);
        if (w->like->thread_blocks && object)
            give_root_of_thread(w, SUB_ROOT_THREAD_BLOCK, object, t);
        give_locals(w, t);
    }
}

/* What JNI holds; and the VM itself, which keeps the mirrors in the same manner. */
void part_globals(struct walk *w)
{
    uint64_t n = model_global_count(w->model), all = n + w->model->options.mirrors;

    for (uint64_t i = 0; i < all && !*w->stop; i++) {
        struct event e = SUBRECORD_EVENT(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL);
        uint64_t object = i < n ? model_global(w->model, i) : model_mirror(w->model, i - n);

        if (object == MODEL_NULL)
            continue;
        e.fields.ROOT_JNI_GLOBAL.object_id = object_id(w, object);
        e.fields.ROOT_JNI_GLOBAL.reference_id = id_of(&w->ids.references, i);
        give(w->to, &e);
    }
}

/* The classes of the bootstrap loader: those of arrays, or the others. */
static void give_sticky(struct walk *w, bool arrays)
{
    for (uint32_t c = 0; c < w->model->class_count && !*w->stop; c++)
        if (!w->model->classes[c].element == !arrays && model_class_loader(w->model, c) == MODEL_NULL)
            give_root(w, SUB_ROOT_STICKY_CLASS, class_id(w, c));
}

void part_sticky_classes(struct walk *w)
{
    give_sticky(w, false);
}

void part_sticky_arrays(struct walk *w)
{
    give_sticky(w, true);
}

void part_monitors(struct walk *w)
{
    for (unsigned i = 0; i < 2; i++)
        give_root(w, SUB_ROOT_MONITOR_USED, any_object_id(w, 3 + i));
}

void part_unknown_roots(struct walk *w)
{
    for (unsigned i = 0; i < 4; i++)
        give_root(w, SUB_ROOT_UNKNOWN, any_object_id(w, 5 + i));
}
