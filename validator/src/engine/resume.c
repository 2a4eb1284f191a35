/* After a failure: moves to where reading goes on (way.h), and notes the jump, so that all who read the dump again do the same. */
#include "engine/engine.h"
#include "engine/way.h"

enum { WAY_STEP = WAY_SIGHT / 2 };

static struct sight look_far(struct engine *e)
{
    size_t size = look_at(&e->in, WAY_SIGHT, UINT64_MAX);

    return (struct sight){e->in.at, size, size < WAY_SIGHT, e->file.id_size, e->file.version};
}

/* Whether the heap dump record seems to end where its length says, as far as that is in sight. */
static bool end_is_credible(const struct sight *s, uint64_t end)
{
    return end <= s->size ? records_follow(s, end, 2) : !s->ended;
}

/* Sub-records and records that lead on, where nothing more is known of what is sought. */
static struct search search_in(struct engine *e, const struct sight *s, uint64_t end)
{
    return (struct search){.sight = s, .file = &e->file, .end = end, .times = &e->framing.times};
}

/* Looks from here on, and moves to the way. *record_end is that of the heap dump record, or UINT64_MAX; it becomes UINT64_MAX
 * where it is not credible. `until` is where the search ends; a chain must lead past `past`. */
static enum way_kind go_to_way(struct engine *e, uint64_t *record_end, uint64_t until, uint64_t past)
{
    bool in_dump = false;

    for (;;) {
        uint64_t here = e->in.offset, end = *record_end - here, most;
        struct sight s = look_far(e);
        bool bounded = *record_end != UINT64_MAX && *record_end >= here && end_is_credible(&s, end);
        struct search search = search_in(e, &s, bounded ? end : UINT64_MAX);
        struct way way;

        if (past != UINT64_MAX && past >= here)
            search.past = past - here + 1;
        search.in_dump = in_dump && bounded;
        most = s.ended ? s.size : WAY_STEP;
        if (bounded && most > end)
            most = end;
        if (most > until - here)
            most = until - here;
        way = find_way(&search, 0, most);
        if (way.kind != WAY_NONE) {
            if (!bounded)
                *record_end = UINT64_MAX;
            input_advance(&e->in, (size_t)way.at);
            return way.kind;
        }
        if (bounded && way.at >= end) {
            input_skip(&e->in, end);
            return WAY_RECORD;
        }
        if (s.ended || way.at >= until - here || e->run.memory.exhausted)
            return WAY_NONE;
        in_dump = way.in_dump;
        input_skip(&e->in, way.at);
    }
}

/* The first ones may have an ID of 0, with which no chain begins. */
enum { FIRST_SUBRECORDS = 64 };

bool holds_subrecords(struct engine *e)
{
    uint64_t length = e->position.record_length;
    size_t wanted = length < WAY_SIGHT ? (size_t)length : WAY_SIGHT, size = look_at(&e->in, wanted, UINT64_MAX);
    struct sight s = {e->in.at, size < wanted ? size : wanted, size < wanted, e->file.id_size, e->file.version};
    struct search search = search_in(e, &s, length);

    return s.size && is_subrecord_tag(*s.at) &&
           subrecords_begin(&search, s.size < FIRST_SUBRECORDS ? s.size : FIRST_SUBRECORDS, length);
}

bool records_begin_here(struct engine *e)
{
    enum { STEPS = 256 }; /* at each root */
    struct sight s = sight_beyond(e, 0);
    struct search search = search_in(e, &s, UINT64_MAX);

    return records_begin(&search, STEPS);
}

/* Reading goes on here, after the bytes from an offset on. */
static void resume_here(struct engine *e, uint64_t from, enum way_kind kind, uint64_t record_end)
{
    uint64_t here = e->in.offset, heap_end = kind == WAY_RECORD ? here : here < record_end ? record_end : UINT64_MAX;

    jumps_note(&e->file.jumps, from, here, heap_end, true);
    e->run.sum.skipped += here - from;
    e->resume.in_heap = kind == WAY_SUBRECORD;
    e->resume.pending = true;
    e->position.heap_end = heap_end;
    end_waiting_range(&e->heap);
}

