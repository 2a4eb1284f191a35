/* See way.h. Evidence is counted in bits, as in evidence.h. */
#include "engine/way.h"

#include <string.h>

#include "engine/evidence.h"
#include "format/header.h"
#include "format/tags.h"

enum {
    BITS_OF_CHAIN = 128, /* of a chain that goes on */
    BITS_TO_END = 32,    /* of a chain that leads to the end of the heap dump record, or of the dump, which is evidence too */
    BITS_OUT_OF_SIGHT = 64, /* of a chain that leads out of sight */
    BITS_OF_RECORDS = 96,   /* of a chain of records */
    BITS_RECORD = 36,       /* a tag and the right length */
    BITS_STRING = 12,       /* a tag and a length that a string may have */
    BITS_HEAP_END = 64,     /* a tag and a length of 0 */
    BITS_END_OF_DUMP = 32,  /* a record ends with the dump */
    TIME_BETWEEN = 1 << 27, /* microseconds between two records */
    STEPS_PER_BYTE = 32,    /* of all chains together; more only where bytes were made to cost time */
    STEPS_OF_ONE = 256,     /* of a chain, until it leads on */
    STEPS_MORE = 1 << 16    /* of a chain, until it breaks */
};

/* Of a heap dump record whose end is not believed. Chains of records within it are not sought: they would begin others like it, one
 * within the other, as deep as the sight is long. */
#define ANY_END (UINT64_MAX - 1)

/* The items that chains may still look at. */
struct tries {
    const struct search *search;
    int64_t left;
    int64_t spare; /* those of `left` that all searches of the dump share: they are the last */
};

/* What a search may look at that tries so many bytes: in any case enough for its chains to lead on, and `more` to see how far they
 * lead, while there are some left. */
static struct tries allow(const struct search *s, uint64_t bytes, uint64_t more)
{
    uint64_t left = !s->spent ? more : s->most > *s->spent ? s->most - *s->spent : 0, spare = more < left ? more : left;

    return (struct tries){s, (int64_t)(bytes * STEPS_PER_BYTE + s->past + STEPS_OF_ONE + spare), (int64_t)spare};
}

/* A search is done. */
static void settle(const struct tries *t)
{
    if (t->search->spent && t->left < t->spare)
        *t->search->spent += (uint64_t)(t->spare - (t->left > 0 ? t->left : 0));
}

/* ---- Chains ---- */

static bool is_root(uint8_t tag)
{
    return is_subrecord_tag(tag) && !is_object_tag(tag);
}

/* The size of the sub-record at an offset, as far as it lies before the end of its record and of the dump. Its fixed part is in
 * sight, which its size alone does not say of a root. */
enum step { STEP_BROKEN, STEP_UNSEEN, STEP_MEASURED };

static enum step step_over(struct tries *t, uint64_t at, uint64_t *size)
{
    const struct search *s = t->search;
    const struct sight *sight = s->sight;
    size_t n = sight->size - (size_t)at;
    struct measure m = {0};
    enum measured result;

    t->left--;
    result = measure_subrecord(sight->at + at, n < s->end - at ? n : (size_t)(s->end - at), sight->id_size, sight->version, &m);
    if (sight->at[at] == SUB_CLASS_DUMP) /* its entries are read */
        t->left -= (int64_t)((result == MEASURED ? m.size : result == MEASURE_TYPE ? m.bad_at : n) / 16);
    if (result == MEASURE_MORE || (result == MEASURED && m.size > n && is_root(sight->at[at])))
        return sight->ended || n >= s->end - at ? STEP_BROKEN : STEP_UNSEEN;
    if (result != MEASURED || m.size > s->end - at || (sight->ended && m.size > n))
        return STEP_BROKEN;
    *size = m.size;
    return STEP_MEASURED;
}

static bool records_lead_on(struct tries *t, uint64_t at);

/* Where sub-records, by their lengths alone, break off; UINT64_MAX if they do not in sight. */
static uint64_t end_of_chain(struct tries *t, uint64_t at)
{
    const struct search *s = t->search;
    uint64_t size;

    while (at < s->end && at < s->sight->size && t->left >= 0) {
        enum step step = step_over(t, at, &size);

        if (step == STEP_BROKEN)
            return at;
        if (step == STEP_UNSEEN)
            break;
        at += size;
    }
    return UINT64_MAX;
}

