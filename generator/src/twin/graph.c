/* See graph.h: passes over the objects. */
#include <stdlib.h>

#include "twin/graph_parts.h"

static bool span_of(const struct graph *g, int64_t bits, struct span *out)
{
    return graph_span(g, g->at - 1, bits, out);
}

/* ---- Of which class an object is that nothing wants ---- */

/* Whether a reference that is drawn would find an object here. */
static bool finds_one(struct graph *g, uint32_t slot)
{
    const struct profile_slot *s = &g->p->slots[slot];
    uint32_t at, to;
    struct span span;
    int64_t class;

    if (draw_below(g, g->slots_left[2 * slot] + g->slots_left[2 * slot + 1]) >= g->slots_left[2 * slot])
        return true;
    at = graph_draw_of(g, s->at, 0);
    to = graph_draw_of(g, s->to, 0);
    if (at == NOTHING || to == NOTHING || value_at(g, s->at.first + at) == 0)
        return true;
    if (!span_of(g, value_at(g, s->at.first + at), &span))
        return false;
    class = value_at(g, s->to.first + to);
    if (class < 0 || graph_find_lacking(g, (uint32_t) class, span) != NOTHING)
        return true;
    return span.from >= g->at && g->left[class].free[0] + g->left[class].free[1] && graph_free_from(g, span.from) <= span.to;
}

/* How many of the references of an object would find none. */
static unsigned misses(struct graph *g, uint32_t entity)
{
    const struct profile_class *class = &g->p->classes[entity / 2];
    unsigned count = 0;

    for (uint32_t s = 0; s < class->slots && entity % 2 == 0; s++)
        count += !finds_one(g, class->first_slot + s);
    if (entity % 2 && class->element_slot >= 0)
        count += !finds_one(g, (uint32_t) class->element_slot);
    return count;
}

static uint32_t draw_entity(struct graph *g)
{
    uint32_t best = NOTHING;
    unsigned least = 0;

    for (unsigned i = 0; i < TRIES && (best == NOTHING || least); i++) {
        const struct fenwick *from = g->weights.total ? &g->weights : &g->others;
        uint32_t e = fenwick_find(from, draw_below(g, from->total));
        unsigned missed = misses(g, e);

        if (best == NOTHING || missed < least) {
            best = e;
            least = missed;
        }
    }
    return best;
}

/* Whether the reference names a class, or nothing, which becomes a class. */
static bool names_class(struct graph *g, const struct profile_slot *s)
{
    uint32_t i = graph_draw_of(g, s->to, 0);

    if (i == NOTHING || (int64_t)g->p->numbers[s->to.first + i].value >= TO_REST)
        return false;
    g->numbers_left[s->to.first + i]--;
    return true;
}

static struct graph_target a_class(struct graph *g)
{
    uint32_t first = 0;

    while (first < g->p->class_count && g->p->classes[first].number < PRIMITIVES)
        first++;
    if (first == g->p->class_count)
        return (struct graph_target){TARGET_NULL, 0};
    return (struct graph_target){TARGET_CLASS, first + draw_below(g, g->p->class_count - first)};
}

struct graph_target graph_reference(struct graph *g, uint32_t slot)
{
    const struct profile_slot *s = &g->p->slots[slot];
    uint64_t *set = &g->slots_left[2 * slot], *nulls = set + 1, object;

    if (draw_below(g, *set + *nulls) < *nulls || *set == 0) {
        *nulls -= *nulls > 0;
        return (struct graph_target){TARGET_NULL, 0};
    }
    if (!s->to.count) { /* a few objects that were not in the sample */
        --*set;
        object = below(mix_of(g->key, slot, draw_below(g, UNSAMPLED)), g->at < FIRST ? g->at : FIRST);
        return (struct graph_target){TARGET_OBJECT, object};
    }
    if (names_class(g, s)) {
        --*set;
        return a_class(g);
    }
    object = graph_find_object(g, s);
    if (object == NOTHING && *nulls) { /* it is another object that has no null */
        --*nulls;
        return (struct graph_target){TARGET_NULL, 0};
    }
    if (object == NOTHING)
        object = graph_find_anywhere(g, s);
    --*set;
    if (object == NOTHING)
        return (struct graph_target){TARGET_NULL, 0};
    graph_name(g, object);
    return (struct graph_target){TARGET_OBJECT, object};
}