/* Whether sub-records that are found belong to a heap dump. */
static bool is_in_heap(const struct engine *e)
{
    return e->heap.open || e->heap.is_pending;
}

/* Sub-records that belong to no record by lengths belong to the last heap dump record. Where no heap dump is open, the header of
 * theirs was lost: they begin one. */
static void return_to_heap_record(struct engine *e)
{
    if (!is_in_heap(e)) {
        e->position = (struct position){.record_tag = e->file.version == V101 ? TAG_HEAP_DUMP : TAG_HEAP_DUMP_SEGMENT,
                                        .record_at = e->in.offset};
        jobs_pass_heap_dump(e);
        begin_heap_dump(e);
        e->heap.open = e->file.version != V101; /* segments may follow */
        return;
    }
    e->position.record_tag = e->last_heap.record_tag;
    e->position.record_at = e->last_heap.record_at;
    e->position.record_number = e->last_heap.record_number;
    e->position.record_length = e->last_heap.record_length;
}

/* ---- What was read before the failure ---- */

void mark(struct engine *e, bool first)
{
    struct marks *marks = &e->marks;

    if (first)
        marks->count = 0;
    if (!marks->count || marks->at[(marks->count - 1) % MARKS] != e->in.offset)
        marks->at[marks->count++ % MARKS] = e->in.offset;
}

/* The last sub-records before a failure. The size of an array is not known otherwise, nor where a sub-record of unknown class
 * ends. */
struct trail {
    uint64_t at[MARKS]; /* a ring */
    uint8_t tag[MARKS];
    unsigned count;
    unsigned doubtful; /* from this one on: the one before it is an instance of the size of its class */
};

static bool has_size_of_class(struct engine *e)
{
    const unsigned id = e->file.id_size;
    struct cursor c = {e->in.at + 1, e->in.at + 1 + SIZE_OF(INSTANCE_DUMP, id)};
    struct INSTANCE_DUMP r;
    const struct layout *l;

    if (*e->in.at != SUB_INSTANCE_DUMP || !read_INSTANCE_DUMP(&c, id, &r))
        return false;
    l = classes_valid_layout(&e->file.classes, r.class_id);
    return l && l->total == r.bytes;
}

/* Reads the sub-records before an offset again. The input is there afterwards, if all went well. */
static bool follow_trail(struct engine *e, uint64_t failed_at, struct trail *trail)
{
    const struct marks *marks = &e->marks;
    unsigned first = marks->count > MARKS ? marks->count - MARKS : 0;

    *trail = (struct trail){0};
    while (first < marks->count && !input_can_go_back(&e->in, marks->at[first % MARKS]))
        first++;
    if (first == marks->count || !input_go_back(&e->in, marks->at[first % MARKS]))
        return false;
    while (e->in.offset < failed_at) {
        struct walk_item item;

        if (!input_need(&e->in, 1) ||
            next_subrecord(&e->in, failed_at - e->in.offset, e->file.id_size, e->file.version, &item) != FRAME_RIGHT)
            return false;
        trail->at[trail->count % MARKS] = e->in.offset;
        trail->tag[trail->count++ % MARKS] = item.tag;
        if (has_size_of_class(e))
            trail->doubtful = trail->count;
        input_skip(&e->in, item.size);
    }
    if (trail->count - trail->doubtful > MARKS)
        trail->doubtful = trail->count - MARKS;
    return true;
}

/* The last sub-record that was read is left out after all. */
static void take_back(struct engine *e, uint8_t tag)
{
    uint64_t *count = &e->run.sum.subrecord_counts[tag];
    struct waiting_run *run = &e->heap.segment.waiting;

    if (tag == SUB_INSTANCE_DUMP && run->instances && run->next == *count) {
        run->instances--;
        run->next--;
    }
    if (tag == SUB_OBJECT_ARRAY_DUMP)
        lose_array(e);
    *count -= *count > 0;
}