/* Whether what is at an offset is a CLASS_DUMP that is not plausible. This is cheap to know; to measure it is not. */
static bool is_no_class(const struct search *s, uint64_t at)
{
    const struct sight *sight = s->sight;
    uint64_t last = 0;

    return sight->at[at] == SUB_CLASS_DUMP && sight->size - at > SIZE_OF(CLASS_DUMP, sight->id_size) &&
           !bits_of_subrecord(s->file, sight->at + at, &last);
}

/* Whether a chain of sub-records leads on from an offset. */
static bool subrecords_lead_on(struct tries *t, uint64_t at, unsigned wanted)
{
    const struct search *s = t->search;
    const struct sight *sight = s->sight;
    uint64_t size, last = 0, start = at;
    unsigned bits = 0;
    bool is_past = !s->past; /* with a sub-record that begins there, not by chance with the last one before */

    while (bits < wanted || !is_past) {
        enum step step;
        unsigned more;

        if (s->is_doubt && s->past && at >= s->past && bits < wanted)
            return false;
        if (at == s->end || (at >= sight->size && sight->ended))
            return at > start && bits >= BITS_TO_END && s->past <= at;
        if (at >= sight->size)
            return bits >= BITS_OUT_OF_SIGHT && is_past;
        if (t->left < 0 || (bits < wanted && is_no_class(s, at)))
            return false;
        step = step_over(t, at, &size);
        if (step == STEP_UNSEEN)
            return bits >= BITS_OUT_OF_SIGHT && is_past;
        more = step == STEP_BROKEN ? 0 : bits < wanted ? bits_of_subrecord(s->file, sight->at + at, &last) : 1;
        if (!more) /* after sub-records whose record ends where it may, but not at the failure */
            return s->end == UINT64_MAX && bits >= BITS_TO_END && at + 1 != s->past && records_lead_on(t, at);
        bits += more;
        is_past |= at >= s->past;
        at += size;
    }
    return true;
}

bool is_time_after(uint32_t time, uint32_t before)
{
    return time == before || (before && time - before < TIME_BETWEEN);
}

static bool is_plausible_time(const struct search *s, uint32_t time)
{
    return !s->times || is_time_after(time, (*s->times)[0]) || is_time_after(time, (*s->times)[1]);
}

static bool is_time_before(const struct search *s, uint32_t time)
{
    return !s->times || time == (*s->times)[0] || time == (*s->times)[1];
}

bool may_be_text(const struct sight *body, size_t from, size_t until)
{
    until = until < body->size ? until : body->size;
    return until <= from || !memchr(body->at + from, 0, until - from);
}

/* How much the header of the record at an offset says for itself; 0 if it is none. */
static unsigned bits_of_record(struct tries *t, uint64_t at)
{
    const struct sight *sight = t->search->sight;
    const uint8_t *p = sight->at + at;
    struct sight body = *sight;
    struct search within = *t->search;
    struct tries tries = {&within, t->left, 0};
    uint64_t length, right, least;
    unsigned wanted = BITS_OF_RECORDS;
    uint32_t time;
    bool leads_on;

    if (sight->size - at < RECORD_HEADER_SIZE || !is_record_tag(*p) || (*p == TAG_HEAP_DUMP && t->search->in_series))
        return 0;
    time = get_u4(p + RECORD_TIME_AT);
    if (!is_plausible_time(t->search, time))
        return 0;
    length = get_u4(p + RECORD_LENGTH_AT);
    if (is_heap_dump_record(*p)) {
        within.end = at + RECORD_HEADER_SIZE + length;
        if (!length || (within.end > sight->size && sight->ended && !is_time_before(t->search, time)))
            return 0;
        if (within.end <= sight->size && !records_follow(sight, within.end, 1)) { /* it is damaged, too */
            within.end = ANY_END;
            wanted = BITS_OF_CHAIN;
        }
        within.past = 0;
        leads_on = at + RECORD_HEADER_SIZE < sight->size && subrecords_lead_on(&tries, at + RECORD_HEADER_SIZE, wanted);
        t->left = tries.left;
        return leads_on ? BITS_OF_RECORDS : 0;
    }
    body.at += at + RECORD_HEADER_SIZE;
    body.size -= (size_t)at + RECORD_HEADER_SIZE;
    right = right_length(*p, &body, &least);
    if (*p == TAG_UTF8)
        return length >= least && length < LONGEST_STRING && may_be_text(&body, (size_t)least, (size_t)length) ? BITS_STRING
                                                                                                               : 0;
    if (right != length)
        return 0;
    return *p == TAG_HEAP_DUMP_END ? BITS_HEAP_END : BITS_RECORD;
}

