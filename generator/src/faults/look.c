/* See rows.h. What the first pass finds out: the numbers that the dump uses, facts that decide about rows, the places. */
#include "faults/rows.h"

#define MEET_ID(field) fresh_ids_meet(&v->ids, r->field);
#define MEET_U4(field) fresh_ids_meet(&v->serials, r->field);
#define MEET_U1(field)
#define MEET_U2(field)
#define MEET_U8(field)
#define MEET_I4(field)
#define MEET(type, field, meaning) MEET_##type(field)

static void meet_fields(struct faults *v, const struct event *e)
{
    switch (e->layout) {
    case LAYOUT_ID_NONE:
        break;
#define MEET_CASE(name) \
    case LAYOUT_ID_##name: { \
        const struct name *r = &e->fields.name; \
        (void)r; \
        LAYOUT_##name(MEET, NO_TAIL) break; \
    }
        LAYOUTS_WITH_FIELDS(MEET_CASE)
#undef MEET_CASE
    }
}

static void meet_numbers(struct faults *v, const struct event *e)
{
    if (e->kind != EVENT_PART) {
        v->scanning = e->layout == LAYOUT_ID_TRACE || e->layout == LAYOUT_ID_CLASS_DUMP ||
                      e->layout == LAYOUT_ID_INSTANCE_DUMP || e->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP;
        v->scanning_serials = e->layout == LAYOUT_ID_ALLOC_SITES || e->layout == LAYOUT_ID_CPU_SAMPLES;
        v->ids.carried = v->serials.carried = 0;
        meet_fields(v, e);
    }
    if (v->scanning && e->body)
        fresh_ids_scan_on(&v->ids, e->body, e->body_size);
    if (v->scanning_serials && e->body)
        fresh_ids_scan_on(&v->serials, e->body, e->body_size);
}

/* A heap dump record that ends. */
static void note_sample(struct facts *f, const struct flow *flow)
{
    if (!flow->in_record)
        return;
    if (f->seen++ % f->stride)
        return;
    if (f->sample_count == SAMPLES) {
        for (size_t i = 0; i < SAMPLES / 2; i++)
            f->samples[i] = f->samples[2 * i];
        f->sample_count = SAMPLES / 2;
        f->stride *= 2;
        if ((f->seen - 1) % f->stride)
            return;
    }
    f->samples[f->sample_count++] = (struct sample){flow->opened, flow->subrecords - flow->in_record, flow->in_record};
}

/* Whether a number was met before. Sometimes true for a number that was not. */
static bool seen_before(struct facts *f, uint64_t number)
{
    size_t bit = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 44);
    uint8_t mask = (uint8_t)(1 << (bit & 7)), before = f->seen_frames[bit >> 3];

    f->seen_frames[bit >> 3] = before | mask;
    return before & mask;
}

static void note_facts(struct faults *v, const struct event *e)
{
    struct facts *f = &v->facts;

    if (e->kind == EVENT_OPEN) {
        f->last_segment = 0;
        f->segments_end = e->tag == TAG_HEAP_DUMP_SEGMENT ? v->flow.opened + 1 : f->segments_end;
    } else if (e->kind == EVENT_RECORD && e->tag == TAG_HEAP_DUMP_END) {
        f->last_segment = v->flow.series_open ? f->segments_end : 0;
    } else if (e->kind == EVENT_CLOSE) {
        note_sample(f, &v->flow);
        if (v->flow.heap_tag == TAG_HEAP_DUMP && v->flow.record_size > UINT32_MAX && !f->long_heap_dump)
            f->long_heap_dump = v->flow.opened;
    } else if (e->layout == LAYOUT_ID_UTF8) {
        f->string_zero |= !e->fields.UTF8.id;
    } else if (e->layout == LAYOUT_ID_FRAME) {
        f->frames_again |= seen_before(f, e->fields.FRAME.id);
    } else if (e->layout == LAYOUT_ID_TRACE) {
        f->frames_again |= seen_before(f, ~(uint64_t)e->fields.TRACE.trace_serial);
    } else if (e->kind == EVENT_SUBRECORD) {
        f->subrecords++;
        f->classes_late |= e->layout == LAYOUT_ID_CLASS_DUMP && v->flow.instances;
        f->thread_zero |= (e->layout == LAYOUT_ID_ROOT_FRAME && !e->fields.ROOT_FRAME.thread_serial) ||
                          (e->layout == LAYOUT_ID_ROOT_THREAD && !e->fields.ROOT_THREAD.thread_serial) ||
                          (e->layout == LAYOUT_ID_ROOT_THREAD_OBJECT && !e->fields.ROOT_THREAD_OBJECT.thread_serial) ||
                          (e->layout == LAYOUT_ID_ROOT_JNI_MONITOR && !e->fields.ROOT_JNI_MONITOR.thread_serial);
    }
}

