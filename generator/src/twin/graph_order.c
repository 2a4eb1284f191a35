/* See graph_parts.h: objects get their classes in the order that the profile has, as far as it goes. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "twin/graph_parts.h"

/* What the profile's order has for an object; NOTHING if it does not say. */
static struct profile_object there_is(const struct graph *g, uint64_t object)
{
    uint64_t stretches = (g->count + STRETCH - 1) / STRETCH, kept = (g->p->sequence_count + STRETCH - 1) / STRETCH,
             at = share(object / STRETCH, kept, stretches) * STRETCH + object % STRETCH;

    return at < g->p->sequence_count ? g->p->sequence[at] : (struct profile_object){NOTHING, 0};
}

/* Takes an object of a class: an instance or an array, as there are many left of each. */
static uint32_t take(struct graph *g, struct fenwick *left, uint64_t (*free)[2], uint32_t class)
{
    uint64_t *of = free[class];
    uint32_t entity = 2 * class + (draw_below(&g->draws, of[0] + of[1]) >= of[0]);

    of[entity % 2]--;
    fenwick_add(left, entity, UINT64_MAX);
    return entity;
}

/* Classes that the order has too often are left out evenly. */
static void follow_order(struct graph *g, struct fenwick *left, uint64_t (*free)[2], uint64_t *there, uint64_t *seen)
{
    for (uint64_t i = 0; i < g->count; i++) {
        uint32_t class = there_is(g, i).class;

        if (class != NOTHING)
            there[class]++;
    }
    for (uint64_t i = 0; i < g->count; i++) {
        uint32_t class = there_is(g, i).class;
        uint64_t n, count;

        g->entity[i] = NOTHING;
        if (class == NOTHING)
            continue;
        n = seen[class]++;
        count = members_of(g, class);
        if (there[class] <= count || share(n + 1, count, there[class]) > share(n, count, there[class]))
            g->entity[i] = take(g, left, free, class);
    }
}

static void list_members(struct graph *g, uint64_t *listed)
{
    memset(listed, 0, g->p->class_count * sizeof *listed);
    for (uint64_t i = 0; i < g->count; i++) {
        uint32_t class = g->entity[i] / 2;

        g->members[g->fixed[class].first_member + listed[class]++] = (uint32_t)i;
    }
}

/* ---- Lengths: by quantile, in the order of octaves that the profile has ---- */

static bool is_shorter(const void *a, const void *b)
{
    return ((const struct profile_number *)a)->value < ((const struct profile_number *)b)->value;
}

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

/* `sorted`: the lengths of a class, and for each how many arrays are not longer. */
static uint32_t quantile(const struct profile_number *sorted, uint32_t count, uint64_t rank)
{
    uint32_t low = 0, high = count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sorted[middle].count <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)sorted[low].value;
}

/* The octaves become lengths. */
static void draw_lengths(struct graph *g, uint32_t class, struct profile_number *sorted)
{
    const struct fixed *f = &g->fixed[class];
    struct profile_range range = g->p->classes[class].lengths;
    uint32_t *lengths = g->lengths + f->first_member;
    uint64_t of[LENGTH_BITS + 1] = {0}, first[LENGTH_BITS + 2] = {0}, seen[LENGTH_BITS + 1] = {0};

    for (uint32_t i = 0; i < range.count; i++) {
        uint32_t line = range.first + i;

        sorted[i].value = line == f->longest_line ? f->longest : g->p->numbers[line].value;
        sorted[i].count = g->layers[STRONG].numbers[line];
    }
    sort_in_place(sorted, range.count, sizeof *sorted, is_shorter);
    for (uint32_t i = 1; i < range.count; i++)
        sorted[i].count += sorted[i - 1].count;
    for (uint64_t n = 0; n < f->counts[1]; n++)
        of[lengths[n]]++;
    for (unsigned bits = 0; bits <= LENGTH_BITS; bits++)
        first[bits + 1] = first[bits] + of[bits];
    for (uint64_t n = 0; n < f->counts[1]; n++) {
        uint32_t bits = lengths[n];

        lengths[n] = quantile(sorted, range.count, first[bits] + permuted(mix_of(g->key, class, bits), seen[bits]++, of[bits]));
    }
}

static bool lay_out_lengths(struct graph *g, uint64_t *arrays)
{
    uint32_t most = 0;
    struct profile_number *sorted;

    memset(arrays, 0, g->p->class_count * sizeof *arrays);
    for (uint64_t i = 0; i < g->count; i++) {
        uint32_t class = g->entity[i] / 2;
        struct profile_object there = there_is(g, i);

        if (g->entity[i] % 2)
            g->lengths[g->fixed[class].first_member + arrays[class]++] = there.class == class ? there.bits : 0;
    }
    for (uint32_t c = 0; c < g->p->class_count; c++)
        most = g->p->classes[c].lengths.count > most ? g->p->classes[c].lengths.count : most;
    sorted = malloc((most + (size_t)1) * sizeof *sorted);
    for (uint32_t c = 0; c < g->p->class_count && sorted; c++)
        if (g->fixed[c].counts[1])
            draw_lengths(g, c, sorted);
    free(sorted);
    return sorted;
}

bool graph_lay_out(struct graph *g)
{
    size_t classes = g->p->class_count + (size_t)1;
    struct fenwick left = {.sums = calloc(2 * classes, sizeof *left.sums)};
    uint64_t(*free_ones)[2] = calloc(classes, sizeof *free_ones), *there = calloc(2 * classes, sizeof *there);
    bool good = left.sums && free_ones && there;

    if (good) {
        fenwick_clear(&left, 2 * g->p->class_count);
        for (uint32_t e = 0; e < 2 * g->p->class_count; e++) {
            free_ones[e / 2][e % 2] = g->fixed[e / 2].counts[e % 2];
            fenwick_add(&left, e, free_ones[e / 2][e % 2]);
        }
        follow_order(g, &left, free_ones, there, there + classes);
        for (uint64_t i = 0; i < g->count; i++)
            if (g->entity[i] == NOTHING)
                g->entity[i] = take(g, &left, free_ones, fenwick_find(&left, draw_below(&g->draws, left.total)) / 2);
        list_members(g, there);
        good = lay_out_lengths(g, there);
    }
    free(left.sums);
    free(free_ones);
    free(there);
    return good;
}

uint64_t graph_length(const struct graph *g, uint32_t class, uint64_t n)
{
    return g->lengths[g->fixed[class].first_member + n];
}