static bool records_lead_on(struct tries *t, uint64_t at)
{
    const struct sight *sight = t->search->sight;
    unsigned bits = 0;

    while (bits < BITS_OF_RECORDS || at < t->search->past) {
        unsigned more = 0;

        t->left--;
        if (at == sight->size && sight->ended)
            return bits && bits + BITS_END_OF_DUMP >= BITS_OF_RECORDS;
        if (at < sight->size && t->left >= 0)
            more = bits_of_record(t, at);
        if (!more)
            return at >= sight->size && !sight->ended && bits >= BITS_OUT_OF_SIGHT && at >= t->search->past;
        bits += more;
        if (bits < BITS_OF_RECORDS || at < t->search->past)
            at += RECORD_HEADER_SIZE + (uint64_t)get_u4(sight->at + at + RECORD_LENGTH_AT);
    }
    return true;
}

/* ---- The search ---- */

/* Whether the end of the heap dump record is out of sight, or that of the dump, or records lead on from it. */
static bool end_is_sure(struct tries *t, uint64_t end)
{
    const struct sight *s = t->search->sight;

    return end > s->size || (end == s->size && s->ended) || records_lead_on(t, end);
}

/* The end of the dump itself: a HEAP_DUMP_END, and nothing after it. */
static bool is_end_of_dump(const struct sight *s, uint64_t at)
{
    return s->ended && at + RECORD_HEADER_SIZE == s->size && s->at[at] == TAG_HEAP_DUMP_END;
}

/* An array may hold a dump, whose chains are perfect. They end within the heap dump record, where a record of that dump follows.
 * So they do where bytes before them are missing; then no records lead on from where the heap dump record should end. */
static bool is_payload(struct tries *t, uint64_t at, uint64_t *next)
{
    const struct search *s = t->search;
    struct search inner = *s;
    struct tries tries = {&inner, t->left, 0};
    uint64_t broken;
    bool is_payload;

    if (s->end == UINT64_MAX)
        return false;
    broken = end_of_chain(&tries, at);
    inner.end = UINT64_MAX;
    is_payload = broken != UINT64_MAX && broken > at && broken < s->sight->size && !is_end_of_dump(s->sight, broken) &&
                 records_lead_on(&tries, broken) && end_is_sure(&tries, s->end);
    t->left = tries.left;
    *next = broken;
    return is_payload;
}

/* Roots are much alike. In a row of them a chain of wrong ones may begin some bytes before the right one, but it does not lead as
 * far. And the last bytes before a chain may look like one root. */
static uint64_t best_start(struct tries *t, uint64_t at)
{
    const struct search *s = t->search;
    uint64_t best = at, after, size, broken;

    if (!is_root(s->sight->at[at]) || step_over(t, at, &size) != STEP_MEASURED)
        return at;
    after = at + size;
    if (after < s->sight->size && after < s->end && !is_root(s->sight->at[after]))
        return after;
    broken = end_of_chain(t, at);
    for (at++; at < after && broken != UINT64_MAX; at++) {
        uint64_t end = is_subrecord_tag(s->sight->at[at]) ? end_of_chain(t, at) : 0;

        if (end > broken && subrecords_lead_on(t, at, BITS_OF_CHAIN)) {
            best = at;
            broken = end;
        }
    }
    return best;
}

/* The header of another dump: two files were joined, and what follows is not of this one. */
static bool is_header(const struct sight *s, uint64_t at)
{
    return s->size - at >= HEADER_SIZE && is_header_magic(s->at + at);
}

/* A dump in an array, or what looks like one: */
enum passed {
    PASSED,     /* its records end before the end of the search */
    PASSED_ALL, /* they lead there, or out of sight */
    GOES_ON     /* the search ends between two of them: they are in no array */
};

/* Passes records, from one of them on, by their lengths. A dump in an array ends with its heap dump, or where the array does. */
static enum passed pass_dump(const struct search *search, uint64_t *at)
{
    const struct sight *s = search->sight;
    uint64_t end = search->end;
    uint8_t last = TAG_HEAP_DUMP_END;

    while (*at < end && *at + RECORD_HEADER_SIZE <= s->size && is_record_tag(s->at[*at])) {
        uint64_t size = RECORD_HEADER_SIZE + (uint64_t)get_u4(s->at + *at + RECORD_LENGTH_AT);

        if (size > end - *at)
            return PASSED;
        last = s->at[*at];
        *at += size;
    }
    if (*at == end)
        return end < s->size && is_beside_heap_dump(last) && is_beside_heap_dump(s->at[end]) ? GOES_ON : PASSED_ALL;
    return s->ended || *at + RECORD_HEADER_SIZE <= s->size ? PASSED : PASSED_ALL;
}

