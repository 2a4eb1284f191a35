/* See oracle_failure.h. Where checking resumes is not decided here: the oracle stops. */
#include "oracle_failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What recovery sees ------------------------------------------------------------------------------------------------ */

enum { SIGHT = 64 << 10, MOST_SUBRECORDS = 8, MOST_PARTS = 18, TIME_BETWEEN = 1 << 27 }; /* M.2 */

/* The bytes before `end`. */
struct sight {
    uint64_t end;
    bool ended; /* the dump ends there */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* From an offset on, 64 KiB after the `skipped` bytes, of which at most 64 KiB count. */
static struct sight sight_from(const struct dump *d, uint64_t at, uint64_t skipped)
{
    uint64_t wanted = SIGHT + smaller(skipped, SIGHT), left = d->size - at;
    return (struct sight){at + smaller(wanted, left), left < wanted};
}

static uint64_t length_of_record(const struct dump *d, uint64_t at)
{
    return u4(d, at + LENGTH_AT);
}

static uint64_t end_of_record(const struct dump *d, uint64_t at)
{
    return at + RECORD_HEADER_SIZE + length_of_record(d, at);
}

/* Whether the length of a long record is that of its count, as far as that is in sight. */
static bool may_be_long(const struct dump *d, const struct sight *s, uint64_t at)
{
    uint64_t tag = u1(d, at);
    if (tag == UTF8)
        return false;
    return at + RECORD_HEADER_SIZE + fixed_part(d, tag) > s->end || length_of_record(d, at) == right_length_of_record(d, at);
}

static bool record_follows(const struct dump *d, const struct sight *s, uint64_t at)
{
    enum { EMPTY_MOST = 64 };
    bool empty_heap_dump = true;
    for (int empty = 0; empty_heap_dump && empty < EMPTY_MOST && at < s->end; empty++) {
        if (s->end - at < RECORD_HEADER_SIZE)
            return !s->ended;
        uint64_t tag = u1(d, at), length = length_of_record(d, at), body_at = at + RECORD_HEADER_SIZE;
        if (!is_record_tag(tag) || !kind_allows_length(d, tag, length))
            return false;
        if (is_heap_dump_record(tag) && length && body_at < s->end && !is_subrecord_tag(u1(d, body_at)))
            return false;
        if (length > SIGHT && !is_heap_dump_record(tag) && !may_be_long(d, s, at))
            return false;
        empty_heap_dump = is_heap_dump_record(tag) && !length;
        at = body_at + length;
    }
    return at <= s->end || !s->ended;
}

static bool record_follows_here(const struct dump *d, uint64_t at)
{
    struct sight s = sight_from(d, at, 0);
    return record_follows(d, &s, at);
}

/* Whether sub-records follow at an offset up to the end of their record: `most` of them, or fewer if that or the sight ends. */
static bool subrecords_follow(const struct dump *d, const struct sight *s, uint64_t at, uint64_t record_end, int most)
{
    for (int seen = 0; at < record_end && seen < most; seen++) {
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

/* ---- Records ----------------------------------------------------------------------------------------------------------- */

/* Whether the length of the empty heap dump record was never filled in: a sub-record seems to follow it. */
static bool may_be_unfilled(const struct dump *d, const struct failure *f)
{
    if (!f->empty_at)
        return false;
    uint64_t body_at = f->empty_at + RECORD_HEADER_SIZE;
    struct sight s = sight_from(d, body_at, 0);
    return body_at < s.end && subrecords_follow(d, &s, body_at, s.ended ? s.end : UINT64_MAX, 1);
}

static struct oracle_finding unfilled(const struct failure *f)
{
    return (struct oracle_finding){"REC-011", f->empty_at + LENGTH_AT};
}

static struct oracle_finding wrong_framing(uint64_t record_at)
{
    return (struct oracle_finding){"REC-002", record_at + LENGTH_AT};
}

/* The record, or its header, goes on after the end of the dump. */
static struct oracle_finding truncated(const struct dump *d, const struct failure *f)
{
    if (may_be_unfilled(d, f))
        return unfilled(f);
    if (d->size - f->record_at < RECORD_HEADER_SIZE)
        return (struct oracle_finding){"REC-001", f->record_at};
    return wrong_framing(f->record_at);
}

/* An empty record of tag 0 that neither a record nor the end of the dump follows. */
static bool are_zeros(const struct dump *d, uint64_t at)
{
    uint64_t end = at + RECORD_HEADER_SIZE;
    return u1(d, at) == 0 && length_of_record(d, at) == 0 && end < d->size && !record_follows_here(d, end);
}

/* Records of unknown tag are skipped if their lengths lead to a record of known tag that ends within the dump, or to the end. */
static struct oracle_finding unknown_tag(const struct dump *d, const struct failure *f)
{
    uint64_t at = f->record_at, end = end_of_record(d, at);
    struct sight s = sight_from(d, at + RECORD_HEADER_SIZE, length_of_record(d, at));
    bool leads_on = end <= s.end && record_follows(d, &s, end);
    if (!leads_on && may_be_unfilled(d, f))
        return unfilled(f);
    if (are_zeros(d, at))
        return wrong_framing(at);
    while (end < d->size && d->size - end >= RECORD_HEADER_SIZE && !is_record_tag(u1(d, end))) {
        if (are_zeros(d, end))
            return wrong_framing(at);
        end = end_of_record(d, end);
    }
    if (end <= d->size && record_follows_here(d, end))
        return (struct oracle_finding){"REC-003", at};
    return wrong_framing(at);
}

static struct oracle_finding wrong_length(const struct dump *d, const struct failure *f)
{
    uint64_t at = f->record_at, body_at = at + RECORD_HEADER_SIZE, length = length_of_record(d, at), end = body_at + length;
    uint64_t right = right_length_of_record(d, at);
    struct oracle_finding wrong = {rule_on_length(u1(d, at)), at + LENGTH_AT};
    struct sight s = sight_from(d, body_at, right > length ? right : length);
    if ((end <= s.end && record_follows(d, &s, end)) || (right <= s.end - body_at && record_follows(d, &s, body_at + right)))
        return wrong;
    if (may_be_unfilled(d, f))
        return unfilled(f);
    return end > s.end && end <= d->size && record_follows_here(d, end) ? wrong : wrong_framing(at);
}

bool may_be_heap_dump(const struct dump *d, uint64_t at)
{
    for (; at < d->size && d->size - at > RECORD_HEADER_SIZE && !is_record_tag(u1(d, at)); at = end_of_record(d, at))
        if (is_subrecord_tag(u1(d, at + RECORD_HEADER_SIZE)))
            return true;
    return false;
}

bool is_of_no_version(const struct dump *d, uint64_t at, bool first_segment)
{
    uint64_t tag = u1(d, at), body_at = at + RECORD_HEADER_SIZE;
    if (d->segments_allowed || !first_segment || length_of_record(d, at) == 0)
        return false;
    return tag == HEAP_DUMP_END || (tag == HEAP_DUMP_SEGMENT && body_at < d->size && !is_subrecord_tag(u1(d, body_at)));
}

static struct oracle_finding finding_of_record(const struct dump *d, const struct failure *f)
{
    uint64_t at = f->record_at;
    if (d->size - at < RECORD_HEADER_SIZE)
        return truncated(d, f);
    if (!is_record_tag(u1(d, at)))
        return unknown_tag(d, f);
    if (is_of_no_version(d, at, f->first_segment))
        return end_of_record(d, at) > d->size ? truncated(d, f) : (struct oracle_finding){"REC-005", at};
    return has_right_length(d, at) ? truncated(d, f) : wrong_length(d, f);
}

/* ---- Sub-records ------------------------------------------------------------------------------------------------------- */

/* Whether the length of an instance is wrong: no sub-record follows it, but sub-records follow its size by class. */
static bool has_wrong_length(const struct dump *d, const struct doubtful_instance *instance, uint64_t record_end)
{
    uint64_t at = instance->at, by_class = instance->by_class;
    if (!at || by_class > SIGHT || by_class >= record_end - at)
        return false;
    uint64_t size = extent_of_subrecord(d, at, d->size).size;
    bool crosses = size > record_end - at;
    if (size > SIGHT && !crosses)
        return false;
    struct sight s = sight_from(d, at, crosses || size < by_class ? by_class : size);
    if (!crosses && (at + size > s.end || subrecords_follow(d, &s, at + size, record_end, 1)))
        return false;
    return at + by_class <= s.end && subrecords_follow(d, &s, at + by_class, record_end, MOST_SUBRECORDS);
}

/* Whether a chain of sub-records crosses the end of a segment that another segment follows; needs_complete: only after a complete
 * sub-record. */
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

/* Whether a segment, whose body begins at `at`, goes on with a sub-record of which `rest` bytes are missing. time_fits: that of its
 * header, or a segment before it has gone on with the sub-record. */
static bool goes_on(const struct dump *d, uint64_t at, uint64_t record_end, uint64_t rest, bool time_fits)
{
    struct sight s = sight_from(d, at, 0);
    if (subrecords_follow(d, &s, at, record_end, MOST_SUBRECORDS))
        return false;
    if (rest >= record_end - at || at + rest >= s.end)
        return time_fits;
    if (subrecords_follow(d, &s, at + rest, record_end, MOST_SUBRECORDS))
        return true;
    return !chain_crosses(d, &s, at, record_end, true) && chain_crosses(d, &s, at + rest, record_end, false);
}

static bool is_time_after(uint64_t time, uint64_t before)
{
    return time == before || (before && (uint32_t)(time - before) < TIME_BETWEEN);
}

static bool is_segment(const struct dump *d, uint64_t at)
{
    return at <= d->size && d->size - at >= RECORD_HEADER_SIZE && u1(d, at) == HEAP_DUMP_SEGMENT;
}

/* The size of a sub-record that the segments from `next` on go on with; 0 if its first parts do not tell it. */
static uint64_t joined_size(const struct dump *d, uint64_t at, uint64_t next)
{
    uint8_t *bytes = malloc((size_t)(d->size - at));
    if (!bytes) {
        fputs("oracle: out of memory\n", stderr);
        abort();
    }
    struct dump joined = *d;
    joined.bytes = bytes;
    joined.size = next - at;
    memcpy(bytes, d->bytes + at, (size_t)joined.size);
    for (int parts = 1; parts < MOST_PARTS && is_segment(d, next); next = end_of_record(d, next)) {
        uint64_t body_at = next + RECORD_HEADER_SIZE, there = smaller(length_of_record(d, next), d->size - body_at);
        memcpy(bytes + joined.size, d->bytes + body_at, (size_t)there);
        joined.size += there;
        parts += there != 0;
    }
    struct extent e = extent_of_subrecord(&joined, 0, joined.size);
    free(bytes);
    return e.kind == EXTENT_KNOWN ? e.size : 0;
}

/* Whether the segments after that at record_at go on with the sub-record at `at`. */
static bool segments_go_on(const struct dump *d, uint64_t at, uint64_t record_at)
{
    uint64_t next = end_of_record(d, record_at), size = joined_size(d, at, next);
    uint64_t first = next - at, had = first, time = u4(d, record_at + 1);
    for (; size && is_segment(d, next); next = end_of_record(d, next)) {
        uint64_t length = length_of_record(d, next), before = time;
        time = u4(d, next + 1);
        bool time_fits = had > first || is_time_after(time, before);
        if (length && !goes_on(d, next + RECORD_HEADER_SIZE, end_of_record(d, next), size - had, time_fits))
            return false;
        had += length;
        if (had >= size || end_of_record(d, next) > d->size)
            return true;
    }
    return false;
}

static struct oracle_finding finding_of_subrecord(const struct dump *d, const struct failure *f)
{
    uint64_t record_end = end_of_record(d, f->record_at), at = f->subrecord_at;
    if (has_wrong_length(d, &f->previous, record_end))
        return (struct oracle_finding){"OBJ-006", f->previous.bytes_at};
    if (has_wrong_length(d, &f->here, record_end))
        return (struct oracle_finding){"OBJ-006", f->here.bytes_at};
    if (record_end > d->size)
        return truncated(d, f);
    struct extent e = extent_of_subrecord(d, at, record_end);
    if (e.kind == EXTENT_BAD_TAG)
        return (struct oracle_finding){"REC-013", at};
    if (e.kind == EXTENT_BAD_TYPE)
        return (struct oracle_finding){e.rule, e.type_at};
    bool crosses_segments = u1(d, f->record_at) == HEAP_DUMP_SEGMENT && segments_go_on(d, at, f->record_at);
    return (struct oracle_finding){crosses_segments ? "REC-014" : "REC-015", at};
}

/* ---- The failure ------------------------------------------------------------------------------------------------------- */

struct oracle_finding finding_of_failure(const struct dump *d, const struct failure *f, uint64_t *fault_at)
{
    struct oracle_finding finding = f->subrecord_at ? finding_of_subrecord(d, f) : finding_of_record(d, f);
    *fault_at = f->subrecord_at ? f->subrecord_at : f->record_at;
    if (strcmp(finding.rule, "REC-011") == 0)
        *fault_at = f->empty_at;
    else if (strcmp(finding.rule, "OBJ-006") == 0 && finding.offset == f->previous.bytes_at)
        *fault_at = f->previous.at;
    return finding;
}