/* ---- Passes ---- */

void graph_begin(struct graph *g)
{
    const struct heap_profile *p = g->p;

    g->draws = 0;
    g->at = 0;
    memcpy(g->numbers_left, g->of_numbers, p->number_count * sizeof *g->numbers_left);
    memcpy(g->slots_left, g->of_slots, 2 * (size_t)p->slot_count * sizeof *g->slots_left);
    fenwick_clear(&g->weights, 2 * p->class_count);
    fenwick_clear(&g->others, 2 * p->class_count);
    for (uint32_t i = 0; i < g->follower_count; i++)
        g->followers_left[i] = g->followers[i].count;
    memset(g->weight, 0, 2 * (size_t)p->class_count * sizeof *g->weight);
    memset(g->left, 0, p->class_count * sizeof *g->left);
    for (uint32_t c = 0; c < p->class_count; c++) {
        g->left[c].free[0] = g->fixed[c].counts[0];
        g->left[c].free[1] = g->fixed[c].counts[1];
        g->left[c].ahead = g->fixed[c].ahead;
        g->left[c].tree = NOTHING;
        fenwick_add(&g->others, 2 * c, g->left[c].free[0]);
        fenwick_add(&g->others, 2 * c + 1, g->left[c].free[1]);
        graph_weigh(g, c);
    }
    for (uint64_t i = 0; i < g->count; i++) {
        g->entity[i] = NOTHING;
        g->next_free[i] = (uint32_t)i;
    }
}

/* Objects that are to refer to this one from near. */
static void place_followers(struct graph *g, uint32_t class)
{
    const struct fixed *f = &g->fixed[class];
    uint64_t objects = f->counts[0] + f->counts[1] - g->left[class].members;

    for (uint32_t i = f->first_follower; i < f->first_follower + f->followers; i++) {
        const struct follower *follower = &g->followers[i];
        struct left *l = &g->left[follower->class];
        struct span span;
        uint64_t place;

        if (draw_below(g, objects) >= g->followers_left[i] || !l->free[0] || !span_of(g, follower->bits, &span))
            continue;
        place = graph_free_place(g, follower->class, span);
        if (place == NOTHING)
            continue;
        g->followers_left[i]--;
        l->ahead -= l->ahead > 0;
        graph_settle(g, place, 2 * follower->class, false);
    }
}

void graph_next(struct graph *g)
{
    uint64_t object = g->at++;
    uint32_t class;

    if (g->entity[object] == NOTHING)
        graph_settle(g, object, draw_entity(g), false);
    class = g->entity[object] / 2;
    place_followers(g, class);
    g->members[g->fixed[class].first_member + g->left[class].members++] = (uint32_t)object;
}

/* References of an object. */
static void skip_references(struct graph *g, uint64_t *arrays)
{
    uint32_t entity = g->entity[g->at - 1];
    const struct profile_class *class = &g->p->classes[entity / 2];

    if (entity % 2 == 0) {
        for (uint32_t s = 0; s < class->slots; s++)
            graph_reference(g, class->first_slot + s);
    } else if (class->element_slot >= 0) {
        for (uint64_t left = graph_length(g, entity / 2, arrays[entity / 2]++); left; left--)
            graph_reference(g, (uint32_t) class->element_slot);
    }
}

/* What static fields name: objects that lack references after all others. */
static void draw_statics(struct graph *g)
{
    const struct heap_profile *p = g->p;

    for (uint32_t c = 0; c < p->class_count; c++)
        for (uint32_t i = 0; i < p->classes[c].static_slots; i++) {
            uint32_t slot = p->classes[c].first_static_slot + i;
            const struct profile_slot *s = &p->slots[slot];
            struct graph_target *target = &g->statics[slot];
            uint32_t to = graph_draw_of(g, s->to, 0);
            int64_t class = to == NOTHING ? TO_CLASS : (int64_t)p->numbers[s->to.first + to].value;
            struct span all = {0, g->count - 1};
            uint64_t object = NOTHING;

            if (!s->set)
                continue;
            if (class >= 0 && g->count) {
                object = graph_find_lacking(g, (uint32_t) class, all);
                object = object != NOTHING ? object : graph_find_placed(g, (uint32_t) class, all);
            } else if (class == TO_REST && g->count) {
                object = draw_below(g, g->count);
            }
            *target = object != NOTHING ? (struct graph_target){TARGET_OBJECT, object} : a_class(g);
            if (object != NOTHING)
                graph_name(g, object);
        }
}

