/* See oracle_failure.h. Recovery itself is not here, only what decides about the finding: whether records or sub-records follow
 * at an offset. */
#include "oracle_failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What recovery sees ------------------------------------------------------------------------------------------------ */

enum { SIGHT = 64 << 10 };

/* The bytes before `end`. */
struct sight {
    uint64_t end;
    bool ended; /* the dump ends there */
};

/* From an offset on, 64 KiB after what may be skipped there; of that it sees as much at most. */
static struct sight see_from(const struct dump *d, uint64_t at, uint64_t skipped)
{
    uint64_t wanted = SIGHT + (skipped < SIGHT ? skipped : SIGHT), left = d->size - at;
    return (struct sight){at + (wanted < left ? wanted : left), left < wanted};
}

static uint64_t length_of_record(const struct dump *d, uint64_t at)
{
    return u4(d, at + LENGTH_AT);
}

/* Whether a record follows at an offset. */
static bool record_follows(const struct dump *d, const struct sight *s, uint64_t at)
{
    bool empty_heap_dump = true;
    while (empty_heap_dump && at < s->end) {
        if (s->end - at < RECORD_HEADER_SIZE)
            return !s->ended;
        uint64_t tag = u1(d, at), length = length_of_record(d, at), body_at = at + RECORD_HEADER_SIZE;
        if (!is_record_tag(tag) || !kind_allows_length(d, tag, length))
            return false;
        if (is_heap_dump_record(tag) && length && body_at < s->end && !is_subrecord_tag(u1(d, body_at)))
            return false;
        empty_heap_dump = is_heap_dump_record(tag) && !length;
        at = body_at + length;
    }
    return at <= s->end || !s->ended;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether sub-records follow at an offset, up to the end of their record. */
static bool subrecords_follow(const struct dump *d, const struct sight *s, uint64_t at, uint64_t record_end)
{
    if (at > s->end)
        return !s->ended;
    for (int seen = 0; at < record_end && seen < 8; seen++) {
        struct extent e = extent_of_subrecord(d, at, smaller(s->end, record_end));
        if (e.kind == EXTENT_UNKNOWN)
            return s->end < record_end;
        if (e.kind != EXTENT_KNOWN || e.size > record_end - at)
            return false;
        at += e.size;
        if (at >= s->end)
            return true;
    }
    return true;
}

/* Whether one sub-record, or the end of its record, follows at an offset in sight. */
static bool subrecord_follows(const struct dump *d, const struct sight *s, uint64_t at, uint64_t record_end)
{
    struct extent e = extent_of_subrecord(d, at, smaller(s->end, record_end));
    if (at == record_end)
        return true;
    if (e.kind == EXTENT_UNKNOWN)
        return s->end < record_end;
    return e.kind == EXTENT_KNOWN && e.size <= record_end - at;
}

/* ---- Records ----------------------------------------------------------------------------------------------------------- */

static struct oracle_finding wrong_framing(uint64_t record_at)
{
    return (struct oracle_finding){"REC-002", record_at + LENGTH_AT};
}

/* Whether it may be the length of the empty heap dump record which is wrong, since it was never filled in. */
static bool may_be_unfilled(const struct dump *d, const struct failure *f)
{
    uint64_t body_at = f->empty_at + RECORD_HEADER_SIZE;
    struct sight s = see_from(d, body_at, 0);
    return f->empty_at && body_at < s.end && subrecord_follows(d, &s, body_at, s.ended ? s.end : UINT64_MAX);
}

static struct oracle_finding unfilled(const struct failure *f)
{
    return (struct oracle_finding){"REC-011", f->empty_at + LENGTH_AT};
}

static struct oracle_finding unfilled_or(const struct dump *d, const struct failure *f, struct oracle_finding otherwise)
{
    return may_be_unfilled(d, f) ? unfilled(f) : otherwise;
}

/* Records of unknown tag are skipped if they lead to one of known tag, which a record follows in turn, or to the end. */
static struct oracle_finding unknown_tag(const struct dump *d, const struct failure *f)
{
    struct oracle_finding lost = wrong_framing(f->record_at), skipped = {"REC-003", f->record_at};
    uint64_t at = f->record_at;
    for (;;) {
        uint64_t body_at = at + RECORD_HEADER_SIZE, length = length_of_record(d, at), end = body_at + length;
        struct sight beyond = see_from(d, body_at, length);
        bool leads_on = end <= beyond.end && record_follows(d, &beyond, end);
        if (at == f->record_at && !leads_on && may_be_unfilled(d, f))
            return unfilled(f);
        if (end == d->size)
            return skipped;
        if (end > d->size || d->size - end < RECORD_HEADER_SIZE)
            return lost;
        if (is_record_tag(u1(d, end))) {
            struct sight s = see_from(d, end, 0);
            return record_follows(d, &s, end) ? skipped : lost;
        }
        at = end;
    }
}

static struct oracle_finding wrong_length(const struct dump *d, const struct failure *f)
{
    uint64_t at = f->record_at, body_at = at + RECORD_HEADER_SIZE, length = length_of_record(d, at);
    uint64_t right = right_length_of_record(d, at), end = body_at + length;
    struct oracle_finding wrong = {rule_on_length(u1(d, at)), at + LENGTH_AT};
    struct sight s = see_from(d, body_at, right > length ? right : length);
    if ((end <= s.end && record_follows(d, &s, end)) || (right <= s.end - body_at && record_follows(d, &s, body_at + right)))
        return wrong;
    if (may_be_unfilled(d, f))
        return unfilled(f);
    if (end > s.end && end <= d->size) {
        s = see_from(d, end, 0);
        return record_follows(d, &s, end) ? wrong : wrong_framing(at);
    }
    return wrong_framing(at);
}

bool is_of_no_version(const struct dump *d, uint64_t at, bool first_segment)
{
    uint64_t tag = u1(d, at), body_at = at + RECORD_HEADER_SIZE;
    if (d->segments_allowed || !first_segment || length_of_record(d, at) == 0)
        return false;
    return tag == HEAP_DUMP_END || (tag == HEAP_DUMP_SEGMENT && body_at < d->size && !is_subrecord_tag(u1(d, body_at)));
}

/* ---- Sub-records ------------------------------------------------------------------------------------------------------- */

/* Whether it is the length of an instance that is wrong: nothing can follow it, but sub-records follow its size by class. */
static bool is_to_blame(const struct dump *d, const struct doubtful_instance *instance, uint64_t record_end)
{
    uint64_t at = instance->at, by_class = instance->by_class;
    if (!at || by_class > SIGHT || by_class >= record_end - at)
        return false;
    uint64_t size = extent_of_subrecord(d, at, d->size).size;
    bool crosses = size > record_end - at;
    if (size > SIGHT && !crosses)
        return false;
    struct sight s = see_from(d, at, crosses || size < by_class ? by_class : size);
    if (!crosses && (at + size > s.end || subrecord_follows(d, &s, at + size, record_end)))
        return false;
    return at + by_class <= s.end && subrecords_follow(d, &s, at + by_class, record_end);
}

/* Whether a chain of sub-records, at least one of them complete if that is asked for, crosses the end of a segment that another
 * segment follows. */
static bool chain_crosses(const struct dump *d, const struct sight *s, uint64_t at, uint64_t record_end, bool needs_complete)
{
    if (record_end < s->end ? u1(d, record_end) != HEAP_DUMP_SEGMENT : s->ended)
        return false;
    while (at < record_end && at < s->end) {
        struct extent e = extent_of_subrecord(d, at, smaller(s->end, record_end));
        if (e.kind == EXTENT_BAD_TAG || e.kind == EXTENT_BAD_TYPE)
            return false;
        if (e.kind == EXTENT_UNKNOWN || e.size > record_end - at)
            return !needs_complete;
        at += e.size;
        needs_complete = false;
    }
    return false;
}

/* Whether the segment of which the body begins at `at` goes on with a sub-record of which `rest` bytes are missing. */
static bool goes_on(const struct dump *d, uint64_t at, uint64_t record_end, uint64_t rest)
{
    struct sight s = see_from(d, at, 0);
    if (subrecords_follow(d, &s, at, record_end))
        return false;
    if (rest >= record_end - at || at + rest >= s.end || subrecords_follow(d, &s, at + rest, record_end))
        return true;
    return !chain_crosses(d, &s, at, record_end, true) && chain_crosses(d, &s, at + rest, record_end, false);
}

/* A sub-record of which some parts are at hand, one after the other. */
struct joined {
    uint8_t *bytes;
    uint64_t size;
};

static void join(struct joined *j, const uint8_t *bytes, uint64_t size)
{
    j->bytes = realloc(j->bytes, (size_t)(j->size + size));
    if (!j->bytes) {
        fputs("oracle: out of memory\n", stderr);
        abort();
    }
    memcpy(j->bytes + j->size, bytes, (size_t)size);
    j->size += size;
}

/* Whether segments from `at` on go on with a sub-record that crosses the end of the segment before them. The parts are joined until
 * they tell its size. */
static bool segments_go_on(const struct dump *d, struct joined *part, uint64_t at)
{
    enum { PARTS_MEASURED = 16 };
    uint64_t size = 0, had = part->size;
    for (int parts = 1; d->size - at >= RECORD_HEADER_SIZE && u1(d, at) == HEAP_DUMP_SEGMENT;) {
        uint64_t body_at = at + RECORD_HEADER_SIZE, length = length_of_record(d, at), end = body_at + length;
        at = end;
        if (length == 0)
            continue;
        if (!size) {
            join(part, d->bytes + body_at, smaller(length, d->size - body_at));
            struct dump joined = *d;
            joined.bytes = part->bytes;
            joined.size = part->size;
            struct extent e = extent_of_subrecord(&joined, 0, joined.size);
            if (e.kind == EXTENT_KNOWN && e.size > had)
                size = e.size;
            else if (e.kind != EXTENT_UNKNOWN || end > d->size || parts > PARTS_MEASURED)
                return false;
        }
        uint64_t rest = size ? size - had : length; /* all of the segment if the size is not known yet */
        if (!goes_on(d, body_at, end, rest))
            return false;
        if (size && (rest <= length || end > d->size))
            return true;
        had += length;
        parts++;
    }
    return false;
}

/* A sub-record crosses the end of its record. */
static struct oracle_finding crossing(const struct dump *d, const struct failure *f, uint64_t record_end)
{
    struct joined part = {0};
    join(&part, d->bytes + f->subrecord_at, record_end - f->subrecord_at);
    bool is_joined = u1(d, f->record_at) == HEAP_DUMP_SEGMENT && segments_go_on(d, &part, record_end);
    free(part.bytes);
    return (struct oracle_finding){is_joined ? "REC-014" : "REC-015", f->subrecord_at};
}

static struct oracle_finding no_subrecord(const struct dump *d, const struct failure *f)
{
    uint64_t record_end = f->record_at + RECORD_HEADER_SIZE + length_of_record(d, f->record_at), at = f->subrecord_at;
    uint64_t length_at = 1 + 2 * d->id_size + 4; /* of an instance */
    if (is_to_blame(d, &f->before, record_end))
        return (struct oracle_finding){"OBJ-006", f->before.at + length_at};
    if (is_to_blame(d, &f->here, record_end))
        return (struct oracle_finding){"OBJ-006", f->here.at + length_at};
    if (record_end > d->size)
        return unfilled_or(d, f, wrong_framing(f->record_at));
    struct extent e = extent_of_subrecord(d, at, record_end);
    if (e.kind == EXTENT_BAD_TAG)
        return (struct oracle_finding){"REC-013", at};
    if (e.kind == EXTENT_BAD_TYPE)
        return (struct oracle_finding){e.rule, e.type_at};
    return crossing(d, f, record_end);
}

/* ---- The failure ------------------------------------------------------------------------------------------------------- */

struct oracle_finding finding_of_failure(const struct dump *d, const struct failure *f)
{
    uint64_t at = f->record_at, left = d->size - at;
    if (f->subrecord_at)
        return no_subrecord(d, f);
    if (left < RECORD_HEADER_SIZE)
        return unfilled_or(d, f, (struct oracle_finding){"REC-001", at});
    uint64_t length = length_of_record(d, at);
    bool is_truncated = length > left - RECORD_HEADER_SIZE;
    if (!is_record_tag(u1(d, at)))
        return unknown_tag(d, f);
    if (is_of_no_version(d, at, f->first_segment))
        return is_truncated ? unfilled_or(d, f, wrong_framing(at)) : (struct oracle_finding){"REC-005", at};
    uint64_t right = right_length_of_record(d, at);
    if (right == UINT64_MAX ? !kind_allows_length(d, u1(d, at), length) || u1(d, at) != UTF8 : right != length)
        return wrong_length(d, f);
    return unfilled_or(d, f, wrong_framing(at)); /* truncated */
}
