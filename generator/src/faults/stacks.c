/* SPEC.md 4.4, 4.5, 4.8, 4.9: frames, stack traces, threads. */
#include "faults/fault.h"

#define FRAME_FIELD(v, field) EVENT_OFFSET_OF(EVENT_RECORD, FRAME, field, (v)->id_size)
#define TRACE_FIELD(v, field) EVENT_OFFSET_OF(EVENT_RECORD, TRACE, field, (v)->id_size)

/* ---- FRAME ---- */

void stk_002_again(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    give(v->break_.next, e);
    break_at(v, e, FRAME_FIELD(v, id));
}

void stk_003_other(struct faults *v, struct event *e, int without_source)
{
    give(v->break_.next, e);
    if (without_source)
        e->fields.FRAME.source = 0;
    else
        e->fields.FRAME.line = e->fields.FRAME.line == 7 ? 8 : 7;
    break_at(v, e, FRAME_FIELD(v, id));
}

void stk_004_line(struct faults *v, struct event *e, int line)
{
    keep_the_first(v, e);
    e->fields.FRAME.line = line;
    break_at(v, e, FRAME_FIELD(v, line));
}

void stk_005_zero(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    keep_the_first(v, e);
    e->fields.FRAME.class_serial = 0;
    break_at(v, e, FRAME_FIELD(v, class_serial));
}

void stk_006_undefined(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    keep_the_first(v, e);
    e->fields.FRAME.class_serial = fresh_serial(v, CLASS_SERIAL);
    break_at(v, e, FRAME_FIELD(v, class_serial));
}

void stk_013_zero(struct faults *v, struct event *e, int variant)
{
    struct event frame = RECORD_EVENT(FRAME);

    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "Broken");
    insert_load_class(v, fresh_serial(v, CLASS_SERIAL), fresh_id(v, CLASS), fresh_id(v, NAME), "Broken");
    frame.fields.FRAME = (struct FRAME){
        .method = fresh_id(v, NAME), .signature = fresh_id(v, NAME), .class_serial = fresh_serial(v, CLASS_SERIAL)};
    break_at(v, &frame, FRAME_FIELD(v, id));
    insert(v, &frame);
}

/* ---- TRACE ---- */

void stk_014_zero(struct faults *v, struct event *e, int variant)
{
    struct event trace = RECORD_EVENT(TRACE);

    (void)e;
    (void)variant;
    break_at(v, &trace, TRACE_FIELD(v, trace_serial));
    insert(v, &trace);
}

void stk_008_again(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    give(v->break_.next, e);
    break_at(v, e, TRACE_FIELD(v, trace_serial));
}

enum { NO_FRAMES, FEWER_FRAMES, MORE_FRAMES, OTHER_ORDER };

void stk_009_other(struct faults *v, struct event *e, int how)
{
    struct TRACE *r = &e->fields.TRACE;
    size_t id_size = v->id_size, size = (size_t)e->body_size;
    uint8_t *body, first[8];

    give(v->break_.next, e);
    body = own_body(v, e);
    switch (how) {
    case NO_FRAMES:
        r->frames = 0;
        e->body_size = 0;
        break;
    case FEWER_FRAMES:
        r->frames--;
        e->body_size -= id_size;
        break;
    case MORE_FRAMES:
        add_bytes(v, body, id_size);
        r->frames++;
        e->body_size += id_size;
        break;
    default: /* the first and the last are exchanged */
        memcpy(first, body, id_size);
        memcpy(body, body + size - id_size, id_size);
        memcpy(body + size - id_size, first, id_size);
        break;
    }
    break_at(v, e, TRACE_FIELD(v, trace_serial));
}

void stk_010_frame(struct faults *v, struct event *e, int last)
{
    size_t at = last ? (size_t)e->body_size - v->id_size : 0;

    keep_the_first(v, e);
    put_id(own_body(v, e) + at, fresh_id(v, MISSING), v->id_size);
    break_at(v, e, fixed_part_size(e, v->id_size) + at);
}

void stk_011_thread(struct faults *v, struct event *e, int variant)
{
    struct event trace = RECORD_EVENT(TRACE);

    (void)e;
    (void)variant;
    trace.fields.TRACE =
        (struct TRACE){.trace_serial = fresh_serial(v, TRACE_SERIAL), .thread_serial = fresh_serial(v, THREAD_SERIAL)};
    break_at(v, &trace, TRACE_FIELD(v, thread_serial));
    insert(v, &trace);
}

/* ---- Serial numbers of stack traces ---- */

void stk_012_load_class(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->fields.LOAD_CLASS.trace_serial = fresh_serial(v, TRACE_SERIAL);
    break_at(v, e, EVENT_OFFSET_OF(EVENT_RECORD, LOAD_CLASS, trace_serial, v->id_size));
}

