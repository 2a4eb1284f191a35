/* After a failure: moves to where reading goes on (way.h), and notes the jump, so that all who read the dump again do the same. */
#include <string.h>

#include "engine/trail.h"
#include "reread/replay.h"

enum { FIRST_SUBRECORDS = 64 /* the first ones may have an ID of 0, with which no chain begins */ };

bool holds_subrecords(struct engine *e)
{
    uint64_t length = e->position.record_length;
    size_t wanted = length < WAY_SIGHT ? (size_t)length : WAY_SIGHT, size = look_at(&e->in, wanted, UINT64_MAX);
    struct sight s = {e->in.at, size < wanted ? size : wanted, size < wanted, e->file.id_size, e->file.version};
    struct search search = search_in(e, &s, length);

    return s.size && is_subrecord_tag(*s.at) &&
           subrecords_begin(&search, s.size < FIRST_SUBRECORDS ? s.size : FIRST_SUBRECORDS, length);
}

/* Reading goes on here, after the bytes from an offset on. */
static void resume_here(struct engine *e, uint64_t from, enum way_kind kind, uint64_t record_end)
{
    uint64_t here = e->in.offset, heap_end = kind == WAY_RECORD ? here : here < record_end ? record_end : UINT64_MAX;

    look_for_doubled(e);
    jumps_note(&e->file.jumps, from, here, heap_end, true);
    e->run.sum.skipped += here - from;
    e->resume.in_heap = kind == WAY_SUBRECORD;
    e->resume.pending = true;
    e->records.count = 0; /* those before the jump do not lead here */
    e->framing.recovering_at = 0;

    /* What led to later zeros was wrong, and is left out. */
    if (e->framing.zeros_at >= here)
        e->framing.zeros_at = 0;
    e->position.heap_end = heap_end;
    end_waiting_range(&e->heap);
}

/* Sub-records that belong to no record by lengths belong to the last heap dump record. Where no heap dump is open, the header of
 * theirs was lost: they begin one. */
static void return_to_heap_record(struct engine *e)
{
    if (!e->heap.begun) {
        e->position = (struct position){.record_tag = e->file.version == V101 ? TAG_HEAP_DUMP : TAG_HEAP_DUMP_SEGMENT,
                                        .record_at = e->in.offset};
        jobs_pass_heap_dump(e);
        begin_heap_dump(e);
        e->heap.open = e->file.version != V101; /* segments may follow */
        return;
    }
    e->position.record_tag = e->framing.last_heap.record_tag;
    e->position.record_at = e->framing.last_heap.record_at;
    e->position.record_number = e->framing.last_heap.record_number;
    e->position.record_length = e->framing.last_heap.record_length;
}

/* What was noted of sub-records from an offset on does not hold. */
static void forget_from(struct engine *e, uint64_t from)
{
    struct stretches *stretches = &e->heap.stretches;
    size_t count = stretches->list.count;

    while (count && stretches_at(stretches, count - 1)->at > from)
        count--;
    if (count == stretches->list.count)
        return;
    chunks_shrink(&stretches->list, count);
    stretches->due = from;
}

/* What was read from an offset up to the failure does not count. The input is anywhere. */
static void discard_records(struct engine *e, uint64_t first, uint64_t failed_at)
{
    struct replay r = {.in = &e->in,
                       .jumps = &e->file.jumps,
                       .id_size = e->file.id_size,
                       .version = e->file.version,
                       .next_jump = jumps_find(&e->file.jumps, first)};
    struct replay_item item;

    if (!go_to(e, first))
        return;
    while (e->in.offset < failed_at && replay_next(&r, &item)) {
        bool is_whole = item.frame == FRAME_RIGHT && item.offset + item.size <= failed_at;

        if (is_whole && (item.kind == REPLAY_RECORD || item.kind == REPLAY_HEAP))
            e->run.sum.record_counts[item.head.tag]--;
        if (is_whole && item.kind == REPLAY_SUBRECORD)
            discard_subrecord(e, item.head.tag);
        if (!item.size) /* it crosses the end of its heap dump record, and nothing continued it */
            item.size = r.heap_end - item.offset;
        if (!replay_pass(&r, &item))
            return;
    }
}

/* The records from an offset up to the failure are left out after all: what they defined, those before another offset define. A
 * heap dump that begins with one of them has not begun. The input stays where it is. */
static void leave_out_records(struct engine *e, uint64_t first, uint64_t failed_at, uint64_t until)
{
    uint64_t here = e->in.offset;

    read_records_again(e, until);
    if (leave_out_items(e, first, failed_at, until))
        return;
    discard_records(e, first, failed_at);
    if (e->heap.begun && e->heap.begin >= first)
        heap_drop(&e->ck);
    go_to(e, here);
}

uint64_t first_doubted(const struct engine *e, uint64_t at)
{
    const struct framing *f = &e->framing;

    return f->doubted.count     ? f->doubted.from
           : f->last_definition ? f->last_definition
           : f->unknown.count   ? f->unknown.from
                                : at;
}