/* ---- The bytes that a search tries ---- */

/* The next byte with which a record, a sub-record or a header may begin. Most bytes of a dump are zeros, which begin nothing. */
static uint64_t next_start(const struct search *search, uint64_t at, uint64_t until, bool seeks_records)
{
    static const uint8_t zeros[16];
    const uint8_t *p = search->sight->at;

    if (search->next_begin)
        return search->next_begin(search->context, at, until);
    while (at < until) {
        if (until - at >= sizeof zeros && memcmp(p + at, zeros, sizeof zeros) == 0)
            at += sizeof zeros;
        else if (is_subrecord_tag(p[at]) || (seeks_records && is_record_tag(p[at])) || p[at] == *HEADER_MAGIC)
            return at;
        else
            at++;
    }
    return at;
}

static struct way look_for_way(struct tries *t, uint64_t from, uint64_t until)
{
    const struct search *search = t->search;
    bool seeks_records = search->end == UINT64_MAX;
    uint64_t next, at;

    if (search->in_dump && pass_dump(search, &from) != PASSED)
        return (struct way){WAY_NONE, from, true};
    for (at = from; t->left >= 0 && (at = next_start(search, at, until, seeks_records)) < until; at++) {
        uint8_t tag = search->sight->at[at];

        if (!seeks_records && tag == *HEADER_MAGIC && is_header(search->sight, at)) {
            const uint64_t header = at;
            enum passed passed;

            at += HEADER_SIZE;
            passed = pass_dump(search, &at);
            if (passed == GOES_ON || (search->leads_past && search->leads_past(search->context, header)))
                return (struct way){WAY_RECORD, header, false};
            if (passed == PASSED_ALL)
                return (struct way){WAY_NONE, at, true};
            at--;
            continue;
        }
        if (tag == *HEADER_MAGIC && is_header(search->sight, at))
            return (struct way){WAY_RECORD, at, false};
        if (seeks_records && is_record_tag(tag) && records_lead_on(t, at))
            return (struct way){WAY_RECORD, at, false};
        if (!is_subrecord_tag(tag) || !subrecords_lead_on(t, at, BITS_OF_CHAIN))
            continue;
        at = best_start(t, at);
        if (!is_payload(t, at, &next))
            return (struct way){WAY_SUBRECORD, at, false};
        at = next - 1;
    }
    return (struct way){WAY_NONE, at < until ? until : at, false};
}

struct way find_way(const struct search *search, uint64_t from, uint64_t until)
{
    struct tries t = allow(search, until - from, STEPS_MORE);
    struct way way = look_for_way(&t, from, until);

    settle(&t);
    return way;
}

uint64_t find_start(const struct search *search, uint64_t from, uint64_t until, uint64_t to)
{
    enum { BITS = 32 }; /* to lead exactly there is evidence, too */
    struct tries t = allow(search, until - from, STEPS_MORE);
    uint64_t found = 0;

    for (uint64_t first = from; first < until && !found && t.left >= 0; first++) {
        uint64_t at = first, size, last = 0;
        unsigned bits = 0, more = 1;

        while (at < to && t.left >= 0 && is_subrecord_tag(search->sight->at[at]) && more &&
               step_over(&t, at, &size) == STEP_MEASURED) {
            more = bits_of_subrecord(search->file, search->sight->at + at, &last);
            bits += more;
            at += size;
        }
        if (at == to && more && bits >= BITS)
            found = first;
    }
    settle(&t);
    return found;
}

bool subrecords_begin(const struct search *search, uint64_t until, uint64_t steps)
{
    struct tries t = {search, (int64_t)steps, 0};

    for (uint64_t at = 0; at < until && t.left >= 0; at++)
        if (is_subrecord_tag(search->sight->at[at]) && subrecords_lead_on(&t, at, BITS_OF_CHAIN))
            return true;
    return false;
}

bool records_begin(const struct search *search, uint64_t steps)
{
    struct tries t = {search, (int64_t)steps, 0};

    if (!search->sight->size || !records_lead_on(&t, 0))
        return false;
    return !is_subrecord_tag(*search->sight->at) || !subrecords_lead_on(&t, 0, BITS_OF_CHAIN);
}

uint64_t reach_of_subrecords(const struct search *search, uint64_t steps)
{
    struct tries t = allow(search, 0, steps);
    uint64_t reach = search->sight->size && subrecords_lead_on(&t, 0, BITS_OF_CHAIN) ? end_of_chain(&t, 0) : 0;

    settle(&t);
    return reach;
}
