/* See doubled.h. */
#include "engine/doubled.h"

enum {
    LEAST = 64,           /* bytes: fewer may be alike by chance */
    MOST = WAY_SIGHT / 2, /* a pipe can go back over both copies */
    PROBE = 32,           /* bytes that are sought before a failure */
    HEAD = 64             /* a header that crosses the beginning of the second copy is no longer */
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
    *d = (struct doubled){from, until - size, size};
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

bool find_doubled(struct engine *e, uint64_t failed_at, struct doubled *d)
{
    uint64_t first = failed_at > MOST ? failed_at - MOST : 0;
    bool is_found = false;
    struct sight s;

    if (first < e->framing.sought_until)
        first = e->framing.sought_until;
    if (failed_at <= first || !input_can_go_back(&e->in, first) || !go_to(e, first))
        return false;
    e->framing.sought_until = failed_at;
    s = look_far(e);
    for (size_t head = 0; head <= HEAD && !is_found; head += HEAD)
        is_found = are_twice(&s, (size_t)(failed_at - first) + head, d);
    d->at += first;
    d->last += first;
    return is_found && !are_heap_dumps_alike(e, d);
}

void look_for_doubled(struct engine *e)
{
    uint64_t here = e->in.offset, first = here > MOST ? here - MOST : 0;
    struct doubled d;
    struct sight s;

    if (first < e->framing.looked_until)
        first = e->framing.looked_until;
    if (first >= here || !input_can_go_back(&e->in, first) || !go_to(e, first))
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
    note_doubled(e, d);
    return true;
}
