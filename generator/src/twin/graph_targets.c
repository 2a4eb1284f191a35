/* See graph_parts.h: an object for a reference, of the class and at the distance that are drawn from what is left. */
#include "twin/graph_parts.h"

static bool span_of(const struct graph *g, int64_t bits, struct span *out)
{
    return graph_span(g, g->at - 1, bits, out);
}

void graph_name(struct graph *g, uint64_t object)
{
    uint32_t class = g->entity[object] / 2;

    if (!g->lacks[object]) {
        g->left[class].exceeded++;
        return;
    }
    g->left[class].lacking--;
    if (!--g->lacks[object])
        tree_remove(g, &g->left[class].tree, (uint32_t)object);
}

/* The first member that is not before this object. */
static uint32_t member_from(const struct graph *g, uint32_t class, uint64_t object)
{
    uint32_t low = g->fixed[class].first_member, high = low + g->left[class].members;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->members[middle] < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t find_hub(struct graph *g, uint32_t class, struct span span)
{
    struct left *l = &g->left[class];
    const uint32_t *hubs = g->hubs + g->fixed[class].first_hub;

    if (!l->hubs_lack || draw_below(g, l->lacking) >= l->hubs_lack)
        return NOTHING;
    for (unsigned i = 0; i < PLACES; i++) {
        uint32_t hub = hubs[draw_below(g, l->hubs)];

        if (hub >= span.from && hub <= span.to && g->lacks[hub]) {
            l->hubs_lack--;
            return hub;
        }
    }
    return NOTHING;
}

/* An object there that lacks a reference. */
uint64_t graph_find_lacking(struct graph *g, uint32_t class, struct span span)
{
    uint32_t tree = g->left[class].tree, found;

    if (tree == NOTHING)
        return NOTHING;
    found = tree_from(g, tree, span.from + draw_below(g, span.to - span.from + 1));
    if (found > span.to)
        found = tree_from(g, tree, span.from);
    return found <= span.to ? found : NOTHING;
}

/* Any object there, which is placed already. */
uint64_t graph_find_placed(struct graph *g, uint32_t class, struct span span)
{
    uint32_t from = member_from(g, class, span.from), to = member_from(g, class, span.to + 1);

    return from == to ? NOTHING : g->members[from + draw_below(g, to - from)];
}

/* Any object there that is wanted already, of those that are known. */
static uint64_t find_wanted(struct graph *g, uint32_t class, struct span span)
{
    struct left *l = &g->left[class];

    for (uint32_t i = 0; i < l->pooled;) {
        uint64_t object = l->pool[i];

        if (object < g->at) {
            l->pool[i] = l->pool[--l->pooled];
            continue;
        }
        if (object >= span.from && object <= span.to)
            return object;
        i++;
    }
    return NOTHING;
}

/* An object of that class that is wanted already, or a free one. There are to be as many new ones as the class has objects left. */
static uint64_t find_after(struct graph *g, uint32_t class, struct span span, bool lacking)
{
    struct left *l = &g->left[class];
    bool is_near = span.to - g->at < 1 << NEAR, is_new = !is_near && draw_below(g, l->ahead) < l->free[0] + l->free[1];
    uint64_t object = is_new && lacking ? graph_want(g, class, span, 0) : NOTHING;

    if (object == NOTHING)
        object = lacking ? graph_find_lacking(g, class, span) : find_wanted(g, class, span);
    if (object == NOTHING)
        object = graph_want(g, class, span, 0);
    if (object != NOTHING && l->ahead) {
        l->ahead--;
        graph_weigh(g, class);
    }
    return object;
}

/* A few objects may be named more often than was drawn, where the distance would be wrong otherwise. */
static bool may_exceed(const struct graph *g, uint32_t class)
{
    const struct fixed *f = &g->fixed[class];
    uint64_t part = f->wanted > MANY * (f->counts[0] + f->counts[1]) ? EXCEEDING_MANY : EXCEEDING;

    return g->left[class].exceeded < f->wanted / part;
}

static uint64_t find_in(struct graph *g, uint32_t class, struct span span, bool lacking)
{
    uint64_t object = NOTHING;

    if (span.from == g->at - 1)
        return g->entity[span.from] / 2 == class ? span.from : NOTHING;
    if (span.to >= g->at)
        return lacking || may_exceed(g, class) ? find_after(g, class, span, lacking) : NOTHING;
    if (!lacking)
        return may_exceed(g, class) ? graph_find_placed(g, class, span) : NOTHING;
    object = find_hub(g, class, span);
    return object != NOTHING ? object : graph_find_lacking(g, class, span);
}

/* Any object there, of those that have a class. */
static uint64_t find_any(struct graph *g, struct span span)
{
    uint64_t found = NOTHING;

    for (unsigned i = 0; i < 2 * PLACES; i++) {
        uint64_t object = span.from + draw_below(g, span.to - span.from + 1);

        if (g->entity[object] == NOTHING)
            continue;
        found = object;
        if (g->lacks[object])
            break;
    }
    if (found == NOTHING && span.from >= g->at && g->others.total) {
        found = graph_free_from(g, span.from);
        if (found > span.to)
            return NOTHING;
        graph_settle(g, found, fenwick_find(&g->others, draw_below(g, g->others.total)), true);
    }
    return found;
}

/* ---- References ---- */

static uint64_t find_target(struct graph *g, const struct profile_slot *s, struct span span, bool lacking, uint32_t *to)
{
    uint64_t excluded = 0, object;

    for (;;) {
        uint32_t i = graph_draw_of(g, s->to, excluded);
        int64_t class;

        if (i == NOTHING)
            return NOTHING;
        excluded |= UINT64_C(1) << i;
        class = (int64_t)g->p->numbers[s->to.first + i].value;
        object = class >= 0 ? find_in(g, (uint32_t) class, span, lacking) : class == TO_REST ? find_any(g, span) : NOTHING;
        if (object != NOTHING) {
            *to = i;
            return object;
        }
    }
}

/* The distance in a range with so many bits, if some of it is left; otherwise the one that was drawn. */
static uint32_t nearest_of(const struct graph *g, struct profile_range at, int64_t bits, uint32_t drawn)
{
    for (uint32_t i = 0; i < at.count; i++)
        if (value_at(g, at.first + i) == bits && g->numbers_left[at.first + i])
            return i;
    return drawn;
}

static int64_t bits_to(const struct graph *g, uint64_t object)
{
    uint64_t here = g->at - 1;

    return object > here ? (int64_t)bits_of(object - here) : -(int64_t)bits_of(here - object);
}

/* The object that lacks a reference, and whose distance has nearly as many bits as was drawn. */
static uint64_t find_nearest(struct graph *g, uint32_t class, int64_t bits, struct span span)
{
    uint32_t tree = g->left[class].tree, after = tree_from(g, tree, span.from), before = tree_before(g, tree, span.from);
    int64_t too_far, too_near;

    if (after == g->at - 1)
        after = tree_from(g, tree, g->at);
    if (before == g->at - 1)
        before = tree_before(g, tree, g->at - 1);
    if (after != NOTHING && after >= g->at)
        after = NOTHING;
    if (after == NOTHING || before == NOTHING)
        return after == NOTHING ? before : after;
    too_far = bits_to(g, after) - bits;
    too_near = bits - bits_to(g, before);
    return too_far < too_near ? after : before;
}

/* The targets that are no objects. */
static uint64_t mask_of_classes(const struct graph *g, const struct profile_slot *s)
{
    uint64_t mask = 0;

    for (uint32_t i = 0; i < s->to.count; i++)
        mask |= value_at(g, s->to.first + i) < TO_REST ? UINT64_C(1) << i : 0;
    return mask;
}

/* Of the class that was drawn, at another distance than was drawn; NOTHING if the class has no object at all. */
uint64_t graph_find_anywhere(struct graph *g, const struct profile_slot *s)
{
    uint32_t at = graph_draw_of(g, s->at, 0), i = graph_draw_of(g, s->to, mask_of_classes(g, s));
    int64_t class = i == NOTHING ? TO_REST : value_at(g, s->to.first + i),
            bits = at == NOTHING ? 0 : value_at(g, s->at.first + at);
    struct span before = {0, g->at - 1}, after = {g->at, g->count - 1}, span;
    uint64_t object = NOTHING;

    if (i != NOTHING)
        g->numbers_left[s->to.first + i]--;
    if (class < 0)
        return draw_below(g, g->at);
    if (!span_of(g, bits, &span))
        span = bits < 0 ? (struct span){0, 0} : (struct span){g->count - 1, g->count - 1};
    object = find_nearest(g, (uint32_t) class, bits, span);
    if (object == NOTHING && after.from <= after.to && g->left[class].free[0] + g->left[class].free[1])
        object = find_after(g, (uint32_t) class, after, true);
    if (object == NOTHING)
        object = graph_find_placed(g, (uint32_t) class, before);
    if (object == NOTHING && after.from <= after.to)
        object = find_after(g, (uint32_t) class, after, false);
    if (at != NOTHING && object != NOTHING)
        g->numbers_left[s->at.first + nearest_of(g, s->at, bits_to(g, object), at)]--;
    return object;
}

/* Takes what is left of a distance and a class; NOTHING if no object lacks a reference there. */
static uint64_t find_at(struct graph *g, const struct profile_slot *s, uint32_t at, struct span span, bool lacking)
{
    uint32_t to;
    uint64_t object = find_target(g, s, span, lacking, &to);

    if (object != NOTHING) {
        g->numbers_left[at]--;
        g->numbers_left[s->to.first + to]--;
    }
    return object;
}

/* Near objects before are taken when they are there. */
static uint64_t find_near(struct graph *g, const struct profile_slot *s)
{
    for (uint32_t at = s->at.first; at < s->at.first + s->at.count; at++) {
        struct span span;
        uint64_t object;

        if (!is_near(value_at(g, at)) || !g->numbers_left[at] || !span_of(g, value_at(g, at), &span))
            continue;
        object = find_at(g, s, at, span, true);
        if (object != NOTHING)
            return object;
    }
    return NOTHING;
}

/* At one of the likeliest distances: an object that lacks a reference, or else any of its class. */
uint64_t graph_find_object(struct graph *g, const struct profile_slot *s)
{
    uint64_t object = find_near(g, s);

    for (unsigned round = 0; round < 2 && object == NOTHING; round++) {
        uint64_t excluded = 0;

        for (unsigned tries = 0; tries < DISTANCES;) {
            uint32_t i = graph_draw_of(g, s->at, excluded);
            struct span span;

            if (i == NOTHING)
                break;
            excluded |= UINT64_C(1) << i;
            if (!span_of(g, value_at(g, s->at.first + i), &span))
                continue;
            tries++;
            object = find_at(g, s, s->at.first + i, span, round == 0);
            if (object != NOTHING)
                break;
        }
    }
    return object;
}
