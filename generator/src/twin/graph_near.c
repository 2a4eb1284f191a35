/* See graph_parts.h: references to objects that are near. A near object of a class that a slot names, at a distance that the slot
 * has, is named as often as such an object is there and the profile has the distance. */
#include <string.h>

#include "twin/graph_parts.h"

static bool is_near(int64_t bits)
{
    return bits >= -NEAR_BITS && bits <= NEAR_BITS;
}

/* The line of the class of an object, or of the rest; NOTHING if the slot does not name it. */
static uint32_t line_of(const struct graph *g, const struct profile_slot *s, uint32_t object)
{
    int64_t class = g->entity[object] / 2;
    uint32_t rest = NOTHING;

    for (uint32_t i = s->to.first; i < s->to.first + s->to.count; i++) {
        if (value_at(g, i) == class)
            return i;
        if (value_at(g, i) == TO_REST && g->layers[STRONG].rest[class])
            rest = i;
    }
    return rest;
}

/* The objects at this distance that the slot may name. */
static unsigned find_there(const struct graph *g, const struct profile_slot *s, uint32_t line, uint32_t found[NEAR_MOST])
{
    struct span span;
    unsigned count = 0;

    if (!graph_span(g, g->at - 1, value_at(g, line), &span))
        return 0;
    for (uint64_t i = span.from; i <= span.to; i++)
        if (line_of(g, s, (uint32_t)i) != NOTHING)
            found[count++] = (uint32_t)i;
    return count;
}

static unsigned named_by(const struct layer *l, uint32_t object)
{
    return l->named[object] + l->named_now[object];
}

/* Whether one more near reference may name an object, so that there are enough objects with that many references. */
static bool may_name(const struct graph *g, const struct layer *l, const struct profile_slot *s, uint32_t object)
{
    uint32_t class = g->entity[object] / 2, line = line_of(g, s, object);
    unsigned named = named_by(l, object);

    return named < NAMED_MOST && l->having_now[class].at_least[named + 1] < g->fixed[class].may_have.at_least[named + 1] &&
           l->numbers_left[line] && (value_at(g, line) != TO_REST || l->rest_left[class]);
}

static void name(struct graph *g, struct layer *l, const struct profile_slot *s, uint32_t at, uint32_t object)
{
    uint32_t class = g->entity[object] / 2, line = line_of(g, s, object);

    l->numbers_left[at]--;
    l->numbers_left[line]--;
    if (value_at(g, line) == TO_REST)
        l->rest_left[class]--;
    l->named_now[object]++;
    l->having_now[class].at_least[named_by(l, object)]++;
}

/* Whether one of those that are there at this distance is named, in proportion. */
static bool is_chosen(struct graph *g, struct layer *l, uint32_t at)
{
    uint64_t there = g->there_left[at]--;

    return draw_below(&l->draws, there) < l->numbers_left[at];
}

static bool is_in_layer(const struct graph *g, uint32_t at, unsigned layer)
{
    return is_near(value_at(g, at)) && g->there[at] &&
           (g->layers[STRONG].numbers[at] >= g->there[at] / 4 * 3) == (layer == STRONG);
}

static uint32_t near_object(struct graph *g, const struct profile_slot *s, unsigned layer, uint32_t chosen)
{
    struct layer *l = &g->layers[layer];

    for (uint32_t at = s->at.first; at < s->at.first + s->at.count; at++) {
        uint32_t there[NEAR_MOST], best = NOTHING;
        unsigned count;

        if (!is_in_layer(g, at, layer))
            continue;
        count = find_there(g, s, at, there);
        if (!count || !is_chosen(g, l, at) || chosen != NOTHING)
            continue;
        for (unsigned i = 0; i < count; i++)
            if (may_name(g, l, s, there[i]) && (best == NOTHING || named_by(l, there[i]) < named_by(l, best)))
                best = there[i];
        if (best != NOTHING) {
            name(g, l, s, at, best);
            chosen = best;
        }
    }
    return chosen;
}

static void near_elements(struct graph *g, const struct profile_slot *s, uint64_t length, unsigned layer)
{
    struct layer *l = &g->layers[layer];

    for (uint32_t at = s->at.first; at < s->at.first + s->at.count; at++) {
        uint32_t there[NEAR_MOST];
        unsigned count;

        if (!is_in_layer(g, at, layer))
            continue;
        count = find_there(g, s, at, there);
        for (unsigned i = 0; i < count && i < length; i++)
            if (is_chosen(g, l, at) && g->pending_count < length && g->pending_count < PENDING && may_name(g, l, s, there[i])) {
                name(g, l, s, at, there[i]);
                g->pending[g->pending_count++] = there[i];
            }
    }
}

