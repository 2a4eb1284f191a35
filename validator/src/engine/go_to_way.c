/* See go_to_way.h. */
#include "engine/go_to_way.h"

#include "engine/evidence.h"

enum {
    STEPS = 256,       /* of the chains that begin here */
    STEPS_PER_BYTE = 2 /* of the dump so far and in sight: of chains, to see how far they lead */
};

struct sight look_far(struct engine *e)
{
    return sight_of(e, WAY_SIGHT);
}

/* Whether the record at an offset in sight ends the heap dump: whatever follows it may be no record. */
static bool is_heap_dump_end(const struct sight *s, uint64_t at)
{
    return s->size - at >= RECORD_HEADER_SIZE && s->at[at] == TAG_HEAP_DUMP_END && !get_u4(s->at + at + RECORD_LENGTH_AT);
}

bool end_is_credible(const struct sight *s, uint64_t end)
{
    return end <= s->size ? records_follow(s, end, 2) || is_heap_dump_end(s, end) : !s->ended;
}

struct search search_in(struct engine *e, const struct sight *s, uint64_t end)
{
    return (struct search){.sight = s,
                           .file = &e->file,
                           .end = end,
                           .times = e->framing.is_timed ? &e->framing.times : NULL,
                           .in_series = e->heap.open && e->file.version != V101,
                           .spent = &e->framing.steps_spent,
                           .most = STEPS_PER_BYTE * (e->in.offset + WAY_SIGHT)};
}

/* Where the heap dump record ends, from here on; UINT64_MAX if that is not credible. */
static uint64_t end_from_here(const struct engine *e, const struct sight *s, uint64_t record_end)
{
    uint64_t end = record_end - e->in.offset;

    if (input_can_go_anywhere(&e->in) && record_end > input_file_size(&e->in))
        return UINT64_MAX;
    return record_end != UINT64_MAX && record_end >= e->in.offset && end_is_credible(s, end) ? end : UINT64_MAX;
}

/* Whether the sub-record here, which ends out of sight, is whole: a record can hold it, and a chain begins where it ends. `end`
 * is that of the record, as in struct search. The input stays where it is. */
static bool ends_at_chain(struct engine *e, uint64_t end)
{
    struct sight s = look_far(e);
    uint64_t here = e->in.offset, last = 0;
    struct measure m;
    struct search search;
    bool is_whole;

    if (!input_can_go_anywhere(&e->in) || !s.size || !is_object_tag(*s.at) ||
        measure_subrecord(s.at, s.size, s.id_size, s.version, &m) != MEASURED || m.size <= s.size || m.size > UINT32_MAX ||
        m.size > end || !bits_of_subrecord(&e->file, s.at, &last))
        return false;
    if (m.size == end)
        return true;
    is_whole = go_to(e, here + m.size);
    s = look_far(e);
    search = search_in(e, &s, end == UINT64_MAX ? end : end - m.size);
    is_whole = is_whole && s.size && find_way(&search, 0, 1).kind != WAY_NONE;
    go_to(e, here);
    return is_whole;
}

/* Whether the heap dump record that begins here, in another one, ends beyond that, by the length of which reading came here. */
static bool record_crosses(struct engine *e, const struct sight *s, uint64_t end)
{
    struct search search = search_in(e, s, UINT64_MAX);

    return s->size >= RECORD_HEADER_SIZE && is_heap_dump_record(*s->at) &&
           RECORD_HEADER_SIZE + (uint64_t)get_u4(s->at + RECORD_LENGTH_AT) > end && records_begin(&search, STEPS);
}

/* A heap dump record in which the way is sought, in a file that is not compressed. */
struct bounds {
    struct engine *e;
    uint64_t here, end; /* of the sight, and of the record */
};

/* Whether the records from the header of a dump on lead past the end of the heap dump record, and go on there, if the file does:
 * two files were joined. A dump in an array ends with it. */
