/* See graph_parts.h: objects get their classes, because they are drawn or because an earlier one wants them. */
#include "twin/graph_parts.h"

/* ---- Which classes have objects left ---- */

/* Of the objects that are left, those that stay without a reference to them. */
static uint64_t unnamed_of(const struct graph *g, uint32_t class)
{
    struct profile_range named = g->p->classes[class].named;

    return named.count && g->p->numbers[named.first].value == 0 ? g->numbers_left[named.first] : 0;
}

/* Objects that are going to be wanted are not drawn. */
void graph_weigh(struct graph *g, uint32_t class)
{
    struct left *l = &g->left[class];
    uint32_t main = entity_of(g, class);

    for (uint32_t kind = 0; kind < 2; kind++) {
        uint32_t e = 2 * class + kind;
        uint64_t now = l->free[kind];

        if (e == main) {
            uint64_t unnamed = unnamed_of(g, class);

            now = now > l->ahead + unnamed ? now - l->ahead : now < unnamed ? now : unnamed;
        }
        if (now != g->weight[e]) {
            fenwick_add(&g->weights, e, now - g->weight[e]);
            g->weight[e] = now;
        }
    }
}

static void take_one(struct graph *g, uint32_t entity)
{
    g->left[entity / 2].free[entity % 2]--;
    fenwick_add(&g->others, entity, UINT64_MAX);
    graph_weigh(g, entity / 2);
}

/* ---- How many references an object is to have ---- */

