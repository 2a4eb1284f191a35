/* See doubled.h. */
#include "engine/doubled.h"

#include <string.h>

#include "format/header.h"

enum {
    LEAST = 64,           /* bytes: fewer may be alike by chance */
    MOST = WAY_SIGHT / 2, /* a pipe can go back over both copies */
    PROBE = 32,           /* bytes that are sought before a failure */
    HEAD = 64,            /* a header that crosses the beginning of the second copy is no longer, */
    CLASS = 64 << 10      /* nor is a CLASS_DUMP that fails before it */
};

/* The nearest place before some bytes where they are, too; SIZE_MAX if there is none, or if the bytes are all the same. */
static size_t find_before(const uint8_t *p, size_t at)
{
    if (memcmp(p + at, p + at + 1, PROBE - 1) == 0)
        return SIZE_MAX;
    for (size_t i = at; i--;)
        if (p[i] == p[at] && memcmp(p + i, p + at, PROBE) == 0)
            return i;
    return SIZE_MAX;
}

/* Whether the bytes around an offset in the sight are a second copy, all of it. Offsets are from the start of the sight. */
static bool are_twice(const struct sight *s, size_t at, struct doubled *d)
{
    size_t before = at + PROBE <= s->size ? find_before(s->at, at) : SIZE_MAX, size = at - before, from = at, until = at;

    if (before == SIZE_MAX || size < LEAST)
        return false;
    while (from > size && s->at[from - 1] == s->at[from - 1 - size])
        from--;
    while (until < s->size && until - from < 2 * size && s->at[until] == s->at[until - size])
        until++;
    *d = (struct doubled){.at = from, .last = until - size, .size = size};
    return until - from >= size;
}

/* The first bytes that are there twice. */
static void note_doubled(struct engine *e, const struct doubled *d)
{
    if (e->framing.doubled.size)
        return;
    e->framing.doubled.at = d->at;
    e->framing.doubled.size = d->size;
}

/* Heap dumps of a file may be alike. If a later one lacks bytes, those after them in the dump before it, and those before them in
 * it, are there twice, too. */
static bool are_heap_dumps_alike(const struct engine *e, const struct doubled *d)
{
    return e->heap.begun && (e->framing.complete_until || e->framing.heap_until) && e->heap.begin >= d->at - d->size;
}

/* How many bytes of the input from an offset on are those from another one on; no more than a number. */
static uint64_t count_alike(const struct input *in, uint64_t one, uint64_t other, uint64_t most)
{
    enum { BLOCK = 4096 };
    uint8_t a[BLOCK], b[BLOCK];
    uint64_t alike = 0;

    while (alike < most) {
        size_t n = most - alike < BLOCK ? (size_t)(most - alike) : BLOCK, i = 0;

        if (input_read_at(in, one + alike, a, n) < n || input_read_at(in, other + alike, b, n) < n)
            break;
        while (i < n && a[i] == b[i])
            i++;
        alike += i;
        if (i < n)
            break;
    }
    return alike;
}

static bool is_header_at(const struct input *in, uint64_t offset)
{
    uint8_t magic[HEADER_MAGIC_SIZE];

    return input_read_at(in, offset, magic, sizeof magic) == sizeof magic && is_header_magic(magic);
}

/* Whether the dump begins anew at an offset: a copy broke off there, and was made again, perhaps more than once, until it had all
 * that was there before. */
static bool begins_anew_at(struct engine *e, uint64_t at, struct doubled *d)
{
    uint64_t begin = e->framing.begin, there = at - begin, alike;

    for (uint64_t anew = at; is_header_at(&e->in, anew) && may_look_again(&e->framing.looked_again, at, there); anew += alike) {
        alike = count_alike(&e->in, begin, anew, there);
        if (alike == there) {
            *d = (struct doubled){
                .at = at, .last = at + count_alike(&e->in, at, anew + there, there), .size = anew - begin, .begin = anew};
            return true;
        }
    }
    return false;
}

/* Notes the headers in the sight, which begins at `first`, up to an offset in it. Each byte is searched once. */
static void note_headers(struct headers *headers, const struct sight *s, uint64_t first, size_t until)
{
    size_t at = headers->until > first ? (size_t)(headers->until - first) : 0, end = until < s->size ? until : s->size;

    for (const uint8_t *p; at < end && (p = memchr(s->at + at, *HEADER_MAGIC, end - at)); at++) {
        at = (size_t)(p - s->at);
        if (s->size - at >= HEADER_MAGIC_SIZE && is_header_magic(p))
            headers->at[headers->count++ % HEADERS] = first + at;
    }
    if (headers->until < first + end)
        headers->until = first + end;
}

