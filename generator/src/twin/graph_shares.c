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
        g->of_numbers[range.first + i] = share(sum, all, total) - before;
    }
}

static uint64_t sum_of(const struct graph *g, struct profile_range range)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < range.count; i++)
        sum += g->p->numbers[range.first + i].count;
    return sum;
}

/* ---- Lengths: by quantile, in an order that is a permutation ---- */

/* A permutation of 0 to count - 1: a Feistel network on the next even number of bits, until the number is one of them. */
static uint64_t permuted(uint64_t key, uint64_t n, uint64_t count)
{
    unsigned half = (bits_of(count) + 1) / 2;
    uint64_t mask = (UINT64_C(1) << half) - 1;

    do
        for (unsigned round = 0; round < 4; round++)
            n = (n & mask) << half | ((n >> half) ^ (mix_of(key, n & mask, round) & mask));
    while (n >= count);
    return n;
}

/* The longest array is the last one, or the first, so that what its elements name is as far away as in the original. */
static uint64_t rank_of_array(const struct graph *g, uint32_t class, uint64_t n)
{
    const struct fixed *f = &g->fixed[class];
    uint64_t last = f->counts[1] - 1, longest = f->longest_first ? 0 : last, rank = permuted(g->key + class, n, last + 1);

    if (n == longest)
        return last;
    return rank == last ? permuted(g->key + class, longest, last + 1) : rank;
}

uint64_t graph_length(const struct graph *g, uint32_t class, uint64_t n)
{
    struct profile_range range = g->p->classes[class].lengths;
    uint64_t point = rank_of_array(g, class, n);
    uint32_t low = 0, high = range.count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->of_numbers[range.first + middle] <= point)
            low = middle + 1;
        else
            high = middle;
    }
    if (range.first + low == g->fixed[class].longest_line)
        return g->fixed[class].longest;
    return g->p->numbers[range.first + low].value;
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

    g->of_slots[2 * slot] = set;
    g->of_slots[2 * slot + 1] = nulls;
    divide(g, s->to, set);
    for (uint32_t i = 0; i < s->to.count; i++)
        if ((int64_t)g->p->numbers[s->to.first + i].value < TO_REST)
            elsewhere += g->of_numbers[s->to.first + i];
    divide(g, s->at, sampled ? set - elsewhere : set);
}

/* Adds to what classes expect, by a slot. */
static void expect(struct graph *g, uint32_t slot, uint64_t *wanted)
{
    const struct profile_slot *s = &g->p->slots[slot];
    uint64_t ahead = 0, all = 0;

    for (uint32_t i = 0; i < s->at.count; i++) {
        all += g->p->numbers[s->at.first + i].count;
        ahead += (int64_t)g->p->numbers[s->at.first + i].value > 0 ? g->p->numbers[s->at.first + i].count : 0;
    }
    for (uint32_t i = 0; i < s->to.count; i++) {
        int64_t class = (int64_t)g->p->numbers[s->to.first + i].value;

        if (class < 0)
            continue;
        wanted[class] += g->of_numbers[s->to.first + i];
        g->fixed[class].ahead += share(g->of_numbers[s->to.first + i], ahead, all);
    }
}

/* Where in their octaves the in-degrees of a class are, so that they add up to what names its objects. */
static void find_skew(struct graph *g, uint32_t class, uint64_t wanted)
{
    struct profile_range named = g->p->classes[class].named;
    uint64_t least = 0, more = 0;

    for (uint32_t i = 0; i < named.count; i++) {
        uint64_t value = g->p->numbers[named.first + i].value, count = g->of_numbers[named.first + i];

        least += value * count;
        more += value > EXACT_DEGREES ? (value == 9 ? 6 : value - 1) * count : 0;
    }
    g->fixed[class].skew = wanted <= least ? 0 : wanted - least >= more ? ONE : (uint32_t)share(ONE, wanted - least, more);
}

/* The sum of shares whose distances are near, and before. */
static uint64_t near_of(const struct graph *g, uint32_t slot)
{
    struct profile_range at = g->p->slots[slot].at;
    uint64_t sum = 0;

    for (uint32_t i = at.first; i < at.first + at.count; i++)
        sum += is_near(value_at(g, i)) ? g->of_numbers[i] : 0;
    return sum;
}

static uint64_t shares_of(const struct graph *g, struct profile_range range)
{
    uint64_t sum = 0;

    for (uint32_t i = range.first; i < range.first + range.count; i++)
        sum += g->of_numbers[i];
    return sum;
}

/* Of the slot that refers to near objects most often: one for each class that is named, and each distance. `add` gets them. */
static void each_follower(struct graph *g, uint32_t class, void (*add)(struct graph *, uint32_t after, struct follower))
{
    const struct profile_class *c = &g->p->classes[class];
    uint64_t count = g->fixed[class].counts[0], wanted = g->fixed[class].ahead, most = 0, all;
    const struct profile_slot *s = NULL;

    for (uint32_t i = 0; i < c->slots && count; i++) {
        uint64_t near = near_of(g, c->first_slot + i);

        if (near > most) {
            most = near;
            s = &g->p->slots[c->first_slot + i];
        }
    }
    if (!s || wanted >= count)
        return;
    all = shares_of(g, s->at);
    for (uint32_t to = s->to.first; to < s->to.first + s->to.count; to++)
        for (uint32_t at = s->at.first; at < s->at.first + s->at.count && value_at(g, to) >= 0; at++) {
            uint64_t n = is_near(value_at(g, at)) ? share(g->of_numbers[to], g->of_numbers[at], all) : 0;

            n = share(n, count - wanted, count);
            if (n)
                add(g, (uint32_t)value_at(g, to), (struct follower){class, (int32_t)-value_at(g, at), n});
        }
}