static bool leads_past(const void *context, uint64_t header)
{
    enum { BLOCK = 4096 };
    const struct bounds *b = context;
    const uint64_t size = input_file_size(&b->e->in);
    uint64_t at = b->here + header + HEADER_SIZE, first = at;
    uint8_t block[BLOCK], last = TAG_HEAP_DUMP_END;
    size_t n = 0;

    if (at >= b->end || !may_look_again(&b->e->framing.looked_again, at, b->end - at))
        return false;
    while (at < size) {
        const bool is_past = at > b->end;
        const uint8_t *p;
        uint64_t length;

        if (at + RECORD_HEADER_SIZE > first + n) {
            first = at;
            n = input_read_at(&b->e->in, first, block, sizeof block);
            if (n < RECORD_HEADER_SIZE)
                return false;
        }
        p = block + (at - first);
        length = get_u4(p + RECORD_LENGTH_AT);
        if (!is_record_tag(*p) || length > size - at - RECORD_HEADER_SIZE)
            return false;
        if (is_past || at == b->end)
            return is_past || (is_beside_heap_dump(last) && is_beside_heap_dump(*p));
        last = *p;
        at += RECORD_HEADER_SIZE + length;
    }
    return at > b->end;
}

enum way_kind go_to_way(struct engine *e, uint64_t *record_end, uint64_t until, uint64_t past)
{
    uint64_t first = e->in.offset;
    bool is_after = past == UINT64_MAX, in_dump = false;

    for (;;) {
        struct sight s = look_far(e);
        uint64_t here = e->in.offset, end = end_from_here(e, &s, *record_end), most;
        bool bounded = end != UINT64_MAX;
        struct search search = search_in(e, &s, end);
        const struct bounds bounds = {e, here, here + end};
        struct way way;

        if (bounded && input_can_go_anywhere(&e->in)) {
            search.leads_past = leads_past;
            search.context = &bounds;
        }
        if (!is_after && past >= here)
            search.past = past - here < s.size ? past - here + 1 : s.size;
        search.in_dump = in_dump && bounded;
        most = s.ended ? s.size : WAY_STEP;
        if (bounded && most > end)
            most = end;
        if (most > until - here)
            most = until - here;
        if (here == first && is_after && bounded && record_crosses(e, &s, end))
            way = (struct way){WAY_RECORD, 0, false};
        else
            way = find_way(&search, 0, most);
        /* The header of a dump is payload then. Nothing before a failure is whole that was read already. */
        if (way.kind != WAY_SUBRECORD && here == first && is_after && ends_at_chain(e, end))
            way = (struct way){WAY_SUBRECORD, 0, false};
        if (way.kind != WAY_NONE) {
            if (!bounded || way.kind == WAY_RECORD)
                *record_end = UINT64_MAX;
            go_to(e, here + way.at); /* the window may be another one since ends_at_chain() */
            return way.kind;
        }
        if (bounded && way.at >= end) {
            /* With a record of a dump in an array, which is why it seemed credible. */
            if (is_after && way.in_dump && way.at == end && go_to(e, first) && ends_at_chain(e, UINT64_MAX)) {
                *record_end = UINT64_MAX;
                return WAY_SUBRECORD;
            }
            go_to(e, *record_end);
            return WAY_RECORD;
        }
        if (s.ended || way.at >= until - here || e->run.memory.exhausted)
            return WAY_NONE;
        in_dump = way.in_dump;
        input_skip(&e->in, way.at);
    }
}

bool go_to(struct engine *e, uint64_t offset)
{
    if (offset <= e->in.offset)
        return input_go_back(&e->in, offset);
    input_skip(&e->in, offset - e->in.offset);
    return e->in.offset == offset;
}

bool may_look_again(uint64_t *looked, uint64_t offset, uint64_t bytes)
{
    enum { TIMES = 8 };

    if (*looked + bytes > TIMES * (offset + WAY_SIGHT))
        return false;
    *looked += bytes;
    return true;
}

bool records_begin_here(struct engine *e)
{
    struct sight s = sight_beyond(e, 0);
    struct search search = search_in(e, &s, UINT64_MAX);

    return records_begin(&search, STEPS);
}

bool subrecords_begin_here(struct engine *e)
{
    struct sight s = look_far(e);
    struct search search = search_in(e, &s, UINT64_MAX);

    return s.size && subrecords_begin(&search, 1, STEPS);
}
