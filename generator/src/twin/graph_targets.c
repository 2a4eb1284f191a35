/* See graph_parts.h: references that name no near object. An object lacks references, stubs; one of those of the class and at the
 * distance that are drawn is taken. */
#include <string.h>

#include "twin/graph_parts.h"

/* ---- How many references an object lacks ---- */

/* The first member of a class from this object on. */
static uint32_t member_from(const struct graph *g, uint32_t class, uint64_t object)
{
    uint32_t low = g->fixed[class].first_member, high = low + (uint32_t)members_of(g, class);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->members[middle] < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t degree_of(const struct graph *g, uint32_t class, uint64_t value)
{
    if (value > EXACT_DEGREES)
        value += share(value == 9 ? 6 : value - 1, g->fixed[class].skew, ONE);
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* An in-degree that is left, of at least so many. */
static uint32_t draw_degree(struct graph *g, uint32_t class, uint64_t least)
{
    const struct profile_number *numbers = g->p->numbers;
    struct profile_range named = g->p->classes[class].named;
    uint64_t all = 0, point, *left = g->layers[FAR].numbers_left;
    uint32_t i;

    for (i = named.first; i < named.first + named.count; i++)
        all += numbers[i].value >= least ? left[i] : 0;
    if (!all)
        return (uint32_t)least;
    point = draw_below(&g->draws, all);
    for (i = named.first; numbers[i].value < least || point >= left[i]; i++)
        point -= numbers[i].value >= least ? left[i] : 0;
    left[i]--;
    return degree_of(g, class, numbers[i].value);
}

/* An object in a part of the heap that has no in-degree yet, if possible one that near ones name; NOTHING for none. */
static uint32_t find_unnamed(struct graph *g, uint32_t class, uint64_t degree, uint64_t part)
{
    const uint8_t *named = g->layers[FAR].named;
    uint32_t from = member_from(g, class, share(g->count, part, HEAP_PARTS)),
             end = member_from(g, class, share(g->count, part + 1, HEAP_PARTS)), best = NOTHING;

    for (unsigned i = 0; i < PLACES && from < end; i++) {
        uint32_t member = from + (uint32_t)draw_below(&g->draws, end - from);

        if (g->lacks_at_first[member] == NOTHING && named[g->members[member]] <= degree &&
            (best == NOTHING || named[g->members[member]] > named[g->members[best]]))
            best = member;
    }
    return best;
}

static void place_degree(struct graph *g, uint32_t class, uint64_t degree, uint64_t part)
{
    struct profile_range named = g->p->classes[class].named;
    uint32_t member = find_unnamed(g, class, degree, part);

    for (uint32_t line = named.first; line < named.first + named.count && member != NOTHING; line++)
        if (g->p->numbers[line].value == degree && g->layers[FAR].numbers_left[line]) {
            g->layers[FAR].numbers_left[line]--;
            g->lacks_at_first[member] = degree_of(g, class, degree) - g->layers[FAR].named[g->members[member]];
            return;
        }
}

/* Objects that near ones name have that many references or more. */
static void draw_degrees(struct graph *g, uint32_t class)
{
    struct profile_range where = g->p->classes[class].where;
    uint32_t first = g->fixed[class].first_member, end = first + (uint32_t)members_of(g, class);

    for (uint32_t m = first; m < end; m++)
        g->lacks_at_first[m] = NOTHING;
    for (uint32_t line = where.first + where.count; line-- > where.first;)
        for (uint64_t n = 0; n < g->layers[FAR].numbers[line]; n++)
            place_degree(g, class, g->p->numbers[line].value / HEAP_PARTS, g->p->numbers[line].value % HEAP_PARTS);
    for (unsigned named = NAMED_MOST + 1; named-- > 0;)
        for (uint32_t m = first; m < end; m++)
            if (g->layers[FAR].named[g->members[m]] == named && g->lacks_at_first[m] == NOTHING)
                g->lacks_at_first[m] = draw_degree(g, class, named) - named;
}

/* What static fields name: an object that no near one names, if there is one. */
static void draw_static(struct graph *g, uint32_t slot)
{
    const struct profile_slot *s = &g->p->slots[slot];
    uint32_t to = graph_draw_of(g, s->to, 0), object = NOTHING;
    int64_t class = to == NOTHING ? TO_CLASS : value_at(g, s->to.first + to);

    if (class == TO_REST && g->count)
        object = (uint32_t)draw_below(&g->draws, g->count);
    for (unsigned i = 0; class >= 0 && members_of(g, (uint32_t) class) && i < PLACES; i++) {
        object = g->members[g->fixed[class].first_member + draw_below(&g->draws, members_of(g, (uint32_t) class))];
        if (!g->layers[FAR].named[object])
            break;
    }
    g->statics[slot] = object == NOTHING ? graph_a_class(g) : (struct graph_target){TARGET_OBJECT, object};
    if (object != NOTHING && g->layers[FAR].named[object] < NAMED_MOST)
        g->layers[FAR].named[object]++;
}

void graph_prepare_far(struct graph *g)
{
    const struct heap_profile *p = g->p;

    memcpy(g->layers[FAR].numbers_left, g->layers[FAR].numbers, p->number_count * sizeof *g->layers[FAR].numbers);
    for (uint32_t c = 0; c < p->class_count; c++)
        for (uint32_t i = 0; i < p->classes[c].static_slots; i++)
            if (p->slots[p->classes[c].first_static_slot + i].set)
                draw_static(g, p->classes[c].first_static_slot + i);
    for (uint32_t c = 0; c < p->class_count; c++)
        draw_degrees(g, c);
}

void graph_begin_far(struct graph *g)
{
    memcpy(g->lacks, g->lacks_at_first, g->count * sizeof *g->lacks);
    fenwick_fill(&g->stubs, g->lacks, (uint32_t)g->count);
    memset(g->tried, 0, g->p->number_count * sizeof *g->tried);
    memset(g->found, 0, g->p->number_count * sizeof *g->found);
    fenwick_clear(&g->rest, g->p->class_count);
    for (uint32_t c = 0; c < g->p->class_count; c++)
        fenwick_add(&g->rest, c, g->layers[FAR].rest[c]);
    g->draws = (struct draws){.key = mix(g->key + LAYERS)};
}

/* ---- Ranges ---- */

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

uint32_t graph_draw_of(struct graph *g, struct profile_range range, uint64_t excluded)
{
    uint64_t all = 0, point;

    for (uint32_t i = 0; i < range.count; i++)
        if (!(excluded >> i & 1))
            all += g->layers[FAR].numbers_left[range.first + i];
    if (!all)
        return NOTHING;
    point = draw_below(&g->draws, all);
    for (uint32_t i = 0; i < range.count; i++) {
        if (excluded >> i & 1)
            continue;
        if (point < g->layers[FAR].numbers_left[range.first + i])
            return i;
        point -= g->layers[FAR].numbers_left[range.first + i];
    }
    return NOTHING;
}

/* How much of a distance is left, and more where often no object is found: what is rarely there is tried more often. After the last
 * objects there is none. */
static uint64_t weight_of(const struct graph *g, uint32_t line)
{
    uint64_t here = g->at - 1, size, after = g->count - here,
             left = share(g->layers[FAR].numbers_left[line], g->tried[line] + UINT64_C(1), g->found[line] + UINT64_C(1));
    int64_t bits = value_at(g, line);

    if (bits <= 0 || !left)
        return left;
    size = UINT64_C(1) << (bits - 1);
    return size >= after ? 0 : share(left, after, after - size) + 1;
}

static uint32_t draw_distance(struct graph *g, struct profile_range at, const uint64_t weights[64])
{
    uint64_t all = 0, point;

    for (uint32_t i = 0; i < at.count; i++)
        all += weights[i];
    if (!all)
        return NOTHING;
    point = draw_below(&g->draws, all);
    for (uint32_t i = 0; i < at.count; i++) {
        if (point < weights[i])
            return i;
        point -= weights[i];
    }
    return NOTHING;
}

/* ---- Objects ---- */

static uint64_t take_stub(struct graph *g, uint32_t member)
{
    g->lacks[member]--;
    fenwick_add(&g->stubs, member, UINT64_MAX);
    return g->members[member];
}

/* One of the stubs of the members from one to another, the first of them or any; NOTHING if there is none. */
static uint64_t find_stub(struct graph *g, uint32_t from, uint32_t end, bool first)
{
    uint64_t before = fenwick_sum(&g->stubs, from), all = fenwick_sum(&g->stubs, end) - before;

    return all ? take_stub(g, fenwick_find(&g->stubs, before + (first ? 0 : draw_below(&g->draws, all)))) : NOTHING;
}

/* An object of any class, if possible one that lacks a reference. */
static uint64_t find_any(struct graph *g, struct span span)
{
    for (unsigned i = 0; i < PLACES; i++) {
        uint64_t object = span.from + draw_below(&g->draws, span.to - span.from + 1);
        uint32_t member = member_from(g, g->entity[object] / 2, object);

        if (g->lacks[member])
            return take_stub(g, member);
    }
    return span.from + draw_below(&g->draws, span.to - span.from + 1);
}

/* Whether nearly all references have this distance, as from Strings to their texts in an archive of CDS. Then the first object
 * there is taken: it is the first that will be too near, or too far, for all that follows. Where distances differ, objects that are
 * drawn fit more of them. */
static bool is_usual(const struct graph *g, const struct profile_slot *s, uint32_t line)
{
    enum { USUAL = 8 };
    uint64_t all = 0;

    for (uint32_t i = s->at.first; i < s->at.first + s->at.count; i++)
        all += g->layers[FAR].numbers[i];
    return g->layers[FAR].numbers[line] > all - all / USUAL;
}

/* An object of this class, TO_REST for any, at one of the distances that are left. */
static uint64_t find_of_class(struct graph *g, const struct profile_slot *s, int64_t class)
{
    uint64_t weights[64];

    for (uint32_t i = 0; i < s->at.count; i++)
        weights[i] = weight_of(g, s->at.first + i);
    for (;;) {
        uint32_t at = draw_distance(g, s->at, weights);
        struct span span;
        uint64_t object;

        if (at == NOTHING)
            return NOTHING;
        weights[at] = 0;
        g->tried[s->at.first + at]++;
        if (!graph_span(g, g->at - 1, value_at(g, s->at.first + at), &span))
            continue;
        object = class < 0 ? find_any(g, span)
                           : find_stub(g, member_from(g, (uint32_t) class, span.from),
                                       member_from(g, (uint32_t) class, span.to + 1), is_usual(g, s, s->at.first + at));
        if (object != NOTHING) {
            g->found[s->at.first + at]++;
            g->layers[FAR].numbers_left[s->at.first + at]--;
            return object;
        }
    }
}

static int64_t bits_to(const struct graph *g, uint64_t object)
{
    uint64_t here = g->at - 1;

    return object > here ? (int64_t)bits_of(object - here) : -(int64_t)bits_of(here - object);
}

static void take_distance(struct graph *g, const struct profile_slot *s, uint64_t object)
{
    uint32_t drawn = graph_draw_of(g, s->at, 0);

    for (uint32_t i = s->at.first; i < s->at.first + s->at.count; i++)
        if (value_at(g, i) == bits_to(g, object) && g->layers[FAR].numbers_left[i])
            drawn = i - s->at.first;
    if (drawn != NOTHING)
        g->layers[FAR].numbers_left[s->at.first + drawn]--;
}

/* A class that has references from the rest of targets left; TO_REST if there is none. */
static int64_t draw_of_rest(struct graph *g)
{
    const struct fenwick *rest = &g->rest;

    return rest->total ? (int64_t)fenwick_find(rest, draw_below(&g->draws, rest->total)) : TO_REST;
}

/* An object of a class at a distance that the profile does not have. */
static uint64_t find_elsewhere(struct graph *g, const struct profile_slot *s, int64_t class)
{
    uint32_t first, count;
    uint64_t object;

    if (class < 0 && g->rest.total) {
        class = draw_of_rest(g);
        fenwick_add(&g->rest, (uint32_t) class, UINT64_MAX);
    }
    if (class < 0)
        return g->count ? draw_below(&g->draws, g->count) : NOTHING;
    first = g->fixed[class].first_member;
    count = (uint32_t)members_of(g, (uint32_t) class);
    object = find_stub(g, first, first + count, false);
    if (object == NOTHING && count)
        object = g->members[first + draw_below(&g->draws, count)];
    if (object != NOTHING)
        take_distance(g, s, object);
    return object;
}

/* An object for one of the targets that are left. */
static uint64_t find_for(struct graph *g, const struct profile_slot *s, uint32_t line)
{
    if (value_at(g, line) != TO_REST)
        return find_of_class(g, s, value_at(g, line));
    for (unsigned i = 0; i < REST_TRIES; i++) {
        int64_t class = draw_of_rest(g);
        uint64_t object = find_of_class(g, s, class);

        if (object != NOTHING && class >= 0)
            fenwick_add(&g->rest, (uint32_t) class, UINT64_MAX);
        if (object != NOTHING)
            return object;
    }
    return NOTHING;
}

uint64_t graph_find_object(struct graph *g, const struct profile_slot *s)
{
    uint64_t excluded = 0, object = NOTHING;
    uint32_t first = NOTHING;

    for (uint32_t i = 0; i < s->to.count; i++)
        excluded |= (uint64_t)(value_at(g, s->to.first + i) < TO_REST) << i;
    while (object == NOTHING) {
        uint32_t to = graph_draw_of(g, s->to, excluded);

        if (to == NOTHING)
            break;
        first = first == NOTHING ? s->to.first + to : first;
        excluded |= UINT64_C(1) << to;
        object = find_for(g, s, s->to.first + to);
        if (object != NOTHING)
            g->layers[FAR].numbers_left[s->to.first + to]--;
    }
    if (object == NOTHING) {
        object = find_elsewhere(g, s, first == NOTHING ? TO_REST : value_at(g, first));
        if (first != NOTHING)
            g->layers[FAR].numbers_left[first]--;
    }
    return object;
}

struct graph_target graph_a_class(struct graph *g)
{
    uint32_t first = 0;

    while (first < g->p->class_count && g->p->classes[first].number < PRIMITIVES)
        first++;
    if (first == g->p->class_count)
        return (struct graph_target){TARGET_NULL, 0};
    return (struct graph_target){TARGET_CLASS, first + draw_below(&g->draws, g->p->class_count - first)};
}
