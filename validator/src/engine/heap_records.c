/* The sub-records of one heap dump record (SPEC.md 6.1). */
#include <inttypes.h>
#include <string.h>

#include "engine/go_to_way.h"
#include "engine/trail.h"

/* ---- Faults of the framing ---- */

/* A failure in a heap dump record whose end is not known to lie in the dump. */
static void note_overlong(struct engine *e, const struct position *p, enum rule rule, uint64_t finding)
{
    struct framing *f = &e->framing;
    unsigned kept = 0;

    if (p->heap_end == UINT64_MAX)
        return;
    for (unsigned i = 0; i < f->overlong_count; i++)
        if (f->overlong[i].end > e->in.offset)
            f->overlong[kept++] = f->overlong[i];
    f->overlong_count = kept;
    if (kept < OVERLONG_MOST && (!kept || p->heap_end > f->overlong[kept - 1].end))
        f->overlong[f->overlong_count++] = (struct overlong){
            .record_at = p->record_at, .end = p->heap_end, .unfilled = f->unfilled.number ? f->unfilled.at : 0, .position = *p};
    for (unsigned i = 0; i < f->overlong_count; i++)
        if (f->overlong[i].record_at == p->record_at) {
            f->overlong[i].rule = rule;
            f->overlong[i].finding = finding;
        }
}

/* SPEC.md 6.1, 6.3.3, 6.3.4, 6.7: a sub-record that cannot be there. */
static void report_malformed(struct engine *e, enum frame why, uint64_t at, unsigned bad, const struct walk_item *item)
{
    enum rule rule = item->tag == SUB_PRIMITIVE_ARRAY_DUMP ? RULE_OBJ_008
                     : item->in_constant_pool              ? RULE_CLS_014
                                                           : RULE_CLS_015;

    if (why == FRAME_TAG)
        report(&e->ck, RULE_REC_013, at, "the tag of a sub-record", "0x%02x", item->tag);
    else
        report(&e->ck, rule, at + item->bad_at, rule == RULE_OBJ_008 ? "4 to 11" : "2 or 4 to 11", "%u", bad);
}

/* The heap dump record whose end was not known ends here: what its length has too many or too few is noted. */
static void note_length(struct engine *e)
{
    if (e->position.record_length)
        note_gap(e, e->position.record_at, stated_heap_end(&e->position));
}

/* Where the record of the sub-records that are being read may go on after its end, two records in a row end it. */
static bool ends_here(struct engine *e)
{
    uint64_t at = e->in.offset;

    if (e->position.heap_end != UINT64_MAX || !records_follow_here(e, 2))
        return false;
    note_length(e);
    e->position.heap_end = at;
    jumps_note(&e->file.jumps, at, at, at, true);
    return true;
}

/* Checking resumes where recovery finds the way. False if the dump ends before. */
static bool pass_malformed(struct engine *e, enum frame why, const struct walk_item *item)
{
    uint64_t at = e->in.offset, record_at = e->position.record_at, end = e->position.heap_end;
    bool is_first = at == record_at + RECORD_HEADER_SIZE;
    unsigned bad = why == FRAME_TYPE ? e->in.at[item->bad_at] : 0;
    uint8_t first[HEAD_SIZE];
    size_t n = look_at(&e->in, HEAD_SIZE, end - at);

    if (ends_here(e))
        return true;
    memcpy(first, e->in.at, n);
    look_for_zeros(e, why == FRAME_TYPE ? zeros_may_begin(e, item->tag, item->bad_at) : 0);
    if (!records_follow_here(e, 2))
        e->framing.failed_at = at;
    end_sound_part(&e->run, at);
    if (item->tag == TAG_HEAP_DUMP_END)
        lose_heap_end(e);
    e->position.sub = first;
    e->position.sub_size = n;
    report_malformed(e, why, at, bad, item);
    e->position.sub = NULL;
    note_overlong(e, &e->position, why == FRAME_TAG ? RULE_REC_013 : RULE_COUNT, at);
    lose_after_malformed(e);
    if (!resume_in_record(e, at, end, true)) {
        skip_to_end(e, at);
        return false;
    }
    if (is_first && !e->resume.in_heap) { /* no sub-record is well-formed, so its tag may be wrong */
        lose_definitions(e, MAY_DEFINE_ALL);
        if (e->heap.begin == record_at) {
            e->heap.open = false;
            lose_heap_dump(e);
        }
    }
    if (e->resume.in_heap ? e->position.heap_end != end : e->in.offset != end)
        lose_all(e);
    return true;
}

