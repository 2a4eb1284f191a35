/* The places of faults.def, where rules can be broken. Each function examines an event and what precedes it. */
#include "faults/fault.h"

/* ---- Between records: before one, or at the end ---- */

bool place_header(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->kind == EVENT_HEADER;
}

bool place_header_with_time(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->kind == EVENT_HEADER && e->header.timestamp && e->header.timestamp < TIMESTAMP_END;
}

bool place_between_records(const struct faults *v, const struct event *e)
{
    return !v->flow.after_empty && (e->kind == EVENT_RECORD || e->kind == EVENT_OPEN || e->kind == EVENT_END);
}

bool place_in_series(const struct faults *v, const struct event *e)
{
    return v->flow.series_open && e->kind != EVENT_END && place_between_records(v, e);
}

bool place_out_of_series(const struct faults *v, const struct event *e)
{
    return !v->flow.series_open && place_between_records(v, e);
}

bool place_end(const struct faults *v, const struct event *e)
{
    return e->kind == EVENT_END && !v->flow.after_empty;
}

bool place_closed_end(const struct faults *v, const struct event *e)
{
    return place_end(v, e) && !v->flow.series_open;
}

/* ---- Between sub-records: before one, or after the last of a record ---- */

bool place_in_heap(const struct faults *v, const struct event *e)
{
    return e->kind == EVENT_SUBRECORD || (e->kind == EVENT_CLOSE && v->flow.in_record);
}

bool place_in_segment(const struct faults *v, const struct event *e)
{
    return v->flow.heap_tag == TAG_HEAP_DUMP_SEGMENT && place_in_heap(v, e);
}

bool place_after_subrecords(const struct faults *v, const struct event *e)
{
    return e->kind == EVENT_CLOSE && v->flow.in_record;
}

/* ---- An event ---- */

bool place_subrecord(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->kind == EVENT_SUBRECORD;
}

bool place_heap_dump(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->kind == EVENT_OPEN;
}

bool place_only_heap_dump(const struct faults *v, const struct event *e)
{
    return e->kind == EVENT_OPEN && e->tag == TAG_HEAP_DUMP && !v->flow.series_open;
}

bool place_segment(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->kind == EVENT_OPEN && e->tag == TAG_HEAP_DUMP_SEGMENT;
}

bool place_heap_dump_end(const struct faults *v, const struct event *e)
{
    return e->kind == EVENT_RECORD && e->tag == TAG_HEAP_DUMP_END && !e->body_size && !v->flow.after_empty;
}

bool place_closing_end(const struct faults *v, const struct event *e)
{
    return v->flow.series_open && place_heap_dump_end(v, e);
}

bool place_any_record(const struct faults *v, const struct event *e)
{
    return e->kind != EVENT_END && place_between_records(v, e);
}

bool place_record_with_body(const struct faults *v, const struct event *e)
{
    return e->kind == EVENT_RECORD && fields_size(e->layout, v->id_size) + e->body_size;
}

bool place_first_definitions(const struct faults *v, const struct event *e)
{
    return needs_no_other_record(e) && is_whole(e) && !v->flow.in_use;
}

bool place_utf8(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->layout == LAYOUT_ID_UTF8 && e->fields.UTF8.id && is_whole(e);
}

bool place_long_utf8(const struct faults *v, const struct event *e)
{
    return place_utf8(v, e) && e->body_size;
}

bool place_load_class(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->layout == LAYOUT_ID_LOAD_CLASS && e->fields.LOAD_CLASS.class_id && e->fields.LOAD_CLASS.class_serial &&
           e->fields.LOAD_CLASS.name && !e->body_size;
}

bool place_frame(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->layout == LAYOUT_ID_FRAME && !e->body_size && e->fields.FRAME.class_serial && e->fields.FRAME.line >= -3 &&
           e->fields.FRAME.method && e->fields.FRAME.signature;
}

bool place_frame_with_source(const struct faults *v, const struct event *e)
{
    return place_frame(v, e) && e->fields.FRAME.source;
}

