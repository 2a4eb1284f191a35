/* What may be a record: by its tag, its length, and what stands where that leads (SPEC.md 3.2, 9.2). Judges nothing. */
#include <string.h>

#include "checker.h"
#include "subrecord.h"
#include "utf8.h"

/* ---- Lengths ---- */

uint64_t least_length(const struct checker *ck, unsigned tag, bool *exact)
{
    unsigned id = ck->id_size;

    *exact = true;
    switch (tag) {
    case TAG_LOAD_CLASS:
        return SIZE_OF(LOAD_CLASS, id);
    case TAG_UNLOAD_CLASS:
        return SIZE_OF(UNLOAD_CLASS, id);
    case TAG_FRAME:
        return SIZE_OF(FRAME, id);
    case TAG_HEAP_SUMMARY:
        return SIZE_OF(HEAP_SUMMARY, id);
    case TAG_START_THREAD:
        return SIZE_OF(START_THREAD, id);
    case TAG_END_THREAD:
        return SIZE_OF(END_THREAD, id);
    case TAG_CONTROL_SETTINGS:
        return SIZE_OF(CONTROL_SETTINGS, id);
    case TAG_HEAP_DUMP_END:
        return 0;
    default:
        break;
    }
    *exact = false;
    switch (tag) {
    case TAG_UTF8:
        return SIZE_OF(UTF8, id);
    case TAG_TRACE:
        return SIZE_OF(TRACE, id);
    case TAG_ALLOC_SITES:
        return SIZE_OF(ALLOC_SITES, id);
    case TAG_CPU_SAMPLES:
        return SIZE_OF(CPU_SAMPLES, id);
    default:
        return 0;
    }
}

/* Whether a record at p, of which n bytes are there, may be one: a known tag, a length that fits it, and, where a heap dump record
 * begins, the tag of a sub-record. */
static bool plausible_record(const struct checker *ck, const uint8_t *p, size_t n)
{
    uint64_t length, least;
    bool exact;

    if (n < RECORD_HEADER_SIZE || !hprof_record_name(*p))
        return false;
    length = get_u4(p + RECORD_LENGTH_AT);
    least = least_length(ck, *p, &exact);
    if ((*p == TAG_HEAP_DUMP || *p == TAG_HEAP_DUMP_SEGMENT) && length && n > RECORD_HEADER_SIZE &&
        !hprof_subrecord_name(p[RECORD_HEADER_SIZE]))
        return false;
    return exact ? length == least : length >= least;
}

/* How many records, up to `enough`, stand one after the other in the n bytes at p, as far as they can be seen. */
static unsigned count_plausible_records(const struct checker *ck, const uint8_t *p, size_t n, bool ended, unsigned enough)
{
    unsigned seen = 0;

    while (seen < enough) {
        uint64_t size;

        if (!n && ended)
            return enough;
        if (!plausible_record(ck, p, n))
            break;
        seen++;
        size = RECORD_HEADER_SIZE + (uint64_t)get_u4(p + RECORD_LENGTH_AT);
        if (size > n)
            break;
        p += size;
        n -= (size_t)size;
    }
    return seen;
}

bool empty_is_plausible(struct checker *ck)
{
    size_t n = look_at(ck, LOOK_SIZE, UINT64_MAX);
    unsigned records = count_plausible_records(ck, ck->in.at, n, n < LOOK_SIZE, 2);

    return records >= 2 || (records == 1 && !plausible_subrecords(ck->in.at, n, UINT64_MAX, ck->id_size, ck->version));
}

/* ---- Where a length leads ---- */

/* Where the count of a record stands, and what each of what it counts takes; false for a record without one. */
static bool counted(unsigned tag, unsigned id, size_t *count_at, size_t *entry)
{
    switch (tag) {
    case TAG_TRACE:
        *count_at = OFFSET_OF(TRACE, frames, id);
        *entry = id;
        return true;
    case TAG_ALLOC_SITES:
        *count_at = OFFSET_OF(ALLOC_SITES, sites, id);
        *entry = SIZE_OF(SITE, id);
        return true;
    case TAG_CPU_SAMPLES:
        *count_at = OFFSET_OF(CPU_SAMPLES, traces, id);
        *entry = SIZE_OF(SAMPLE, id);
        return true;
    default:
        return false;
    }
}

/* Whether the n bytes at p are text: UTF-8, whose last character may be cut. */
static bool is_text(const uint8_t *p, size_t n, bool cut)
{
    enum { MOST_CUT = 2 };

    return utf8_sound(p, n) + (cut ? MOST_CUT : 0) >= n;
}

/* Whether what can be seen of the record at p, n bytes, goes with its header, which garbage chances upon easily. */
static bool shows_itself(const struct checker *ck, const uint8_t *p, size_t n)
{
    uint64_t length = get_u4(p + RECORD_LENGTH_AT);
    const uint8_t *body = p + RECORD_HEADER_SIZE;
    size_t count_at, entry;
    bool exact;
    uint64_t least = least_length(ck, *p, &exact);

    n -= RECORD_HEADER_SIZE;
    if (*p == TAG_HEAP_DUMP || *p == TAG_HEAP_DUMP_SEGMENT)
        return plausible_subrecords(body, n, length, ck->id_size, ck->version);
    if (*p == TAG_UTF8)
        return n <= least || is_text(body + least, n - (size_t)least, length > n);
    if (counted(*p, ck->id_size, &count_at, &entry) && n >= count_at + 4)
        return length == least + (uint64_t)get_u4(body + count_at) * entry;
    return true;
}

