/* See graph_parts.h: what the profile has, scaled to so many objects. */
#include <stdlib.h>

#include "twin/graph_parts.h"

/* Divides `all` in proportion to the numbers of a range; they add up to it. */
static void divide(const struct graph *g, struct profile_range range, uint64_t all)
{
    uint64_t sum = 0, total = 0;

    for (uint32_t i = 0; i < range.count; i++)
        total += g->p->numbers[range.first + i].count;
    for (uint32_t i = 0; i < range.count; i++) {
        uint64_t before = share(sum, all, total);

        sum += g->p->numbers[range.first + i].count;
        g->layers[STRONG].numbers[range.first + i] = share(sum, all, total) - before;
    }
}

static uint64_t sum_of(const struct graph *g, struct profile_range range)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < range.count; i++)
        sum += g->p->numbers[range.first + i].count;
    return sum;
}

/* ---- Preparing ---- */

static void scale_objects(struct graph *g, uint64_t objects)
{
    const struct heap_profile *p = g->p;
    uint64_t all = p->objects - p->unknown, sum = 0;

    for (uint32_t e = 0; e < 2 * p->class_count; e++) {
        const struct profile_class *class = &p->classes[e / 2];
        uint64_t before = share(sum, objects, all);

        sum += e % 2 ? class->arrays : class->instances;
        g->fixed[e / 2].counts[e % 2] = share(sum, objects, all) - before;
    }
}

static void scale_slot(struct graph *g, uint32_t slot, uint64_t references)
{
    const struct profile_slot *s = &g->p->slots[slot];
    uint64_t nulls = share(references, s->nulls, s->set + s->nulls), set = references - nulls;
    uint64_t elsewhere = 0, sampled = sum_of(g, s->to);

    g->slots[2 * slot] = set;
    g->slots[2 * slot + 1] = nulls;
    divide(g, s->to, set);
    for (uint32_t i = 0; i < s->to.count; i++)
        if ((int64_t)g->p->numbers[s->to.first + i].value < TO_REST)
            elsewhere += g->layers[STRONG].numbers[s->to.first + i];
    divide(g, s->at, sampled ? set - elsewhere : set);
}

/* Adds to what classes expect, by a slot. */
static void expect(struct graph *g, uint32_t slot)
{
    const struct profile_slot *s = &g->p->slots[slot];

    for (uint32_t i = s->to.first; i < s->to.first + s->to.count; i++)
        if (value_at(g, i) >= 0)
            g->fixed[value_at(g, i)].wanted += g->layers[STRONG].numbers[i];
}

/* Where in their octaves the in-degrees of a class are, so that they add up to what names its objects. What is more than that are
 * references from the rest of targets. */
static void find_skew(struct graph *g, uint32_t class)
{
    struct profile_range named = g->p->classes[class].named;
    uint64_t least = 0, more = 0, wanted = g->fixed[class].wanted;

    for (uint32_t i = 0; i < named.count; i++) {
        uint64_t value = g->p->numbers[named.first + i].value, count = g->layers[STRONG].numbers[named.first + i];

        least += value * count;
        more += value > EXACT_DEGREES ? (value == 9 ? 6 : value - 1) * count : 0;
    }
    g->layers[STRONG].rest[class] = least > wanted ? least - wanted : 0;
    g->fixed[class].skew = wanted <= least ? 0 : wanted - least >= more ? ONE : (uint32_t)share(ONE, wanted - least, more);
}

/* The longest arrays are rounded in the profile, which has the number of all elements of object arrays. */
static void fit_longest(struct graph *g, uint32_t class)
{
    const struct profile_class *c = &g->p->classes[class];
    struct fixed *f = &g->fixed[class];
    const struct profile_slot *s = c->element_slot >= 0 ? &g->p->slots[c->element_slot] : NULL;
    uint64_t elements = s ? share(s->set + s->nulls, f->counts[1], c->arrays) : 0;

    f->longest_line = NOTHING;
    for (uint32_t i = c->lengths.count; s && i-- > 0 && f->longest_line == NOTHING;) {
        uint32_t at = c->lengths.first + i;
        uint64_t count = g->layers[STRONG].numbers[at];

        if (!count)
            continue;
        f->longest_line = at;
        f->elements -= g->p->numbers[at].value * count;
        f->longest = elements > f->elements ? (elements - f->elements + count / 2) / count : 0;
        f->longest = f->longest < LENGTH_MOST ? f->longest : LENGTH_MOST;
        f->elements += f->longest * count;
    }
}

/* The objects of a class of which it is said where they are. */
static uint64_t placed_of(const struct graph *g, uint32_t class)
{
    const struct profile_class *c = &g->p->classes[class];
    uint64_t placed = share(sum_of(g, c->where), members_of(g, class), sum_of(g, c->named));

    return placed < members_of(g, class) ? placed : members_of(g, class);
}

void graph_scale(struct graph *g, uint64_t objects)
{
    const struct heap_profile *p = g->p;
    uint32_t members = 0;

    scale_objects(g, objects);
    for (uint32_t c = 0; c < p->class_count; c++) {
        const struct profile_class *class = &p->classes[c];
        struct fixed *f = &g->fixed[c];

        divide(g, class->lengths, f->counts[1]);
        divide(g, class->named, members_of(g, c));
        divide(g, class->where, placed_of(g, c));
        for (uint32_t i = class->lengths.first; i < class->lengths.first + class->lengths.count; i++)
            f->elements += p->numbers[i].value * g->layers[STRONG].numbers[i];
        fit_longest(g, c);
        for (uint32_t s = 0; s < class->slots; s++)
            scale_slot(g, class->first_slot + s, f->counts[0]);
        if (class->element_slot >= 0)
            scale_slot(g, (uint32_t) class->element_slot, f->elements);
        for (uint32_t s = 0; s < class->static_slots; s++)
            scale_slot(g, class->first_static_slot + s, p->slots[class->first_static_slot + s].set ? 1 : 0);
        f->first_member = members;
        members += (uint32_t)members_of(g, c);
        for (uint32_t i = class->named.first; i < class->named.first + class->named.count; i++)
            for (unsigned n = 1; n <= NAMED_MOST && n <= p->numbers[i].value; n++)
                f->may_have.at_least[n] += g->layers[STRONG].numbers[i];
    }
    for (uint32_t s = 0; s < p->slot_count; s++)
        expect(g, s);
    for (uint32_t c = 0; c < p->class_count; c++)
        find_skew(g, c);
}