bool place_trace(const struct faults *v, const struct event *e)
{
    return e->layout == LAYOUT_ID_TRACE && is_whole(e) && e->body_size == (uint64_t)e->fields.TRACE.frames * v->id_size;
}

bool place_trace_with_frames(const struct faults *v, const struct event *e)
{
    return place_trace(v, e) && e->fields.TRACE.frames;
}

bool place_trace_of_other_ends(const struct faults *v, const struct event *e)
{
    return place_trace(v, e) && e->fields.TRACE.frames > 1 &&
           memcmp(e->body, e->body + e->body_size - v->id_size, v->id_size) != 0;
}

bool place_class_dump(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->layout == LAYOUT_ID_CLASS_DUMP && e->fields.CLASS_DUMP.class_id && is_whole(e) &&
           !e->fields.CLASS_DUMP.reserved1 && !e->fields.CLASS_DUMP.reserved2;
}

bool place_class_dump_with_fields(const struct faults *v, const struct event *e)
{
    struct class_lists lists;

    return place_class_dump(v, e) && find_lists(v, e, &lists) && lists.fields;
}

bool place_class_dump_with_statics(const struct faults *v, const struct event *e)
{
    struct class_lists lists;

    return place_class_dump(v, e) && find_lists(v, e, &lists) && lists.statics;
}

bool place_instance(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->layout == LAYOUT_ID_INSTANCE_DUMP && e->fields.INSTANCE_DUMP.object_id && e->fields.INSTANCE_DUMP.class_id;
}

bool place_whole_instance(const struct faults *v, const struct event *e)
{
    return place_instance(v, e) && is_whole(e);
}

bool place_instance_with_fields(const struct faults *v, const struct event *e)
{
    return place_whole_instance(v, e) && e->body_size;
}

bool place_object_array(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->layout == LAYOUT_ID_OBJECT_ARRAY_DUMP && e->fields.OBJECT_ARRAY_DUMP.object_id &&
           e->fields.OBJECT_ARRAY_DUMP.class_id;
}

bool place_whole_object_array(const struct faults *v, const struct event *e)
{
    return place_object_array(v, e) && is_whole(e);
}

bool place_object_array_with_elements(const struct faults *v, const struct event *e)
{
    return place_whole_object_array(v, e) && e->body_size;
}

bool place_primitive_array(const struct faults *v, const struct event *e)
{
    (void)v;
    return e->layout == LAYOUT_ID_PRIMITIVE_ARRAY_DUMP && e->fields.PRIMITIVE_ARRAY_DUMP.object_id;
}

/* Some boolean elements are neither 0 nor 1. Each such array would be another finding. */
bool place_whole_primitive_array(const struct faults *v, const struct event *e)
{
    return place_primitive_array(v, e) && is_whole(e) && e->fields.PRIMITIVE_ARRAY_DUMP.type != TYPE_BOOLEAN;
}

bool place_object(const struct faults *v, const struct event *e)
{
    return place_instance(v, e) || place_object_array(v, e) || place_primitive_array(v, e);
}

/* ---- The lists of a class ---- */

bool find_lists(const struct faults *v, const struct event *e, struct class_lists *lists)
{
    const uint8_t *p = e->body, *end = p + e->body_size;
    size_t head;

    memset(lists, 0, sizeof *lists);
    for (int list = 0; list < 2; list++) {
        unsigned n;

        if (end - p < 2)
            return false;
        n = get_u2(p);
        p += 2;
        head = list ? SIZE_OF(STATIC_FIELD, v->id_size) : SIZE_OF(CONSTANT, v->id_size);
        if (list) {
            lists->statics = n;
            lists->statics_at = (size_t)(p - e->body);
        }
        for (; n; n--) {
            if ((size_t)(end - p) < head || (size_t)(end - p) < head + type_size(p[head - 1], v->id_size))
                return false;
            p += head + type_size(p[head - 1], v->id_size);
        }
    }
    if (end - p < 2)
        return false;
    lists->fields = get_u2(p);
    lists->fields_at = (size_t)(p + 2 - e->body);
    return (size_t)(end - p) == 2 + lists->fields * SIZE_OF(INSTANCE_FIELD, v->id_size);
}