/* ---- The sub-records of one heap dump record ---- */

/* Whether a chain of sub-records begins at an offset within the sub-record here, and leads past its end. */
static bool goes_on_within(struct engine *e, uint64_t size, uint64_t from)
{
    uint64_t end = e->position.heap_end;

    return from < size && way_within(e, size, false, from, from + 1, &end) == from;
}

/* The instance in the window does not have the size of its class, and what follows shows that its length is wrong: nothing can
 * follow its declared size, or other sub-records begin at the size of its class and lead past the declared one. */
static bool resume_after_instance(struct engine *e, uint64_t declared, uint64_t left)
{
    uint64_t by_class = size_by_class(&e->ck, e->in.at);
    struct sight s;

    if (!by_class || by_class > e->run.sizes.sight)
        return false;
    s = sight_beyond(e, declared <= left && declared > by_class ? declared : by_class);
    if (!resume_by_class(&s, declared, by_class, left)) {
        if (!leads_on(&s, declared, left) || !goes_on_within(e, declared, by_class))
            return false;
        if (jobs_begin_again(e))
            return true;
    }
    if (!begin_unit(e, by_class))
        return true;
    end_sound_part(&e->run, e->in.offset);
    jumps_note(&e->file.jumps, e->in.offset, e->in.offset + by_class, e->position.heap_end, false);
    check_wrong_instance(&e->ck);
    input_advance(&e->in, (size_t)by_class);
    mark(e, true); /* lengths do not lead here */
    e->run.sum.subrecord_counts[SUB_INSTANCE_DUMP]++;
    return true;
}

/* The instance here is longer than its class says, or, where that is not known yet, than real ones are; and other sub-records begin
 * within it: so its length is wrong. */
static bool is_overlong_instance(struct engine *e, uint64_t size)
{
    enum { SEARCHED = 1 << 16 }; /* the right size is small */
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, e->file.id_size);
    uint64_t at = e->in.offset, end = e->position.heap_end, right = size_by_class(&e->ck, e->in.at), way;
    uint8_t first[HEAD_SIZE];

    if (!right && !knows_class_of(&e->ck, e->in.at))
        right = head + WAITING_MOST;
    if (!right || size <= right || has_size_of_class(e) /* where two others agree, the class is wrong */)
        return false;
    memcpy(first, e->in.at, head);
    way = way_within(e, size, true, 1, size < SEARCHED ? size : SEARCHED, &end);
    if (!way)
        return false;
    if (jobs_begin_again(e))
        return true;
    if (!resume_after_copy(e, way))
        resume_within(e, way, end);
    e->framing.failed_at = at;
    end_sound_part(&e->run, at);
    e->position.sub = first;
    e->position.sub_size = head;
    report(&e->ck, RULE_OBJ_006, at + head - sizeof(uint32_t), "fewer: other sub-records begin within them", "%" PRIu32,
           get_u4(first + head - sizeof(uint32_t)));
    e->position.sub = NULL;
    return true;
}

/* Whether an element of the object array here, of `size` bytes, may be no ID, as far as they are searched. */
static bool has_doubtful_element(struct engine *e, uint64_t size)
{
    const unsigned id = e->file.id_size;
    size_t seen = look_at(&e->in, size < WAY_STEP ? (size_t)size : WAY_STEP, UINT64_MAX);

    for (size_t at = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id); at + id <= seen; at += id)
        if (is_doubtful_element(e->in.at + at, id))
            return true;
    return false;
}