/* Reading failed where a record should be. Those before it may be none if one of them had an unknown tag, and the last one may be
 * too long, or lack bytes: looks whether a chain begins in them, and leads past the failure. *from becomes where they begin. */
static enum way_kind go_back_to_records(struct engine *e, uint64_t failed_at, uint64_t *from)
{
    struct framing *f = &e->framing;
    struct unproven doubted = f->doubted;
    uint64_t first = first_doubted(e, failed_at), end = UINT64_MAX;
    enum way_kind kind;

    if (first >= failed_at || failed_at <= f->frontier || !input_can_go_back(&e->in, first) || !go_to(e, first))
        return WAY_NONE;
    f->frontier = failed_at;
    f->doubted.count = 0; /* they are tried once */
    if (doubted.count)
        memcpy(f->times, doubted.times, sizeof f->times);
    f->is_timed = doubted.is_timed;
    kind = go_to_way(e, &end, failed_at, failed_at);
    if (kind == WAY_NONE || e->in.offset >= failed_at)
        return WAY_NONE;
    leave_out_records(e, first, failed_at, failed_at);
    if (doubted.count)
        e->run.sum.skipped = doubted.skipped_before;
    *from = first;
    return kind;
}

/* Reading failed after a heap dump record that ends with roots that cannot be there: looks whether right ones begin among them. */
static enum way_kind go_back_to_roots(struct engine *e, uint64_t failed_at, uint64_t *from)
{
    uint64_t end = UINT64_MAX;
    enum way_kind kind;

    if (e->phantoms.end != failed_at)
        return WAY_NONE;
    kind = go_back_to_way(e, failed_at, &end, from);
    if (kind != WAY_NONE)
        forget_from(e, *from);
    return kind;
}

/* If reading failed in bytes that are there twice, what follows them: the input is where the second copy is passed; *from becomes
 * the first record that is left out with it. A sub-record may have failed that crosses the beginning of the copy. */
static enum way_kind pass_doubled_records(struct engine *e, uint64_t failed_at, uint64_t *from)
{
    uint64_t end = UINT64_MAX;
    struct doubled d;

    if (!find_doubled(e, failed_at, &d))
        return WAY_NONE;
    *from = last_mark(&e->records, failed_at, d.other ? d.other : d.last);
    if (d.other) {
        if (*from <= d.other && go_to(e, d.other)) {
            leave_out_records(e, *from, failed_at, failed_at);
            return WAY_RECORD;
        }
        e->framing.second_header = d.other;
        *from = failed_at;
        return WAY_NONE;
    }
    if (pass_doubled(e, &d, *from, WAY_RECORD, &end)) {
        leave_out_records(e, *from, failed_at, d.last + d.size);
        return WAY_RECORD;
    }
    *from = failed_at;
    return pass_doubled(e, &d, failed_at, WAY_SUBRECORD, &end) ? WAY_SUBRECORD : WAY_NONE;
}

/* The first sub-record of the present record is malformed, and its end is out of sight. If its time does not fit either, plain
 * reading may have reached what is no record, and its end says nothing. */
static bool is_record_doubtful(struct engine *e, uint64_t from, uint64_t record_end)
{
    return from == e->position.record_at + RECORD_HEADER_SIZE && record_end - from > WAY_SIGHT && e->framing.is_timed &&
           !is_time_after(e->framing.time, e->framing.times[0]);
}

bool resume_in_record(struct engine *e, uint64_t from, uint64_t record_end, bool may_be_here)
{
    struct position before = e->position;
    uint64_t failed_at = from, end = is_record_doubtful(e, from, record_end) ? UINT64_MAX : record_end;
    enum way_kind kind;

    e->framing.recovering_at = from;
    kind = e->framing.doubted.count ? go_back_to_records(e, failed_at, &from) : WAY_NONE;
    if (kind != WAY_NONE) /* the present heap dump record may be none */
        end = UINT64_MAX;
    else
        kind = pass_doubled_subrecords(e, failed_at, failed_at, &end, &from);
    if (kind == WAY_NONE && go_to(e, failed_at))
        kind = go_back_to_way(e, failed_at, &end, &from);
    if (kind == WAY_NONE && go_to(e, failed_at))
        kind = go_on_to_way(e, failed_at, &end, &from);
    if (e->framing.stopped) /* the heap dump begins again */
        return true;
    if (kind == WAY_NONE || (!may_be_here && kind == WAY_SUBRECORD && from == failed_at && e->in.offset == failed_at))
        return false;
    forget_from(e, from);
    note_left_out(e, from, stated_heap_end(&before));
    if (kind == WAY_RECORD && record_end != UINT64_MAX)
        note_gap(e, before.record_at, record_end);
    if (kind == WAY_SUBRECORD) {
        e->position = before;
        if (!e->heap.begun)
            return_to_heap_record(e);
    }
    resume_here(e, from, kind, end);
    return true;
}

