/* See twin_parts.h: the records before and after the heap dump. */
#include <string.h>

#include "findings/rules.h"
#include "twin/twin_parts.h"

enum { LINES = 1500 /* of a source file */ };

/* ---- Records ---- */

static void give_text(struct twin *t, uint64_t string)
{
    struct event e = RECORD_EVENT(UTF8), part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);
    uint64_t size = texts_size(&t->texts, string);

    e.fields.UTF8.id = texts_id(&t->texts, string);
    e.body_size = size;
    if (size <= PIECE) {
        texts_write(&t->texts, string, (char *)t->room);
        e.body = t->room;
        give(t->to, &e);
        return;
    }
    give(t->to, &e);
    memset(t->room, 'x', PIECE);
    part.body = t->room;
    for (uint64_t done = 0; done < size; done += part.body_size) {
        part.body_size = size - done < PIECE ? size - done : PIECE;
        give(t->to, &part);
    }
}

static void give_load(struct twin *t, uint32_t class, uint32_t serial)
{
    struct event e = RECORD_EVENT(LOAD_CLASS);

    e.fields.LOAD_CLASS = (struct LOAD_CLASS){.class_serial = serial,
                                              .class_id = class_id(t, class),
                                              .trace_serial = dummy_trace(t),
                                              .name = texts_id(&t->texts, texts_of_class(&t->texts, class))};
    t->room[texts_write(&t->texts, texts_of_class(&t->texts, class), (char *)t->room)] = '\0';
    e.class_name = (char *)t->room;
    if (serial != class_serial(t, class))
        quirk(&e, RULE_CLS_004, 1);
    give(t->to, &e);
}

/* HotSpot up to 17 loads array classes again. */
void twin_give_loads(struct twin *t)
{
    uint64_t left = t->p.records[TAG_LOAD_CLASS];
    uint32_t serial = class_serial(t, t->p.class_count);

    for (uint32_t c = t->first_class; c < t->p.class_count && !*t->stop; c++)
        if (t->p.classes[c].is_loaded) {
            give_load(t, c, class_serial(t, c));
            left -= left > 0;
        }
    for (uint64_t before = left + 1; left && left < before && !*t->stop;) {
        before = left;
        for (uint32_t c = t->first_class; c < t->p.class_count && left && !*t->stop; c++)
            if (t->p.classes[c].is_loaded && strstr(t->p.classes[c].label, "[]")) {
                give_load(t, c, serial++);
                left--;
            }
    }
}

static void give_frame(struct twin *t, uint64_t number, const struct profile_frame *frame)
{
    struct event e = RECORD_EVENT(FRAME);
    int64_t class = frame && frame->class >= (int64_t)t->first_class ? frame->class : (int64_t)t->first_class;

    e.fields.FRAME = (struct FRAME){.id = number + 1,
                                    .method = texts_id(&t->texts, texts_of_name(&t->texts, frame ? frame->method : NULL, 0)),
                                    .signature = texts_id(&t->texts, texts_of_signature(&t->texts)),
                                    .class_serial = class_serial(t, class),
                                    .line = (int32_t)below(mix_of(t->key, number, 1), LINES) + 1};
    give(t->to, &e);
}

void twin_give_frames(struct twin *t)
{
    uint64_t number = 0;

    for (uint32_t i = 0; i < t->p.frame_count; i++)
        for (uint64_t n = 0; n < t->p.frames[i].count && number < t->frames && !*t->stop; n++)
            give_frame(t, number++, &t->p.frames[i]);
    while (number < t->frames && !*t->stop)
        give_frame(t, number++, NULL);
}

/* The frames of a stack are taken from all over their list. */
static void give_trace(struct twin *t, uint32_t serial, uint32_t thread, uint64_t depth, uint64_t *frame)
{
    struct event e = RECORD_EVENT(TRACE), part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);
    const uint64_t per_piece = PIECE / t->p.id_size;

    e.fields.TRACE = (struct TRACE){.trace_serial = serial, .thread_serial = thread, .frames = (uint32_t)depth};
    e.body_size = depth * t->p.id_size;
    e.body = depth ? NULL : t->room;
    give(t->to, &e);
    for (uint64_t done = 0; done < depth && !*t->stop;) {
        uint64_t n = depth - done < per_piece ? depth - done : per_piece;
        uint8_t *at = t->room;

        for (uint64_t i = 0; i < n; i++)
            at = put_id(at, (*frame)++ % t->frames + 1, t->p.id_size);
        part.body = t->room;
        part.body_size = n * t->p.id_size;
        give(t->to, &part);
        done += n;
    }
}

void twin_give_dummies(struct twin *t)
{
    uint64_t frame = 0;

    for (uint64_t i = 0; i < t->dummies && !*t->stop; i++)
        give_trace(t, (uint32_t)i + 1, 0, t->frames ? nth(&t->p, t->p.traces, i) : 0, &frame);
}

void twin_give_stacks(struct twin *t)
{
    uint64_t frame = 0;

    for (uint64_t i = 0; i < t->stacks && !*t->stop; i++)
        give_trace(t, stack_trace(t, i), (uint32_t)i + 1, t->frames ? nth(&t->p, t->p.stacks, i) : 0, &frame);
}

void twin_give_threads(struct twin *t)
{
    struct event start = RECORD_EVENT(START_THREAD), end = RECORD_EVENT(END_THREAD);

    for (uint64_t i = 0; i < t->p.records[TAG_START_THREAD] && !*t->stop; i++) {
        uint64_t thread = t->threads ? graph_instance(t->graph, "java.lang.Thread", i % t->threads) : UINT64_MAX;

        start.fields.START_THREAD =
            (struct START_THREAD){.thread_serial = (uint32_t)i + 1,
                                  .thread_id = thread == UINT64_MAX ? any_object(t, 2, i) : object_id(t, thread),
                                  .trace_serial = dummy_trace(t),
                                  .name = texts_id(&t->texts, texts_of_signature(&t->texts)),
                                  .group = texts_id(&t->texts, texts_of_signature(&t->texts))};
        give(t->to, &start);
    }
    for (uint64_t i = 0; i < t->p.records[TAG_END_THREAD] && i < t->p.records[TAG_START_THREAD]; i++) {
        end.fields.END_THREAD.thread_serial = (uint32_t)(t->p.records[TAG_START_THREAD] - i);
        give(t->to, &end);
    }
}

/* Records of a profiler, with nothing in them. */
void twin_give_empty(struct twin *t, uint8_t tag)
{
    struct event e = event_of(EVENT_RECORD, tag, LAYOUT_ID_NONE);

    if (tag == TAG_ALLOC_SITES)
        e = RECORD_EVENT(ALLOC_SITES);
    else if (tag == TAG_CPU_SAMPLES)
        e = RECORD_EVENT(CPU_SAMPLES);
    else if (tag == TAG_HEAP_SUMMARY)
        e = RECORD_EVENT(HEAP_SUMMARY);
    else
        e = RECORD_EVENT(CONTROL_SETTINGS);
    e.body = t->room;
    for (uint64_t i = 0; i < t->p.records[tag] && !*t->stop; i++)
        give(t->to, &e);
}

void twin_give_texts(struct twin *t)
{
    for (uint64_t s = 0; s < texts_count(&t->texts) && !*t->stop; s++)
        give_text(t, s);
}
