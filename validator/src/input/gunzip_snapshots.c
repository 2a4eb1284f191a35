/* See gunzip_stream.h: positions to which the stream can return. */
#include "input/gunzip_stream.h"

enum {
    KEPT_BLOCKS = USUAL_OR_SMALL(32, 2), /* decompressed blocks between two within a member: these take one byte in a hundred */
    MEMBERS_PART =
        USUAL_OR_SMALL(4096, 4) /* and between two member starts this part of all bytes before: so their number is bounded */
};

static bool snapshot_is_due(const struct gunzip *g)
{
    uint64_t distance = g->block < g->snapshot_distance / 16 ? 16 * g->block : g->snapshot_distance;
    const struct gunzip_position *now = &g->now, *last = g->last ? &g->last->position : &(struct gunzip_position){0};

    if (!g->source->seekable || now->part == BROKEN_DATA || now->part == INFLATED_DATA || now->part == NOTHING)
        return false;
    if (now->part == HEADER)
        distance += now->output / MEMBERS_PART;
    return now->output >= last->output + distance || now->offset >= last->offset + distance;
}

/* Drops the snapshot at *link, unless the next one would then be too far from the one before. */
static void drop_between(struct gunzip *g, struct gunzip_snapshot **link, const struct gunzip_snapshot *next)
{
    uint64_t blocks = (uint64_t)KEPT_BLOCKS * g->block, most = blocks > g->snapshot_distance ? blocks : g->snapshot_distance;
    struct gunzip_snapshot *s = *link;
    uint64_t from = s->before ? s->before->position.output : 0;

    if (s == g->kept || s->position.part == HEADER || next->position.output - from > most)
        return;
    *link = s->before;
    memory_put(g->memory, s, s->size);
}

void gunzip_take_snapshot(struct gunzip *g)
{
    size_t size = offsetof(struct gunzip_snapshot, state);
    struct gunzip_snapshot *s;

    if (!snapshot_is_due(g))
        return;
    if (g->last && g->last->before)
        drop_between(g, &g->last->before, g->last);
    if (g->now.part != HEADER)
        size += gunzip_state_size(&g->state);
    s = memory_try(g->memory, size);
    if (!s)
        return;
    s->before = g->last;
    s->size = size;
    s->position = g->now;
    if (g->now.part != HEADER)
        gunzip_copy_state(&s->state, &g->state);
    g->last = s;
}

/* Whether the stream comes to `target` from a position on, and to the trailers that are there: a thread may have met their faults,
 * and they were not reported. */
static bool leads_to(const struct gunzip_position *p, uint64_t target)
{
    return p->output < target || (p->output == target && p->part != HEADER && p->part != NOTHING);
}

/* The nearest snapshot that leads to `target`; NULL for the start. */
static struct gunzip_snapshot *nearest_snapshot(const struct gunzip *g, uint64_t target)
{
    struct gunzip_snapshot *s = g->last;

    while (s && !leads_to(&s->position, target))
        s = s->before;
    return s;
}

uint64_t gunzip_member_start(const struct gunzip *g)
{
    return g->now.member_output;
}

void gunzip_keep(struct gunzip *g, uint64_t target)
{
    const struct gunzip_snapshot *kept = g->kept;

    g->kept = nearest_snapshot(g, target);
    if (kept == g->kept)
        return;
    for (struct gunzip_snapshot *next = g->last; kept && next->before; next = next->before)
        if (next->before == kept) {
            drop_between(g, &next->before, next);
            return;
        }
}

uint64_t gunzip_rewind(struct gunzip *g, uint64_t target)
{
    const struct gunzip_snapshot *nearest = nearest_snapshot(g, target);
    struct gunzip_position to = nearest ? nearest->position : (struct gunzip_position){.part = HEADER};

    if (gunzip_is_nested(g))
        return 0;
    if (leads_to(&g->now, target) && to.output <= g->now.output)
        return g->now.output;
    if (to.part != HEADER)
        gunzip_copy_state(&g->state, &nearest->state);
    gunzip_go_to(g, to.offset);
    g->now = to;
    g->pending.fault = GZIP_VALID; /* it is found again when its bytes are read again */
    return g->now.output;
}