static uint32_t near_object_in(struct graph *g, uint32_t slot, unsigned layers)
{
    uint32_t chosen = NOTHING;

    for (unsigned layer = 0; layer < layers; layer++)
        chosen = near_object(g, &g->p->slots[slot], layer, chosen);
    return chosen;
}

static void near_elements_in(struct graph *g, uint32_t slot, uint64_t length, unsigned layers)
{
    g->pending_count = g->pending_next = 0;
    for (unsigned layer = 0; layer < layers; layer++)
        near_elements(g, &g->p->slots[slot], length, layer);
}

uint32_t graph_near_object(struct graph *g, uint32_t slot)
{
    return near_object_in(g, slot, FAR);
}

void graph_near_elements(struct graph *g, uint32_t slot, uint64_t length)
{
    near_elements_in(g, slot, length, FAR);
}

/* ---- Preparing ---- */

static void count_there(struct graph *g, uint32_t slot, uint64_t limit)
{
    const struct profile_slot *s = &g->p->slots[slot];

    for (uint32_t at = s->at.first; at < s->at.first + s->at.count; at++) {
        uint32_t there[NEAR_MOST];
        uint64_t count;

        if (!is_near(value_at(g, at)) || !g->layers[STRONG].numbers[at])
            continue;
        count = find_there(g, s, at, there);
        g->there[at] += count < limit ? count : limit;
    }
}

/* References of the present object. In layer 0 it is counted what is there. */
static void look_at_references(struct graph *g, unsigned layers)
{
    uint32_t entity = g->entity[g->at++];
    const struct profile_class *class = &g->p->classes[entity / 2];
    bool is_array = entity % 2;
    uint32_t first = is_array ? (uint32_t) class->element_slot : class->first_slot,
             count = is_array ? class->element_slot >= 0 : class->slots;
    uint64_t length = is_array && count ? graph_length(g, entity / 2, g->arrays[entity / 2]++) : 1;

    for (uint32_t slot = first; slot < first + count; slot++) {
        if (!layers) {
            count_there(g, slot, length);
        } else if (is_array) {
            near_elements_in(g, slot, length, layers);
            g->slots_left[2 * slot] -= g->pending_count;
        } else {
            g->slots_left[2 * slot] -= near_object_in(g, slot, layers) != NOTHING;
        }
    }
}

static void begin_layer(struct graph *g, struct layer *l)
{
    const struct heap_profile *p = g->p;

    memcpy(l->numbers_left, l->numbers, p->number_count * sizeof *l->numbers);
    memcpy(l->rest_left, l->rest, p->class_count * sizeof *l->rest);
    memcpy(l->having_now, l->having, p->class_count * sizeof *l->having);
    memset(l->named_now, 0, g->count * sizeof *l->named_now);
    l->draws = (struct draws){.key = mix(g->key + (uint64_t)(l - g->layers))};
}

void graph_begin_layers(struct graph *g)
{
    for (unsigned i = 0; i < LAYERS; i++)
        begin_layer(g, &g->layers[i]);
    memcpy(g->there_left, g->there, g->p->number_count * sizeof *g->there);
    memcpy(g->slots_left, g->far_slots, 2 * (size_t)g->p->slot_count * sizeof *g->slots_left);
    memset(g->arrays, 0, g->p->class_count * sizeof *g->arrays);
    g->at = 0;
}

/* What a layer leaves to the next one. */
static void end_layer(struct graph *g, const struct layer *l, struct layer *next)
{
    memcpy(next->numbers, l->numbers_left, g->p->number_count * sizeof *l->numbers);
    memcpy(next->rest, l->rest_left, g->p->class_count * sizeof *l->rest);
    memcpy(next->having, l->having_now, g->p->class_count * sizeof *l->having);
    for (uint64_t i = 0; i < g->count; i++)
        next->named[i] = (uint8_t)named_by(l, (uint32_t)i);
}

void graph_prepare_near(struct graph *g)
{
    memcpy(g->far_slots, g->slots, 2 * (size_t)g->p->slot_count * sizeof *g->slots);
    for (unsigned layers = 0; layers < LAYERS; layers++) {
        graph_begin_layers(g);
        while (g->at < g->count)
            look_at_references(g, layers);
        if (layers)
            end_layer(g, &g->layers[layers - 1], &g->layers[layers]);
    }
    memcpy(g->far_slots, g->slots_left, 2 * (size_t)g->p->slot_count * sizeof *g->slots);
}