static void count_follower(struct graph *g, uint32_t after, struct follower f)
{
    (void)f;
    g->fixed[after].followers++;
    g->follower_count++;
}

static void add_follower(struct graph *g, uint32_t after, struct follower f)
{
    struct fixed *fixed = &g->fixed[after];

    g->followers[fixed->first_follower + fixed->followers++] = f;
}

static bool prepare_followers(struct graph *g)
{
    uint32_t first = 0;

    for (uint32_t c = 0; c < g->p->class_count; c++)
        each_follower(g, c, count_follower);
    g->followers = calloc(g->follower_count + (size_t)1, sizeof *g->followers);
    g->followers_left = calloc(g->follower_count + (size_t)1, sizeof *g->followers_left);
    if (!g->followers || !g->followers_left)
        return false;
    for (uint32_t c = 0; c < g->p->class_count; c++) {
        g->fixed[c].first_follower = first;
        first += g->fixed[c].followers;
        g->fixed[c].followers = 0;
    }
    for (uint32_t c = 0; c < g->p->class_count; c++)
        each_follower(g, c, add_follower);
    for (uint32_t i = 0; i < g->follower_count; i++)
        g->fixed[g->followers[i].class].ahead += g->followers[i].count;
    return true;
}

/* How many of its objects refer to the next one, at most all. */
static void find_need(struct graph *g, uint32_t class)
{
    const struct profile_class *c = &g->p->classes[class];
    uint64_t count = g->fixed[class].counts[0] + g->fixed[class].counts[1], next = 0;

    for (uint32_t i = 0; i < c->slots + (c->element_slot >= 0); i++) {
        struct profile_range at = g->p->slots[i < c->slots ? c->first_slot + i : (uint32_t)c->element_slot].at;

        for (uint32_t n = at.first; n < at.first + at.count; n++)
            next += value_at(g, n) == 1 ? g->of_numbers[n] : 0;
    }
    g->fixed[class].needs_next = next >= count ? (next > 0) * (uint32_t)ONE : (uint32_t)share(ONE, next, count);
}

/* The share of distances to objects before, in ONE. */
static uint32_t share_before(const struct graph *g, struct profile_range at)
{
    uint64_t before = 0;

    for (uint32_t i = at.first; i < at.first + at.count; i++)
        before += value_at(g, i) < 0 ? g->p->numbers[i].count : 0;
    return (uint32_t)share(ONE, before, sum_of(g, at));
}

/* The longest arrays are rounded in the profile, which has the number of all elements of object arrays. */
static void fit_longest(struct graph *g, uint32_t class)
{
    const struct profile_class *c = &g->p->classes[class];
    struct fixed *f = &g->fixed[class];
    const struct profile_slot *s = c->element_slot >= 0 ? &g->p->slots[c->element_slot] : NULL;
    uint64_t elements = s ? share(s->set + s->nulls, f->counts[1], c->arrays) : 0;

    f->longest_line = NOTHING;
    f->longest_first = s && share_before(g, s->at) < ONE / 2;
    for (uint32_t i = c->lengths.count; s && i-- > 0 && f->longest_line == NOTHING;) {
        uint32_t at = c->lengths.first + i;
        uint64_t count = g->of_numbers[at] - (i ? g->of_numbers[at - 1] : 0);

        if (!count)
            continue;
        f->longest_line = at;
        f->elements -= g->p->numbers[at].value * count;
        f->longest = elements > f->elements ? (elements - f->elements + count / 2) / count : 0;
        f->longest = f->longest < LENGTH_MOST ? f->longest : LENGTH_MOST;
        f->elements += f->longest * count;
    }
}

bool graph_prepare(struct graph *g, uint64_t objects)
{
    const struct heap_profile *p = g->p;
    uint64_t *wanted = calloc(p->class_count + 1, sizeof *wanted);
    uint32_t members = 0, hubs = 0;

    if (!wanted)
        return false;
    scale_objects(g, objects);
    for (uint32_t c = 0; c < p->class_count; c++) {
        const struct profile_class *class = &p->classes[c];
        struct fixed *f = &g->fixed[c];

        divide(g, class->lengths, f->counts[1]);
        divide(g, class->named, f->counts[0] + f->counts[1]);
        for (uint32_t i = 0, at = class->lengths.first; i < class->lengths.count; i++, at++) {
            f->elements += p->numbers[at].value * g->of_numbers[at];
            g->of_numbers[at] += i ? g->of_numbers[at - 1] : 0; /* so that graph_length() can search */
        }
        fit_longest(g, c);
        for (uint32_t s = 0; s < class->slots; s++)
            scale_slot(g, class->first_slot + s, f->counts[0]);
        if (class->element_slot >= 0)
            scale_slot(g, (uint32_t) class->element_slot, f->elements);
        for (uint32_t s = 0; s < class->static_slots; s++)
            scale_slot(g, class->first_static_slot + s, p->slots[class->first_static_slot + s].set ? 1 : 0);
        f->first_member = members;
        members += (uint32_t)(f->counts[0] + f->counts[1]);
        f->first_hub = hubs;
        for (uint32_t i = 0; i < class->named.count; i++)
            if (p->numbers[class->named.first + i].value >= HUB)
                f->hubs += (uint32_t)g->of_numbers[class->named.first + i];
        hubs += f->hubs;
    }
    for (uint32_t s = 0; s < p->slot_count; s++)
        expect(g, s, wanted);
    for (uint32_t c = 0; c < p->class_count; c++) {
        find_skew(g, c, wanted[c]);
        find_need(g, c);
        g->fixed[c].wanted = wanted[c];
    }
    free(wanted);
    g->hubs = malloc((hubs + (size_t)1) * sizeof *g->hubs);
    return g->hubs && prepare_followers(g);
}