/* Whether records, all of them in sight, lead on from a header past another offset: an array that holds a dump ends with it. */
static bool leads_past(const struct sight *sight, uint64_t header, uint64_t past)
{
    struct sight s = *sight;
    uint64_t at = header + HEADER_SIZE;

    s.ended = true;
    if (at > s.size || !parse_header(s.at + header, &s.version, &s.id_size))
        return false;
    while (at <= past && records_follow(&s, at, 1))
        at += RECORD_HEADER_SIZE + (uint64_t)get_u4(s.at + at + RECORD_LENGTH_AT);
    return records_follow(&s, at, 2);
}

/* Whether another dump begins at a header in the sight, which begins at `first`, before the failure. */
static bool other_begins(const struct engine *e, const struct sight *s, uint64_t first, uint64_t failed_at, struct doubled *d)
{
    const struct headers *headers = &e->framing.headers;

    for (unsigned i = headers->count; i-- > 0 && headers->count - i <= HEADERS;) {
        uint64_t at = headers->at[i % HEADERS];

        if (at >= first && at > e->framing.begin && at < failed_at && leads_past(s, at - first, failed_at - first)) {
            *d = (struct doubled){.other = at};
            return true;
        }
    }
    return false;
}

/* Whether the dump begins anew at a header from an offset on, of those after the first `known` ones. */
static bool begins_anew(struct engine *e, uint64_t first, unsigned known, struct doubled *d)
{
    const struct headers *headers = &e->framing.headers;

    for (unsigned i = headers->count; i-- > known && headers->count - i <= HEADERS;) {
        uint64_t at = headers->at[i % HEADERS];

        if (at >= first && at > e->framing.begin && begins_anew_at(e, at, d))
            return true;
    }
    return false;
}

/* Where what is compared begins: at an offset, or where the input can go back to. */
static uint64_t first_in_reach(const struct engine *e, uint64_t first)
{
    return first >= e->in.offset || input_can_go_back(&e->in, first) ? first : e->in.offset - INPUT_HISTORY;
}

bool find_doubled(struct engine *e, uint64_t failed_at, struct doubled *d)
{
    uint64_t first = failed_at > MOST ? failed_at - MOST : 0;
    bool is_found = false;
    struct sight s;

    if (first < e->framing.sought_until)
        first = e->framing.sought_until;
    first = first_in_reach(e, first);
    if (failed_at <= first || !go_to(e, first))
        return false;
    e->framing.sought_until = failed_at;
    s = look_far(e);
    note_headers(&e->framing.headers, &s, first, (size_t)(failed_at - first) + CLASS);
    if ((input_can_go_anywhere(&e->in) && begins_anew(e, first, 0, d)) || other_begins(e, &s, first, failed_at, d))
        return true;
    for (size_t head = 0; head <= HEAD && !is_found; head += HEAD)
        is_found = are_twice(&s, (size_t)(failed_at - first) + head, d);
    d->at += first;
    d->last += first;
    return is_found && !are_heap_dumps_alike(e, d);
}

bool begins_anew_before(struct engine *e, uint64_t offset)
{
    uint64_t here = e->in.offset, first = offset > CLASS ? offset - CLASS : 0, seen = e->framing.headers.until;
    const unsigned known = e->framing.headers.count; /* these were tried */
    struct doubled d;
    struct sight s;

    if (!input_can_go_anywhere(&e->in))
        return false;
    if (first < e->framing.sought_until)
        first = e->framing.sought_until;
    if (seen > first && seen <= offset)
        first = seen;
    if (first < offset && go_to(e, first)) {
        s = sight_of(e, (size_t)(offset - first) + HEADER_MAGIC_SIZE);
        note_headers(&e->framing.headers, &s, first, (size_t)(offset - first));
    }
    return go_to(e, here) && begins_anew(e, e->framing.sought_until, known, &d);
}

void look_for_doubled(struct engine *e)
{
    uint64_t here = e->in.offset, first = here > MOST ? here - MOST : 0;
    struct doubled d;
    struct sight s;

    if (first < e->framing.looked_until)
        first = e->framing.looked_until;
    first = first_in_reach(e, first);
    if (first >= here || !go_to(e, first))
        return;
    e->framing.looked_until = here;
    s = look_far(e);
    if (are_twice(&s, (size_t)(here - first), &d)) {
        d.at += first;
        if (!are_heap_dumps_alike(e, &d))
            note_doubled(e, &d);
    }
    go_to(e, here);
}

bool pass_doubled(struct engine *e, const struct doubled *d, uint64_t item, enum way_kind kind, uint64_t *record_end)
{
    uint64_t there = item + d->size, end = *record_end == UINT64_MAX ? UINT64_MAX : *record_end + d->size;

    if (item > d->last || there < d->at || !go_to(e, there) || go_to_way(e, &end, there + 1, d->last + d->size) != kind ||
        !go_to(e, there))
        return false;
    *record_end = end;
    if (d->begin && !e->framing.begin)
        e->framing.doubled.size = 0;
    if (d->begin)
        e->framing.begin = d->begin;
    note_doubled(e, d);
    return true;
}