/* The object array here takes the sub-records after it for its elements: so their number is wrong. It ends where the first of these
 * begins, unless bytes are missing within it. */
static bool is_overlong_array(struct engine *e, uint64_t size, uint64_t left)
{
    const unsigned id = e->file.id_size;
    size_t head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id);
    uint64_t at = e->in.offset, end = e->position.heap_end, way;
    struct sight s;

    if (size > left || !has_doubtful_element(e, size))
        return false;
    s = look_far(e);
    way = way_within(e, size, leads_on(&s, size, left), head, size < WAY_STEP ? size : WAY_STEP, &end);
    if (!way)
        return false;
    if (jobs_begin_again(e) || !begin_unit(e, way))
        return true;
    e->position.sub = e->in.at;
    e->position.sub_size = head;
    end_sound_part(&e->run, at);
    report(&e->ck, RULE_REC_015, at, "a sub-record that ends where the next one begins",
           "one that takes other sub-records for some of its %" PRIu32 " elements",
           get_u4(e->in.at + 1 + OFFSET_OF(OBJECT_ARRAY_DUMP, elements, id)));
    e->position.sub = NULL;
    if (resume_after_copy(e, way)) {
        e->framing.failed_at = at;
    } else if ((way - head) % id == 0 && end != UINT64_MAX) {
        jumps_note(&e->file.jumps, at, at + way, end, false);
        check_subrecord(&e->ck, way);
        mark(e, true); /* lengths do not lead here */
    } else {
        e->framing.failed_at = at;
        resume_within(e, way, end);
    }
    return true;
}

/* The dump ends within the present sub-record. */
static bool ends_within(struct engine *e)
{
    e->framing.within_subrecord = true;
    return false;
}

/* The bytes of the dump from here on, as far as that can be known; else UINT64_MAX. */
static uint64_t bytes_left(struct engine *e)
{
    size_t seen = look_at(&e->in, WAY_SIGHT, UINT64_MAX);

    if (seen < WAY_SIGHT)
        return seen;
    return e->in.compressed || !input_file_size(&e->in) ? UINT64_MAX : input_file_size(&e->in) - e->in.offset;
}

/* The sub-record here, of `size` bytes, goes on after the end of the dump. True if its size is wrong: others begin within it. */
static bool is_too_long(struct engine *e, uint64_t size)
{
    uint64_t at = e->in.offset, end = e->position.heap_end, there;
    struct position before = e->position;

    if (size <= (uint64_t)(e->in.end - e->in.at) || size <= (there = bytes_left(e)) || end - at <= there)
        return false;
    if (!resume_in_record(e, at, end, false)) { /* what is here leads past the end of the dump: it is truncated */
        if (go_to(e, at))
            input_need(&e->in, 1);
        return false;
    }
    e->framing.failed_at = at;
    e->heap.wrong.held = false;
    note_overlong(e, &before, RULE_COUNT, at);
    end_sound_part(&e->run, at);
    lose_all(e);
    return true;
}

/* Checks a sub-record. False if the dump ends within it. */
static bool check_right(struct engine *e, const struct walk_item *item)
{
    uint64_t id = object_here(e, item->tag);

    mark_phantom(e, item->size);
    if (check_subrecord(&e->ck, item->size))
        return true;
    lose_object(e, id);
    return ends_within(e);
}

