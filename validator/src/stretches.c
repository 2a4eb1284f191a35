/* See stretches.h. */
#include "stretches.h"

enum { STRETCH = 1 << 20 };

void stretches_init(struct stretches *s, struct memory *memory)
{
    *s = (struct stretches){0};
    chunks_init(&s->list, memory, sizeof(struct stretch));
    bytelog_init(&s->detours, memory);
}

void stretches_clear(struct stretches *s)
{
    chunks_clear(&s->list);
    bytelog_clear(&s->detours);
    s->last_from = s->due = 0;
}

struct stretch *stretches_begin(struct stretches *s, uint64_t at, uint64_t record_end)
{
    struct stretch *stretch = chunks_add(&s->list);

    if (stretch)
        *stretch =
            (struct stretch){.at = at, .record_end = record_end, .next_detour = s->detours.size, .last_from = s->last_from};
    s->due = at + STRETCH;
    return stretch;
}

void stretches_note_detour(struct stretches *s, const struct detour *detour)
{
    bytelog_append_number(&s->detours, (detour->from - s->last_from) << 1 | detour->is_defined);
    bytelog_append_number(&s->detours, detour->to - detour->from);
    bytelog_append_number(&s->detours, detour->record_end - detour->to);
    s->last_from = detour->from;
}

struct detour_reader detours_from(const struct stretches *s, size_t i)
{
    const struct stretch *stretch = stretches_at(s, i);
    struct detour_reader r = {.stretches = s, .next = stretch->next_detour, .detour.from = stretch->last_from};

    detour_next(&r);
    return r;
}

void detour_next(struct detour_reader *r)
{
    const struct bytelog *log = &r->stretches->detours;
    struct detour *d = &r->detour;
    uint64_t first;

    if (r->next == log->size) {
        d->from = UINT64_MAX;
        return;
    }
    first = bytelog_read_number(log, &r->next);
    d->from += first >> 1;
    d->is_defined = first & 1;
    d->to = d->from + bytelog_read_number(log, &r->next);
    d->record_end = d->to + bytelog_read_number(log, &r->next);
}