/* Goes to an offset before or after the present one. */
static bool go_to(struct engine *e, uint64_t offset)
{
    if (offset <= e->in.offset)
        return input_go_back(&e->in, offset);
    input_skip(&e->in, offset - e->in.offset);
    return e->in.offset == offset;
}

/* Where the sub-records from here on break off. */
static uint64_t reach(struct engine *e, uint64_t record_end)
{
    struct sight s = look_far(e);
    uint64_t here = e->in.offset;
    struct search search = search_in(e, &s, record_end == UINT64_MAX ? record_end : record_end - here);
    uint64_t found = reach_of_subrecords(&search, WAY_SIGHT);

    return found == UINT64_MAX ? found : here + found;
}

/* Whether a chain that begins directly after the failure leads further than the one here, which begins before the failure. */
static bool is_outreached(struct engine *e, uint64_t failed_at, uint64_t record_end)
{
    enum { DIRECTLY = 64 }; /* bytes: a sub-record without its elements and values */
    uint64_t here = e->in.offset, reached = reach(e, record_end), end = record_end;
    bool is_outreached;

    if (reached == UINT64_MAX || !go_to(e, failed_at))
        return false;
    is_outreached = go_to_way(e, &end, failed_at + DIRECTLY, UINT64_MAX) == WAY_SUBRECORD && reach(e, end) > reached;
    return is_outreached || !go_to(e, here);
}

/* Whether a sub-record before the failure was too long: others begin within it, and lead past the failure. Then the input is at the
 * first of them, and *from is the one that was too long. */
static enum way_kind go_back_to_way(struct engine *e, uint64_t failed_at, uint64_t *record_end, uint64_t *from)
{
    struct trail trail;
    enum way_kind kind;