static bool allocate(struct graph *g)
{
    const struct heap_profile *p = g->p;
    size_t classes = p->class_count + (size_t)1, objects = g->count + 1;

    g->fixed = calloc(classes, sizeof *g->fixed);
    g->left = calloc(classes, sizeof *g->left);
    g->of_numbers = calloc(p->number_count + (size_t)1, sizeof *g->of_numbers);
    g->numbers_left = calloc(p->number_count + (size_t)1, sizeof *g->numbers_left);
    g->of_slots = calloc(2 * (p->slot_count + (size_t)1), sizeof *g->of_slots);
    g->slots_left = calloc(2 * (p->slot_count + (size_t)1), sizeof *g->slots_left);
    g->weights.sums = calloc(2 * classes, sizeof *g->weights.sums);
    g->others.sums = calloc(2 * classes, sizeof *g->others.sums);
    g->weight = calloc(2 * classes, sizeof *g->weight);
    g->statics = calloc(p->slot_count + (size_t)1, sizeof *g->statics);
    g->entity = malloc(objects * sizeof *g->entity);
    g->lacks = calloc(objects, sizeof *g->lacks);
    g->next_free = malloc(objects * sizeof *g->next_free);
    g->members = malloc(objects * sizeof *g->members);
    g->lower = malloc(objects * sizeof *g->lower);
    g->higher = malloc(objects * sizeof *g->higher);
    return g->fixed && g->left && g->of_numbers && g->numbers_left && g->of_slots && g->slots_left && g->weights.sums &&
           g->others.sums && g->weight && g->statics && g->entity && g->lacks && g->next_free && g->members && g->lower &&
           g->higher;
}

struct graph *graph_new(const struct heap_profile *p, uint64_t objects, uint64_t seed)
{
    struct graph *g = calloc(1, sizeof *g);
    uint64_t *arrays = calloc(p->class_count + (size_t)1, sizeof *arrays);

    if (!g || !arrays)
        goto failed;
    g->p = p;
    g->key = mix(seed * 0x9E3779B97F4A7C15U + 1);
    g->count = objects;
    if (!allocate(g) || !graph_prepare(g, objects))
        goto failed;
    graph_begin(g);
    while (g->at < g->count) {
        graph_next(g);
        skip_references(g, arrays);
    }
    draw_statics(g);
    free(arrays);
    return g;
failed:
    free(arrays);
    graph_free(g);
    return NULL;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    free(g->fixed);
    free(g->left);
    free(g->of_numbers);
    free(g->numbers_left);
    free(g->of_slots);
    free(g->slots_left);
    free(g->weights.sums);
    free(g->others.sums);
    free(g->weight);
    free(g->statics);
    free(g->entity);
    free(g->lacks);
    free(g->next_free);
    free(g->members);
    free(g->lower);
    free(g->higher);
    free(g->hubs);
    free(g->followers);
    free(g->followers_left);
    free(g);
}

/* ---- Asking ---- */

uint64_t graph_objects(const struct graph *g)
{
    return g->count;
}

uint64_t graph_count(const struct graph *g, uint32_t class, bool arrays)
{
    return g->fixed[class].counts[arrays];
}

uint32_t graph_class(const struct graph *g, uint64_t object, bool *is_array)
{
    *is_array = g->entity[object] % 2;
    return g->entity[object] / 2;
}

struct graph_target graph_static(const struct graph *g, uint32_t slot)
{
    return g->statics[slot];
}

uint64_t graph_instance(const struct graph *g, const char *label, uint64_t n)
{
    for (uint32_t c = 0; c < g->p->class_count; c++) {
        if (!g->fixed[c].counts[0] || !profile_is_a(g->p, c, label))
            continue;
        if (n < g->fixed[c].counts[0])
            return g->members[g->fixed[c].first_member + n];
        n -= g->fixed[c].counts[0];
    }
    return UINT64_MAX;
}
