/* SPEC.md 3.2, 3.3, 5, 6.1: the framing of records, heap dumps and sub-records; and 8, which the gzip writer breaks. */
#include "faults/fault.h"

static const uint8_t zeros[BODY_MOST];

/* ---- The end comes too early ---- */

void rec_001_cut(struct faults *v, struct event *e, int keep)
{
    e->keep = (uint64_t)keep;
    break_at(v, e, 0);
}

void rec_001_bytes_after(struct faults *v, struct event *e, int bytes)
{
    static const uint8_t start[8] = {TAG_UTF8};

    (void)e;
    insert_raw(v, start, (size_t)bytes, true);
}

void rec_002_record(struct faults *v, struct event *e, int halves)
{
    uint64_t body = fields_size(e->layout, v->id_size) + e->body_size;

    e->keep = RECORD_HEADER_SIZE + (halves == 2 ? body - 1 : body / 2 * (uint64_t)halves);
    break_at(v, e, RECORD_LENGTH_AT);
}

/* The heap dump record with the chosen sub-record, or one near it. */
static const struct sample *sample_at(const struct faults *v, uint64_t subrecord)
{
    const struct sample *s = v->facts.samples;

    while (s + 1 < v->facts.samples + v->facts.sample_count && s[1].subrecords <= subrecord)
        s++;
    return s;
}

void rec_002_heap_dump(struct faults *v, struct event *e, int halves)
{
    uint64_t target = chosen_place(v);
    const struct sample *s = sample_at(v, target);

    if (e->kind == EVENT_OPEN && v->flow.opened + 1 == s->opened) {
        break_at(v, e, RECORD_LENGTH_AT);
        return;
    }
    target = target < s->subrecords ? 0 : target - s->subrecords;
    if (target >= s->inside)
        target = s->inside - 1;
    if (e->kind == EVENT_SUBRECORD && v->flow.opened == s->opened && v->flow.in_record == target)
        e->keep = (fixed_part_size(e, v->id_size) + e->body_size) / 2 * (uint64_t)halves;
}

/* The event stays whole, and the dump ends before the next one. */
void rec_016_cut(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    break_at(v, e, 0);
    give(v->break_.next, e);
    *e = event_of(EVENT_RAW, 0, LAYOUT_ID_NONE);
    e->keep = 0;
}

/* ---- Tags and times ---- */

void rec_003_tag(struct faults *v, struct event *e, int tag)
{
    struct event unknown = event_of(EVENT_RECORD, (uint8_t)tag, LAYOUT_ID_NONE);

    (void)e;
    unknown.body = zeros;
    unknown.body_size = 12;
    break_at(v, &unknown, 0);
    insert(v, &unknown);
}

/* A record with an earlier time than the preceding one. If that has time 0, a record with a later time is inserted first. The
 * following records are not earlier. */
void rec_004_time(struct faults *v, struct event *e, int back)
{
    uint32_t now = v->flow.time, step = (uint32_t)back;
    struct event late = RECORD_EVENT(UTF8), early = RECORD_EVENT(UTF8);

    (void)e;
    late.fields.UTF8.id = fresh_id(v, NAME);
    early.fields.UTF8.id = fresh_id(v, FIELD);
    if (now < step) {
        late.time = now + step;
        insert(v, &late);
        early.time = now;
    } else {
        early.time = now - step;
    }
    break_at(v, &early, RECORD_TIME_AT);
    give(v->break_.next, &early);
}

/* ---- Heap dumps ---- */

static void insert_heap_dump(struct faults *v, uint8_t tag, bool empty)
{
    struct event e = event_of(EVENT_OPEN, tag, LAYOUT_ID_NONE);

    break_at(v, &e, 0);
    insert(v, &e);
    if (!empty)
        insert_object(v, fresh_id(v, OBJECT));
    insert_mark(v, EVENT_CLOSE, tag);
}

void rec_005_segment(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    if (v->marked && (e->kind == EVENT_OPEN || e->kind == EVENT_RECORD || e->kind == EVENT_END)) {
        insert_mark(v, EVENT_RECORD, TAG_HEAP_DUMP_END);
        v->marked = false;
    }
    if (place_only_heap_dump(v, e) && is_chosen_place(v)) {
        e->tag = TAG_HEAP_DUMP_SEGMENT;
        break_at(v, e, 0);
        v->marked = true;
    }
}

void rec_005_old_header(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    if (e->kind == EVENT_HEADER) {
        e->header.text[17] = '1';
    } else if (!v->marked && (place_segment(v, e) || place_heap_dump_end(v, e))) {
        break_at(v, e, 0);
        v->marked = true;
    }
}

void rec_006_heap_dump(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    insert_heap_dump(v, TAG_HEAP_DUMP, false);
}

void rec_007_added(struct faults *v, struct event *e, int variant)
{
    (void)e;
    (void)variant;
    insert_heap_dump(v, TAG_HEAP_DUMP_SEGMENT, false);
}

void rec_007_dropped(struct faults *v, struct event *e, int variant)
{
    uint64_t last = v->facts.last_segment;

    (void)variant;
    if (e->kind == EVENT_OPEN && v->flow.opened + 1 == last)
        break_at(v, e, 0);
    else if (place_closing_end(v, e) && v->flow.opened == last)
        v->swallow = true;
}

void rec_008_body(struct faults *v, struct event *e, int bytes)
{
    e->body = zeros;
    e->body_size = (uint64_t)bytes;
    break_at(v, e, RECORD_LENGTH_AT);
}

