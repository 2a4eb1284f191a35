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
        class = em->producer->own.classes[class - m->class_count].super;
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
    return em->model->string_count + em->counts.own_strings + (class - em->model->class_count);
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
        if (em->producer->style.names == NAMES_INNER || !get_bit(em->class_names, string))
            return model_string(em->model, string, em->text);
        n = model_string(em->model, string, name);
        return restyle(em->producer->style.names, name, n, em->text);
    }
    text = own < em->counts.own_strings ? em->producer->own.strings[own]
                                        : em->producer->own.classes[own - em->counts.own_strings].name;
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
    if (get_bit(em->run.written, string))
        quirk(&e, RULE_STR_003, 1);
    set_bit(em->run.written, string);
    give_record(em, &e);
}

uint64_t named(struct emitter *em, uint32_t string)
{
    if (string == MODEL_NONE)
        return 0;
    if (!get_bit(em->run.written, string))
        give_string(em, string);
    return id_of(&em->ids.strings, string);
}

/* ---- Records ---- */

static uint32_t time_now(const struct emitter *em)
{
    switch (em->producer->style.time) {
    case TIME_ZERO:
        break;
    case TIME_MICROSECONDS:
        return (uint32_t)(em->run.given + em->run.pause);
    case TIME_AGENT: /* a thousand records a millisecond */
        return (uint32_t)(em->run.given / 1000 * 1000 + em->run.pause);
    case TIME_MILLISECONDS:
        return (uint32_t)(em->run.given / 1000 + em->run.pause);
    }
    return 0;
}

static void set_time(struct emitter *em, struct event *e)
{
    e->time = time_now(em);
    if (e->time < em->run.last_time && em->run.last_time - e->time < UINT32_C(1) << 31)
        quirk(e, RULE_REC_004, 1);
    em->run.last_time = e->time;
    em->run.given++;
}

void give_record(struct emitter *em, struct event *e)
{
    set_time(em, e);
    give(em->run.to, e);
}

void give_open(struct emitter *em)
{
    struct event e = event_of(EVENT_OPEN, em->heap_tag, LAYOUT_ID_NONE);

    give_record(em, &e);
}

void give_close(struct emitter *em)
{
    struct event e = event_of(EVENT_CLOSE, em->heap_tag, LAYOUT_ID_NONE);

    give(em->run.to, &e);
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
    else if (em->producer->hooks.on_load)
        em->producer->hooks.on_load(em, &e, class);
    give_record(em, &e);
}

void give_frame(struct emitter *em, uint64_t thread, uint64_t depth, int broken_rule)
{
    uint64_t number = thread * em->model->options.stack_depth + depth;
    struct event e = RECORD_EVENT(FRAME);
    struct model_frame frame;

    model_frame(em->model, thread, depth, &frame);
    if (em->producer->hooks.on_frame)
        em->producer->hooks.on_frame(em, &frame, number);
    e.fields.FRAME =
        (struct FRAME){.id = id_of(&em->ids.frames, number),
                       .method = named(em, frame.method),
                       .signature = named(em, frame.signature),
                       .source = named(em, frame.source),
                       .class_serial = frame.class == MODEL_NONE ? 0 : class_serial(em, frame.class),
                       .line = frame.line < em->producer->style.lowest_line ? em->producer->style.line_unknown : frame.line};
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
    give(em->run.to, e);
}

void give_trace(struct emitter *em, uint64_t thread)
{
    uint64_t depth = em->model->options.stack_depth, per_piece = PIECE_SIZE / em->id_size;
    struct event e = RECORD_EVENT(TRACE), part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);
    bool whole = depth <= per_piece;

    e.fields.TRACE.trace_serial = thread_trace(em, thread);
    e.fields.TRACE.thread_serial = em->producer->style.names_threads ? thread_serial(em, thread) : 0;
    e.fields.TRACE.frames = (uint32_t)depth;
    e.body_size = depth * em->id_size;
    if (em->producer->hooks.on_trace)
        em->producer->hooks.on_trace(em, &e, thread);
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

    e.fields.TRACE.trace_serial = em->producer->numbers.trace_start;
    e.fields.TRACE.thread_serial = thread;
    if (!e.fields.TRACE.trace_serial)
        quirk(&e, RULE_STK_014, 1);
    if (em->producer->hooks.on_trace)
        em->producer->hooks.on_trace(em, &e, UINT64_MAX);
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
    for (uint32_t s = 0; s < em->counts.string_count && !*em->run.stop; s++)
        give_string(em, s);
}

void part_class_names(struct emitter *em)
{
    for (uint32_t c = 0; c < em->counts.class_count && !*em->run.stop; c++)
        named(em, class_name_string(em, c));
}

void part_loads(struct emitter *em)
{
    for (uint32_t c = 0; c < em->counts.class_count && !*em->run.stop; c++)
        give_load(em, c, class_serial(em, c));
}

/* CLASS_DUMP has the names of fields, and no string can be defined within a heap dump. */
void part_field_names(struct emitter *em)
{
    for (uint32_t f = 0; f < em->model->field_count && !*em->run.stop; f++)
        named(em, em->model->fields[f].name);
    for (uint32_t s = 0; s < em->counts.own_strings; s++)
        named(em, own_string(em, (int)s));
}

void part_frame_names(struct emitter *em)
{
    const struct model_options *o = &em->model->options;

    for (uint64_t t = 0; t < o->threads; t++)
        for (uint64_t d = 0; d < o->stack_depth && !*em->run.stop; d++) {
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

    for (uint64_t t = 0; t < o->threads && !*em->run.stop; t++) {
        for (uint64_t d = 0; d < o->stack_depth && !*em->run.stop; d++)
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
                                                  .trace_serial = em->producer->numbers.trace_start,
                                                  .name = name,
                                                  .group = group};
    if (em->producer->hooks.on_start)
        em->producer->hooks.on_start(em, &e, thread);
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
    for (uint64_t t = 1; t < threads && !*em->run.stop; t++) {
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
    for (unsigned c = 0; c < em->counts.own_classes && em->records & WRITES_UNLOADS; c++)
        if (em->producer->own.classes[c].absent) {
            struct event e = RECORD_EVENT(UNLOAD_CLASS);

            e.fields.UNLOAD_CLASS.class_serial = class_serial(em, own_class(em, c));
            give_record(em, &e);
        }
}