    if (failed_at <= e->framing.frontier || !follow_trail(e, failed_at, &trail) || trail.doubtful == trail.count)
        return WAY_NONE;
    e->framing.frontier = failed_at;
    if (!input_go_back(&e->in, trail.at[trail.doubtful % MARKS]))
        return WAY_NONE;
    kind = go_to_way(e, record_end, failed_at, failed_at);
    if (kind == WAY_SUBRECORD && is_outreached(e, failed_at, *record_end))
        return WAY_NONE;
    for (unsigned i = trail.doubtful; kind != WAY_NONE && i < trail.count; i++)
        if (trail.at[i % MARKS] <= e->in.offset)
            *from = trail.at[i % MARKS];
    if (kind != WAY_NONE)
        findings_expect_again(&e->run.findings, *from, failed_at + HEAD_SIZE);
    if (kind != WAY_NONE && jobs_begin_again(e))
        return kind;
    for (unsigned i = trail.count; kind != WAY_NONE && i > trail.doubtful && trail.at[(i - 1) % MARKS] >= *from; i--)
        take_back(e, trail.tag[(i - 1) % MARKS]);
    return kind;
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

bool resume_in_record(struct engine *e, uint64_t from, uint64_t record_end, bool may_be_here)
{
    struct position before = e->position;
    uint64_t failed_at = from, end = record_end;
    enum way_kind kind = go_back_to_way(e, failed_at, &end, &from);

    if (kind == WAY_NONE && go_to(e, failed_at))
        kind = go_to_way(e, &end, UINT64_MAX, UINT64_MAX);
    if (kind == WAY_NONE || (!may_be_here && kind == WAY_SUBRECORD && from == failed_at && e->in.offset == failed_at))
        return false;
    forget_from(e, from);
    if (kind == WAY_RECORD && record_end != UINT64_MAX)
        note_gap(e, before.record_at, record_end);
    resume_here(e, from, kind, end);
    if (e->resume.in_heap) {
        before.heap_end = e->position.heap_end;
        e->position = before;
    }
    return true;
}

/* Where, from an offset on and before another, a chain of sub-records begins within the sub-record here and leads past its end;
 * 0 if there is none, or if this sub-record begins within one that was searched: so time is linear. *record_end becomes
 * UINT64_MAX where it is not credible. Where it is in doubt whether this sub-record is too long at all, the chain must be sure
 * before its end. */
static uint64_t way_within(struct engine *e, uint64_t size, bool is_doubt, uint64_t from, uint64_t until, uint64_t *record_end)
{
    uint64_t here = e->in.offset;
    struct sight s;
    struct search search;
    struct way way;

    if (here < e->framing.doubted_until)
        return 0;
    e->framing.doubted_until = here + size;
    s = look_far(e);
    if (*record_end != UINT64_MAX && !end_is_credible(&s, *record_end - here))
        *record_end = UINT64_MAX;
    if (from >= s.size || (s.ended && size > s.size)) /* the dump ends within it */
        return 0;
    search = search_in(e, &s, *record_end == UINT64_MAX ? UINT64_MAX : *record_end - here);
    search.past = size < s.size ? size : 0;
    search.is_doubt = is_doubt;
    way = find_way(&search, from, until < s.size ? until : s.size);
    return way.kind == WAY_SUBRECORD ? way.at : 0;
}

bool resume_within(struct engine *e, uint64_t size)
{
    enum { SEARCHED = 1 << 16 }; /* the right size is small */
    uint64_t here = e->in.offset, end = e->position.heap_end,
             way = way_within(e, size, true, 1, size < SEARCHED ? size : SEARCHED, &end);

    if (!way)
        return false;
    if (jobs_begin_again(e))
        return true;
    input_advance(&e->in, (size_t)way);
    resume_here(e, here, WAY_SUBRECORD, end);
    if (end == UINT64_MAX)
        lose_all(e);
    return true;
}

bool goes_on_within(struct engine *e, uint64_t size, uint64_t from)
{
    uint64_t end = e->position.heap_end;

    return from < size && way_within(e, size, false, from, from + 1, &end) == from;
}

/* What was read since a checkpoint does not count, but for what it defined. */
static void forget_since(struct engine *e, const struct checkpoint *to)
{
    uint64_t frontier = e->framing.frontier;

    findings_roll_back(&e->run.findings, &to->findings);
    restore(e, to);
    e->framing.frontier = frontier; /* time stays linear */
    forget_checkpoints(e, to);
}

bool resume_unfilled(struct engine *e, uint64_t failed_at)
{
    uint64_t at = e->framing.unfilled.at, body = at + RECORD_HEADER_SIZE, back = e->in.offset, end = UINT64_MAX;

    /* With a heap dump record after the empty one there are sub-records that were checked. */
    if (!e->unfilled || !is_in_heap(e) || e->last_heap.record_at != at || failed_at <= body ||
        !input_can_go_back(&e->in, body) || !go_to(e, body))
        return false;
    if (go_to_way(e, &end, failed_at, failed_at) != WAY_SUBRECORD) {
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
    enum way_kind kind = WAY_NONE;
    uint64_t last = e->framing.last_record, end = UINT64_MAX;

    if (e->framing.second_header || e->run.memory.exhausted || e->in.error)
        return false;
    if (e->framing.last_is_string && last < from && from > e->framing.frontier && input_can_go_back(&e->in, last) &&
        go_to(e, last)) {
        e->framing.frontier = from;
        kind = go_to_way(e, &end, from, from); /* the string may be too long */
        if (kind != WAY_NONE) {
            findings_expect_again(&e->run.findings, last, from + HEAD_SIZE);
            from = last;
        }
    }
    if (kind == WAY_NONE && !go_to(e, from))
        return false;
    if (kind == WAY_NONE)
        kind = go_to_way(e, &end, UINT64_MAX, UINT64_MAX);
    if (kind == WAY_NONE)
        return false;
    if (kind == WAY_RECORD)
        settle_heap_dump(e);
    findings_end(&e->run.findings);
    if (kind == WAY_SUBRECORD)
        return_to_heap_record(e);
    lose_all(e);
    resume_here(e, from, kind, UINT64_MAX);
    return true;
}