void stk_012_start_thread(struct faults *v, struct event *e, int variant)
{
    struct event start = RECORD_EVENT(START_THREAD);

    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "broken");
    start.fields.START_THREAD = (struct START_THREAD){.thread_serial = fresh_serial(v, THREAD_SERIAL),
                                                      .thread_id = fresh_id(v, OBJECT),
                                                      .trace_serial = fresh_serial(v, TRACE_SERIAL),
                                                      .name = fresh_id(v, NAME)};
    break_at(v, &start, EVENT_OFFSET_OF(EVENT_RECORD, START_THREAD, trace_serial, v->id_size));
    insert(v, &start);
}

void stk_012_thread_root(struct faults *v, struct event *e, int variant)
{
    struct event thread = root(SUB_ROOT_THREAD_OBJECT, 0, fresh_serial(v, THREAD_SERIAL), 0);

    (void)e;
    (void)variant;
    thread.fields.ROOT_THREAD_OBJECT.trace_serial = fresh_serial(v, TRACE_SERIAL);
    break_at(v, &thread, EVENT_OFFSET_OF(EVENT_SUBRECORD, ROOT_THREAD_OBJECT, trace_serial, v->id_size));
    insert(v, &thread);
}

void stk_012_class(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->fields.CLASS_DUMP.trace_serial = fresh_serial(v, TRACE_SERIAL);
    break_at(v, e, EVENT_OFFSET_OF(EVENT_SUBRECORD, CLASS_DUMP, trace_serial, v->id_size));
}

/* In all objects it follows the ID. */
void stk_012_object(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    switch (e->tag) {
    case SUB_INSTANCE_DUMP:
        e->fields.INSTANCE_DUMP.trace_serial = fresh_serial(v, TRACE_SERIAL);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        e->fields.OBJECT_ARRAY_DUMP.trace_serial = fresh_serial(v, TRACE_SERIAL);
        break;
    default:
        e->fields.PRIMITIVE_ARRAY_DUMP.trace_serial = fresh_serial(v, TRACE_SERIAL);
        break;
    }
    break_at(v, e, EVENT_OFFSET_OF(EVENT_SUBRECORD, INSTANCE_DUMP, trace_serial, v->id_size));
}

/* ---- Threads ---- */

void thr_003_zero(struct faults *v, struct event *e, int variant)
{
    struct event start = RECORD_EVENT(START_THREAD);

    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "broken");
    start.fields.START_THREAD = (struct START_THREAD){.thread_id = fresh_id(v, OBJECT), .name = fresh_id(v, NAME)};
    break_at(v, &start, EVENT_OFFSET_OF(EVENT_RECORD, START_THREAD, thread_serial, v->id_size));
    insert(v, &start);
}

static void insert_end_thread(struct faults *v, bool broken)
{
    struct event end = RECORD_EVENT(END_THREAD);

    end.fields.END_THREAD.thread_serial = fresh_serial(v, THREAD_SERIAL);
    if (broken)
        break_at(v, &end, EVENT_OFFSET_OF(EVENT_RECORD, END_THREAD, thread_serial, v->id_size));
    insert(v, &end);
}

void thr_004_live(struct faults *v, struct event *e, int after_reuse)
{
    struct event start = RECORD_EVENT(START_THREAD);

    (void)e;
    insert_utf8(v, fresh_id(v, NAME), "broken");
    insert_start_thread(v, fresh_serial(v, THREAD_SERIAL), fresh_id(v, NAME));
    if (after_reuse) {
        insert_end_thread(v, false);
        insert_start_thread(v, fresh_serial(v, THREAD_SERIAL), fresh_id(v, NAME));
    }
    start.fields.START_THREAD = (struct START_THREAD){
        .thread_serial = fresh_serial(v, THREAD_SERIAL), .thread_id = fresh_id(v, OTHER), .name = fresh_id(v, NAME)};
    break_at(v, &start, EVENT_OFFSET_OF(EVENT_RECORD, START_THREAD, thread_serial, v->id_size));
    insert(v, &start);
}

void thr_005_unstarted(struct faults *v, struct event *e, int started_later)
{
    (void)e;
    if (started_later)
        insert_utf8(v, fresh_id(v, NAME), "broken");
    insert_end_thread(v, true);
    if (started_later)
        insert_start_thread(v, fresh_serial(v, THREAD_SERIAL), fresh_id(v, NAME));
}

void thr_006_twice(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    insert_utf8(v, fresh_id(v, NAME), "broken");
    insert_start_thread(v, fresh_serial(v, THREAD_SERIAL), fresh_id(v, NAME));
    insert_end_thread(v, false);
    insert_end_thread(v, true);
}