uint64_t way_within(struct engine *e, uint64_t size, bool is_doubt, uint64_t from, uint64_t until, uint64_t *record_end)
{
    uint64_t here = e->in.offset;
    struct sight s = look_far(e);
    struct search search;
    struct way way;

    if (*record_end != UINT64_MAX && !end_is_credible(&s, *record_end - here))
        *record_end = UINT64_MAX;
    if (from >= s.size || (s.ended && size > s.size)) /* the dump ends within it */
        return 0;
    search = search_in(e, &s, *record_end == UINT64_MAX ? UINT64_MAX : *record_end - here);
    search.past = size < s.size && !(is_doubt && size > until) ? size : 0; /* further damage may lie in what is long */
    if (!may_look_again(&e->framing.looked_again, e->in.offset, search.past > until ? search.past : until))
        return 0;
    search.is_doubt = is_doubt;
    way = find_way(&search, from, until < s.size ? until : s.size);
    return way.kind == WAY_SUBRECORD ? way.at : 0;
}

/* Goes on from here, where a sub-record failed. Of the rest of its record nothing is known if that has no end. */
static void resume_after_part(struct engine *e, uint64_t from, uint64_t record_end)
{
    resume_here(e, from, WAY_SUBRECORD, record_end);
    if (record_end == UINT64_MAX)
        lose_all(e);
    else
        lose_part(e);
}

bool resume_after_copy(struct engine *e, uint64_t way)
{
    uint64_t here = e->in.offset, from = here, end = e->position.heap_end;
    bool is_passed = pass_doubled_subrecords(e, here + way, here, &end, &from) == WAY_SUBRECORD;

    if (is_passed)
        resume_after_part(e, from, end);
    else if (go_to(e, here))
        look_at(&e->in, (size_t)way + HEAD_SIZE, UINT64_MAX); /* as before */
    return is_passed;
}

void resume_within(struct engine *e, uint64_t way, uint64_t record_end)
{
    uint64_t here = e->in.offset;

    input_advance(&e->in, (size_t)way);
    resume_after_part(e, here, record_end);
}

/* What was read since a checkpoint does not count, but for what it defined. */
static void forget_since(struct engine *e, const struct checkpoint *to)
{
    struct headers headers = e->framing.headers;
    uint64_t frontier = e->framing.frontier, sought_until = e->framing.sought_until, looked_until = e->framing.looked_until,
             looked_again = e->framing.looked_again, steps_spent = e->framing.steps_spent;

    findings_roll_back(&e->run.findings, &to->findings);
    restore(e, to);
    e->framing.frontier = frontier; /* time stays linear */
    e->framing.sought_until = sought_until;
    e->framing.looked_until = looked_until;
    e->framing.headers = headers;
    e->framing.looked_again = looked_again;
    e->framing.steps_spent = steps_spent;
    forget_checkpoints(e, to);
}

bool resume_unfilled(struct engine *e, uint64_t failed_at)
{
    uint64_t at = e->framing.unfilled.at, body = at + RECORD_HEADER_SIZE, back = e->in.offset, end = UINT64_MAX;

    /* With a heap dump record after the empty one there are sub-records that were checked. */
    if (!e->unfilled || !e->heap.begun || e->framing.last_heap.record_at != at || failed_at <= body ||
        !input_can_go_back(&e->in, body) || !go_to(e, body))
        return false;
    if (go_to_way(e, &end, failed_at, failed_at) != WAY_SUBRECORD || e->in.offset >= failed_at) {
        go_to(e, back);
        return false;
    }
    forget_since(e, e->unfilled);
    lose_all(e);
    return_to_heap_record(e);
    resume_here(e, body, WAY_SUBRECORD, UINT64_MAX);
    return true;
}

bool resume_anywhere(struct engine *e, uint64_t from)
{
    enum way_kind kind;
    uint64_t end = UINT64_MAX, failed_at = from;
    bool is_after_end;

    if (e->run.memory.exhausted || e->in.error)
        return false;
    e->framing.recovering_at = from;
    lose_definitions(e, MAY_DEFINE_ALL);
    kind = pass_doubled_records(e, failed_at, &from);
    is_after_end = kind == WAY_NONE && failed_at == e->framing.complete_until;
    e->framing.appended |= is_after_end;
    /* What follows is another dump, or the rest of one: its objects are of another heap dump. */
    if (is_after_end || (kind == WAY_NONE && e->framing.second_header))
        return false;
    e->framing.second_header = 0;
    if (kind == WAY_NONE)
        kind = go_to(e, failed_at) ? go_back_to_records(e, failed_at, &from) : WAY_NONE;
    if (kind == WAY_NONE && go_to(e, failed_at))
        kind = go_back_to_roots(e, failed_at, &from);
    if (kind == WAY_NONE && go_to(e, failed_at))
        kind = go_to_way(e, &end, UINT64_MAX, UINT64_MAX);
    if (kind == WAY_NONE)
        return false;
    if (e->framing.stopped) /* the heap dump begins again */
        return true;
    if (kind == WAY_RECORD) {
        look_for_skipped_zeros(e, from);
        if (heap_dump_has_ended(e))
            settle_heap_dump(e);
    }
    findings_end(&e->run.findings);
    if (kind == WAY_SUBRECORD)
        return_to_heap_record(e);
    lose_all(e);
    resume_here(e, from, kind, UINT64_MAX);
    return true;
}