static uint32_t draw_degree(struct graph *g, uint32_t class, bool is_wanted)
{
    const struct heap_profile *p = g->p;
    struct profile_range named = p->classes[class].named;
    struct left *l = &g->left[class];
    uint64_t all = 0, point, value = is_wanted, left = l->free[0] + l->free[1];
    uint32_t i = 0;
    bool has_unnamed = named.count && p->numbers[named.first].value == 0;
    uint64_t unnamed = unnamed_of(g, class);

    /* Objects that nothing names are among those that nothing wants. */
    if (!is_wanted && unnamed) {
        uint64_t drawn = left + 1 > l->ahead ? left + 1 - l->ahead : 1;

        if (draw_below(g, drawn > unnamed ? drawn : unnamed) < unnamed) {
            g->numbers_left[named.first]--;
            return 0;
        }
    }
    for (i = has_unnamed; i < named.count; i++)
        all += g->numbers_left[named.first + i];
    if (!all)
        return is_wanted;
    point = draw_below(g, all);
    for (i = has_unnamed; point >= g->numbers_left[named.first + i]; i++)
        point -= g->numbers_left[named.first + i];
    g->numbers_left[named.first + i]--;
    value = p->numbers[named.first + i].value;
    if (value > EXACT_DEGREES)
        value += share(value == 9 ? 6 : value - 1, g->fixed[class].skew, ONE);
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* The object gets its class. */
void graph_settle(struct graph *g, uint64_t object, uint32_t entity, bool is_wanted)
{
    struct left *l = &g->left[entity / 2];
    uint32_t degree;

    take_one(g, entity);
    degree = draw_degree(g, entity / 2, is_wanted);
    g->entity[object] = entity;
    g->lacks[object] = degree;
    l->lacking += degree;
    if (degree)
        tree_add(g, &l->tree, (uint32_t)object);
    if (degree >= HUB && l->hubs < g->fixed[entity / 2].hubs) {
        g->hubs[g->fixed[entity / 2].first_hub + l->hubs++] = (uint32_t)object;
        l->hubs_lack += degree;
    }
}

/* ---- Wanting an object ---- */

/* The objects at a distance of so many bits from this one; false for none. */
bool graph_span(const struct graph *g, uint64_t here, int64_t bits, struct span *out)
{
    uint64_t least, most;

    if (bits == 0) {
        *out = (struct span){here, here};
        return true;
    }
    least = UINT64_C(1) << ((bits < 0 ? -bits : bits) - 1);
    most = 2 * least - 1;
    if (least > (bits < 0 ? here : g->count - 1 - here))
        return false;
    if (bits < 0)
        *out = (struct span){here > most ? here - most : 0, here - least};
    else
        *out = (struct span){here + least, g->count - 1 - here > most ? here + most : g->count - 1};
    return true;
}

/* One of a range of up to 64, in proportion to what is left of it, without those that a mask excludes. NOTHING if nothing is
 * left. */
uint32_t graph_draw_of(struct graph *g, struct profile_range range, uint64_t excluded)
{
    uint64_t all = 0, point;

    for (uint32_t i = 0; i < range.count; i++)
        if (!(excluded >> i & 1))
            all += g->numbers_left[range.first + i];
    if (!all)
        return NOTHING;
    point = draw_below(g, all);
    for (uint32_t i = 0; i < range.count; i++) {
        if (excluded >> i & 1)
            continue;
        if (point < g->numbers_left[range.first + i])
            return i;
        point -= g->numbers_left[range.first + i];
    }
    return NOTHING;
}

uint64_t graph_free_from(struct graph *g, uint64_t object)
{
    uint64_t at = object, root = object;

    while (root < g->count && (g->next_free[root] != root || g->entity[root] != NOTHING)) {
        if (g->next_free[root] == root)
            g->next_free[root] = (uint32_t)root + 1;
        root = g->next_free[root];
    }
    while (at < root) {
        uint64_t next = g->next_free[at];

        g->next_free[at] = (uint32_t)root;
        at = next > at ? next : at + 1;
    }
    return root;
}

static void pool_add(struct graph *g, uint32_t class, uint64_t object)
{
    struct left *l = &g->left[class];

    uint32_t at = l->pooled < POOL ? l->pooled++ : (uint32_t)draw_below(g, POOL);

    for (uint32_t i = 0; i < l->pooled && l->pooled == POOL; i++) /* one that may not be named again goes first */
        if (!g->lacks[l->pool[i]])
            at = i;
    l->pool[at] = (uint32_t)object;
}

/* How much an object of this class would be in the way of others there, in ONE. */
static uint32_t disturbs(const struct graph *g, uint32_t class, uint64_t object)
{
    uint32_t sum = 0;

    if (object > g->at && g->entity[object - 1] != NOTHING)
        sum += g->fixed[g->entity[object - 1] / 2].needs_next;
    if (object + 1 < g->count && g->entity[object + 1] != NOTHING)
        sum += g->fixed[class].needs_next;
    return sum;
}

/* A free place for an object of that class; NOTHING if there is none. Far ones fill blocks from their starts, so that others have
 * room for objects that are near to each other. */
uint64_t graph_free_place(struct graph *g, uint32_t class, struct span span)
{
    uint64_t best = NOTHING, place = span.from + draw_below(g, span.to - span.from + 1);
    uint32_t least = UINT32_MAX;

    if (span.to - span.from >= BLOCK)
        place = place / BLOCK * BLOCK > span.from ? place / BLOCK * BLOCK : span.from;
    for (unsigned i = 0; i < PLACES && least; i++) {
        uint32_t disturbed;

        place = graph_free_from(g, place);
        if (place > span.to)
            place = graph_free_from(g, span.from);
        if (place > span.to)
            return NOTHING;
        disturbed = disturbs(g, class, place);
        if (disturbed < least) {
            least = disturbed;
            best = place;
        }
        place++;
    }
    return best;
}

static void promise(struct graph *g, uint64_t object, unsigned depth);

/* A free object, which becomes one of that class. */
uint64_t graph_want(struct graph *g, uint32_t class, struct span span, unsigned depth)
{
    struct left *l = &g->left[class];
    const struct fixed *f = &g->fixed[class];
    uint64_t count = f->counts[0] + f->counts[1], left = l->free[0] + l->free[1];
    /* Objects that many others name are spread over all of the heap. */
    bool is_early = f->wanted > MANY * count && count - left > share(count, span.to, g->count) + SPARE;
    /* Objects that stay without a reference are not wanted, except the first of a class. */
    bool is_left = left > unnamed_of(g, class) || left == count;
    uint64_t object = left && is_left && !is_early ? graph_free_place(g, class, span) : NOTHING;

    if (object != NOTHING) {
        graph_settle(g, object, entity_of(g, class), true);
        pool_add(g, class, object);
        if (depth < PROMISES)
            promise(g, object, depth + 1);
    }
    return object;
}

/* One reference of an object that is to come: what it may name is wanted now, unless there is something. */
static void promise_one(struct graph *g, uint64_t object, uint32_t slot, unsigned depth)
{
    const struct profile_slot *s = &g->p->slots[slot];
    uint32_t at, to;
    struct span span;

    if (draw_below(g, g->of_slots[2 * slot] + g->of_slots[2 * slot + 1]) >= g->of_slots[2 * slot])
        return;
    at = graph_draw_of(g, s->at, 0);
    to = graph_draw_of(g, s->to, 0);
    if (at == NOTHING || to == NOTHING || value_at(g, s->to.first + to) < 0 || value_at(g, s->at.first + at) != 1 ||
        !graph_span(g, object, 1, &span))
        return;
    graph_want(g, (uint32_t)value_at(g, s->to.first + to), span, depth);
}

static void promise(struct graph *g, uint64_t object, unsigned depth)
{
    const struct profile_class *class = &g->p->classes[g->entity[object] / 2];

    for (uint32_t s = 0; s < class->slots && g->entity[object] % 2 == 0; s++)
        promise_one(g, object, class->first_slot + s, depth);
}