/* An unexpected HEAP_DUMP_END: without a segment before it, or in 1.0.1. */
void rec_009_end(struct faults *v, struct event *e, int variant)
{
    struct event end = event_of(EVENT_RECORD, TAG_HEAP_DUMP_END, LAYOUT_ID_NONE);

    (void)e;
    (void)variant;
    break_at(v, &end, 0);
    insert(v, &end);
}

void rec_010_empty(struct faults *v, struct event *e, int tag)
{
    (void)e;
    insert_heap_dump(v, (uint8_t)tag, true);
}

/* Inserts the first sub-record. Its tag is not that of a record, so that the length 0 is found to be wrong immediately. */
void rec_011_zero(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->length_stated = true;
    e->length = 0;
    break_at(v, e, RECORD_LENGTH_AT);
    give(v->break_.next, e);
    *e = primitive_array(v, fresh_id(v, OBJECT), TYPE_LONG, 4);
}

/* A HEAP_DUMP with a single array of 4 GiB. */
static void insert_long_heap_dump(struct faults *v)
{
    struct event open = event_of(EVENT_OPEN, TAG_HEAP_DUMP, LAYOUT_ID_NONE),
                 array = primitive_array(v, fresh_id(v, OBJECT), TYPE_LONG, 0), part = event_of(EVENT_PART, 0, LAYOUT_ID_NONE);

    array.fields.PRIMITIVE_ARRAY_DUMP.elements = UINT32_C(1) << 29;
    array.body = NULL;
    array.body_size = UINT64_C(1) << 32;
    open.length_wraps = true;
    break_at(v, &open, RECORD_LENGTH_AT);
    insert(v, &open);
    insert(v, &array);
    part.body = zeros;
    part.body_size = BODY_MOST;
    for (uint64_t done = 0; done < array.body_size; done += part.body_size)
        insert(v, &part);
    insert_mark(v, EVENT_CLOSE, TAG_HEAP_DUMP);
}

/* The length of a heap dump wraps. If none is long enough, one is inserted. */
void rec_012_wrapped(struct faults *v, struct event *e, int variant)
{
    uint64_t long_one = v->facts.long_heap_dump;

    (void)variant;
    if (long_one && e->kind == EVENT_OPEN && v->flow.opened + 1 == long_one) {
        e->length_wraps = true;
        break_at(v, e, RECORD_LENGTH_AT);
    } else if (!long_one && place_out_of_series(v, e) && is_chosen_place(v)) {
        insert_long_heap_dump(v);
    }
}

/* ---- Sub-records ---- */

void rec_013_tag(struct faults *v, struct event *e, int tag)
{
    (void)e;
    insert_raw(v, &(uint8_t){(uint8_t)tag}, 1, true);
}

enum { IN_VALUES, IN_HEAD, BEHIND_TAG, IN_FIELDS };

/* The cut-off part does not begin with a tag of a sub-record: 0, the first byte of an ID, the type of a field. */
void rec_014_cut(struct faults *v, struct event *e, int where)
{
    struct event cut = where == IN_FIELDS ? class_dump(v, fresh_id(v, CLASS), 0, "\012\012")
                                          : primitive_array(v, fresh_id(v, OBJECT), TYPE_LONG, 4);
    uint8_t bytes[ENCODED_MOST];
    size_t n = encode(v, &cut, bytes), had = where == BEHIND_TAG  ? 1
                                             : where == IN_HEAD   ? 1 + v->id_size
                                             : where == IN_FIELDS ? n - 1
                                                                  : n - 8;
    struct event open = event_of(EVENT_OPEN, TAG_HEAP_DUMP_SEGMENT, LAYOUT_ID_NONE);

    (void)e;
    insert_raw(v, bytes, had, true);
    insert_mark(v, EVENT_CLOSE, TAG_HEAP_DUMP_SEGMENT);
    insert(v, &open);
    insert_raw(v, bytes + had, n - had, false);
}

/* A count that leads beyond the end of the record. */
void rec_015_count(struct faults *v, struct event *e, int variant)
{
    struct event array = object_array(fresh_id(v, OBJECT), fresh_id(v, CLASS));

    (void)e;
    array.fields.OBJECT_ARRAY_DUMP.elements = variant == 0 ? INT32_MAX : UINT32_C(1) << (v->id_size == 8 ? 29 : 30);
    break_at(v, &array, 0);
    insert(v, &array);
}

/* The last sub-record of a record, truncated. */
void rec_015_cut(struct faults *v, struct event *e, int variant)
{
    struct event cut = variant == 0   ? root(SUB_ROOT_JNI_GLOBAL, fresh_id(v, OBJECT), 0, 0)
                       : variant == 1 ? root(SUB_ROOT_UNKNOWN, fresh_id(v, OBJECT), 0, 0)
                       : variant == 2 ? instance_dump(v, fresh_id(v, OBJECT), fresh_id(v, CLASS), 16)
                                      : class_dump(v, fresh_id(v, CLASS), 0, "\012\012");
    uint8_t bytes[ENCODED_MOST];
    size_t n = encode(v, &cut, bytes);

    (void)e;
    insert_raw(v, bytes, variant == 1 ? 1 : n - 3, true);
}

/* ---- gzip ---- */

void gzip_fault(struct faults *v, struct event *e, int variant)
{
    (void)v;
    (void)e;
    (void)variant;
}