enum { BEST = 16, LEADS_TO_LONG_ONE = 8 };
unsigned leads_on(struct checker *ck, uint64_t length)
{
    size_t far = LOOK_SIZE + (length <= FAR_SIZE ? (size_t)length : 0), n = look_at(ck, far, UINT64_MAX);
    const uint8_t *p = ck->in.at + (length < n ? length : n);
    bool ended = n < far;
    unsigned seen = 0;

    if (length > n)
        return ended ? 0 : BEST;
    for (n -= (size_t)length; seen < BEST; seen += 2) {
        uint64_t size;

        if (n < RECORD_HEADER_SIZE && (!ended || !n))
            return BEST;
        if (!plausible_record(ck, p, n))
            return seen;
        size = RECORD_HEADER_SIZE + (uint64_t)get_u4(p + RECORD_LENGTH_AT);
        if (size > n)
            return seen + (!ended && shows_itself(ck, p, n) ? LEADS_TO_LONG_ONE : 1);
        p += size;
        n -= (size_t)size;
    }
    return BEST;
}

/* Whether plausible records fill the bytes from one offset in the n bytes at p to another. */
static bool records_fill(const struct checker *ck, const uint8_t *p, size_t n, uint64_t from, uint64_t to)
{
    while (from < to && to <= n && plausible_record(ck, p + from, n - (size_t)from))
        from += RECORD_HEADER_SIZE + (uint64_t)get_u4(p + from + RECORD_LENGTH_AT);
    return from == to;
}

/* The length of the string at hand up to the records behind it, where its length takes some in or leads to none; else the declared
 * one. Every header of a record has a NUL up to the first byte of its length, below 16 MB as most are, and what producers write as
 * text has none. But UTF-8 may hold what it likes, whole records too. */
static uint64_t text_length(struct checker *ck, uint64_t declared)
{
    enum { MOST_NULS = 16 };
    unsigned id = ck->id_size, leads = declared < id ? 0 : leads_on(ck, declared);
    uint64_t within = declared < FAR_SIZE ? declared : FAR_SIZE;
    size_t n = look_at(ck, (size_t)within + LOOK_SIZE, leads < LEADS_TO_TWO ? UINT64_MAX : within), length = id;
    const uint8_t *nul = n > id ? memchr(ck->in.at + id, 0, n - id) : NULL;
    bool text;

    if (!nul)
        return declared;
    text = declared >= id && is_text(ck->in.at + id, (n < declared ? n : (size_t)declared) - id, n < declared);
    for (int nuls = 0; nul && nuls < MOST_NULS; nuls++) {
        size_t end = (size_t)(nul - ck->in.at);

        for (length = end > length + RECORD_LENGTH_AT ? end - RECORD_LENGTH_AT : length; length < end; length++) {
            unsigned better = leads_on(ck, length);

            if (better >= LEADS_TO_TWO && (records_fill(ck, ck->in.at, n, length, declared) ? !text : better > leads))
                return length;
        }
        nul = end < declared ? memchr(ck->in.at + end + 1, 0, n - end - 1) : NULL;
    }
    return declared;
}

uint64_t right_length(struct checker *ck, unsigned tag)
{
    size_t count_at, entry;
    bool exact;
    uint64_t least = least_length(ck, tag, &exact);

    if (counted(tag, ck->id_size, &count_at, &entry) && look_at(ck, (size_t)least, UINT64_MAX) == least)
        return least + (uint64_t)get_u4(ck->in.at + count_at) * entry;
    return exact ? least : UINT64_MAX;
}

uint64_t body_length(struct checker *ck, uint8_t tag, uint64_t declared)
{
    uint64_t right = hprof_record_name(tag) ? right_length(ck, tag) : UINT64_MAX;

    if (tag == TAG_UTF8)
        return text_length(ck, declared);
    if (right == UINT64_MAX || right == declared || right > FAR_SIZE)
        return declared;
    return leads_on(ck, right) > (declared > FAR_SIZE ? 0 : leads_on(ck, declared)) ? right : declared;
}

bool pass_record(struct checker *ck, uint8_t tag, uint64_t declared)
{
    uint64_t length = body_length(ck, tag, declared), right = hprof_record_name(tag) ? right_length(ck, tag) : UINT64_MAX;
    bool exact, wrong = right == UINT64_MAX ? declared < least_length(ck, tag, &exact) : declared != right;

    return !(wrong && leads_on(ck, length) < LEADS_TO_RECORD) && input_skip(&ck->in, length) == length;
}

bool sound_record_follows(struct checker *ck)
{
    return leads_on(ck, 0) >= LEADS_TO_RECORD;
}