void flow_on(struct faults *v, const struct event *e)
{
    static const uint8_t no_lists[6] = {0};
    struct flow *f = &v->flow;

    switch (e->kind) {
    case EVENT_OPEN:
        f->time = e->time;
        f->heap_tag = e->tag;
        f->opened++;
        f->in_use = true;
        f->in_record = f->record_size = 0;
        if (!f->series_open) {
            f->top_class = 0;
            f->instances = false;
        }
        f->series_open |= e->tag == TAG_HEAP_DUMP_SEGMENT;
        break;
    case EVENT_CLOSE:
        f->heap_tag = 0;
        f->after_empty = !f->in_record;
        break;
    case EVENT_RECORD:
        f->time = e->time;
        f->after_empty = false;
        if (e->tag == TAG_HEAP_DUMP_END)
            f->series_open = false;
        f->in_use |= !needs_no_other_record(e);
        break;
    case EVENT_SUBRECORD:
        f->subrecords++;
        f->in_record++;
        f->record_size += fixed_part_size(e, v->id_size) + e->body_size;
        f->instances |= e->layout == LAYOUT_ID_INSTANCE_DUMP;
        if (e->layout == LAYOUT_ID_CLASS_DUMP && !f->top_class && !e->fields.CLASS_DUMP.super_id && e->body &&
            e->body_size >= 6 && memcmp(e->body + e->body_size - 2, no_lists, 2) == 0 && !e->fields.CLASS_DUMP.instance_size)
            f->top_class = e->fields.CLASS_DUMP.class_id;
        break;
    case EVENT_HEADER:
    case EVENT_BATCH: /* with DETAIL_FIELDS, events have no body */
    case EVENT_RAW:
    case EVENT_PART:
    case EVENT_END:
        break;
    }
}

bool is_free(const struct fault *row, const struct event *e)
{
    bool has_quirk = e->quirk_count && e->kind != EVENT_HEADER;

    return e->rule == NO_RULE && (!has_quirk || row->flags & BESIDE_QUIRK);
}

bool is_place(const struct faults *v, const struct chosen *c, const struct event *e)
{
    return (!(c->row->flags & CHANGES) || is_free(c->row, e)) && c->row->place->is(v, e);
}

void start_pass(struct faults *v)
{
    memset(&v->flow, 0, sizeof v->flow);
    v->prepared = v->marked = false;
    for (size_t i = 0; i < v->count; i++)
        v->chosen[i].at = v->chosen[i].done = v->chosen[i].due = 0;
}

static void note_places(struct faults *v, const struct event *e)
{
    struct chosen *first = NULL; /* of the rows that would change the event */

    for (size_t i = 0; i < v->count; i++) {
        struct chosen *c = &v->chosen[i];

        if (!is_place(v, c, e))
            continue;
        c->places++;
        if (c->row->flags & CHANGES && first)
            c->shared = first->shared = true;
        else if (c->row->flags & CHANGES)
            first = c;
    }
}

void look_at(struct faults *v, const struct event *e)
{
    meet_numbers(v, e);
    note_facts(v, e);
    note_places(v, e);
    flow_on(v, e);
}