/* Checks one sub-record of any size, or decides what to do where that cannot be. False if the dump ends within it. */
static bool check_or_recover(struct engine *e)
{
    uint64_t left = e->position.heap_end - e->in.offset;
    struct walk_item item;
    enum frame frame = next_subrecord(&e->in, left, e->file.id_size, e->file.version, &item);

    if (!begin_unit(e, item.size ? item.size : left))
        return false;
    if (item.size && item.tag == SUB_INSTANCE_DUMP && resume_after_instance(e, item.size, left))
        return true;
    if (item.size && item.tag == SUB_OBJECT_ARRAY_DUMP && is_overlong_array(e, item.size, left))
        return true;
    if ((item.size || frame == FRAME_TRUNCATED) && is_too_long(e, item.size ? item.size : UINT64_MAX))
        return true;
    if (frame == FRAME_RIGHT && item.tag == SUB_INSTANCE_DUMP && is_overlong_instance(e, item.size))
        return true;
    switch (frame) {
    case FRAME_RIGHT:
        return check_right(e, &item);
    case FRAME_UNSEEN: /* next_subrecord() sees enough */
    case FRAME_TRUNCATED:
        return ends_here(e) || ends_within(e);
    case FRAME_CROSSES:
        return crossing_subrecord(e);
    case FRAME_TAG:
    case FRAME_TYPE:
        break;
    }
    e->heap.wrong.held = false;
    return pass_malformed(e, frame, &item);
}

/* Checks the plain sub-records at the start of the window, of which n bytes belong to the heap dump record, in the fast
 * loop. */
static void check_plain(struct engine *e, size_t n)
{
    size_t walked;

    e->heap.segment.counts = (struct object_counts){0};
    e->heap.segment.instances_before = e->run.sum.subrecord_counts[SUB_INSTANCE_DUMP];
    e->heap.segment.epoch = heap_epoch(&e->heap, &e->file.classes);
    walked = check_plain_objects(&e->heap.segment, e->in.at, n, e->in.offset);
    add_counts(&e->ck, &e->heap.segment.counts);
    if (walked)
        report_wrong_instance(&e->ck);
    input_advance(&e->in, walked);
    show_progress(e);
}

/* Where the end of the heap dump record is not known: what is here has a tag that records have, too. */
static bool may_be_record_or_root(struct engine *e)
{
    return e->position.heap_end == UINT64_MAX && input_need(&e->in, 1) && is_record_tag(*e->in.at);
}

bool check_subrecords(struct engine *e)
{
    enum { BETWEEN_MARKS = 64 << 10 }; /* a stream can go back to the latest ones */
    _Static_assert(LATEST * BETWEEN_MARKS <= INPUT_HISTORY, "to as many as are looked for");
    uint64_t begin = e->in.offset; /* at least one sub-record is read, so that there is progress */

    while (!e->framing.stopped && !e->resume.pending && e->in.offset < e->position.heap_end) {
        uint64_t limit = next_checkpoint(e), end = e->position.heap_end < limit ? e->position.heap_end : limit;
        size_t n = (size_t)(e->in.end - e->in.at);

        mark(e, false);
        if (jobs_take_over(e))
            continue;
        if (end > jobs_border(e))
            end = jobs_border(e);
        if (e->in.offset >= e->heap.stretches.due)
            enter_stretch(&e->heap, stretches_begin(&e->heap.stretches, e->in.offset, e->position.heap_end));
        if (end > e->heap.stretches.due)
            end = e->heap.stretches.due;
        if (n > BETWEEN_MARKS)
            n = BETWEEN_MARKS;
        check_plain(e, n < end - e->in.offset ? n : (size_t)(end - e->in.offset));
        if (e->in.offset == e->position.heap_end)
            break;
        if (e->in.offset == jobs_border(e))
            continue;
        mark(e, false);
        if (!input_need(&e->in, 1) && e->position.heap_end == UINT64_MAX && !end_was_reported(e)) {
            note_length(e);
            break;
        }
        if (e->in.offset > begin && may_be_record_or_root(e) && records_begin_here(e) && ends_here(e))
            break;
        if (!input_need(&e->in, 1) || e->run.memory.exhausted || e->framing.stopped || !check_or_recover(e))
            return e->resume.pending;
    }
    report_wrong_instance(&e->ck);
    return true;
}

bool check_heap_record(struct engine *e, uint64_t length)
{
    e->position.heap_end = e->in.offset + length;
    if (e->cut.active && !pass_crossing_part(e, length))
        return false;
    mark(e, true);
    return check_subrecords(e);
}
