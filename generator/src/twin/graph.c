/* See graph.h: passes over the objects. */
#include <stdlib.h>

#include "twin/graph_parts.h"

/* ---- References ---- */

/* Whether the reference names a class, or nothing, which becomes a class. */
static bool names_class(struct graph *g, const struct profile_slot *s)
{
    uint32_t i = graph_draw_of(g, s->to, 0);

    if (i == NOTHING || value_at(g, s->to.first + i) >= TO_REST)
        return false;
    g->layers[FAR].numbers_left[s->to.first + i]--;
    return true;
}

/* The near object that the present one names, in a field or the next element; NOTHING for none. */
static uint64_t near_object(struct graph *g, uint32_t slot)
{
    if (g->entity[g->at - 1] % 2 == 0)
        return graph_near_object(g, slot);
    return g->pending_next < g->pending_count ? g->pending[g->pending_next++] : NOTHING;
}

static struct graph_target draw_reference(struct graph *g, uint32_t slot, bool may_be_null)
{
    const struct profile_slot *s = &g->p->slots[slot];
    uint64_t *set = &g->slots_left[2 * slot], *nulls = set + 1, object = near_object(g, slot);

    if (object != NOTHING)
        return (struct graph_target){TARGET_OBJECT, object};
    if (*set == 0 || (draw_below(&g->draws, *set + *nulls) < *nulls && may_be_null)) {
        *nulls -= *nulls > 0;
        return (struct graph_target){TARGET_NULL, 0};
    }
    --*set;
    if (!s->to.count) { /* a few objects that were not in the sample */
        object = below(mix_of(g->key, slot, draw_below(&g->draws, UNSAMPLED)), g->at < FIRST ? g->at : FIRST);
        return (struct graph_target){TARGET_OBJECT, object};
    }
    if (names_class(g, s))
        return graph_a_class(g);
    object = graph_find_object(g, s);
    return object == NOTHING ? (struct graph_target){TARGET_NULL, 0} : (struct graph_target){TARGET_OBJECT, object};
}

struct graph_target graph_reference(struct graph *g, uint32_t slot)
{
    const struct system_properties *s = &g->properties;
    uint64_t here = g->at - 1;
    bool is_table = here == s->map && slot == s->table_slot;
    struct graph_target target = draw_reference(g, slot, !is_table);

    if (target.kind == TARGET_OBJECT && is_table)
        target.number = s->table;
    if (target.kind == TARGET_OBJECT && here == s->object && slot == s->map_slot)
        target.number = s->map;
    return target;
}

/* ---- Passes ---- */

void graph_begin(struct graph *g)
{
    graph_begin_layers(g);
    graph_begin_far(g);
}

void graph_next(struct graph *g)
{
    uint32_t entity = g->entity[g->at++], class = entity / 2;

    if (entity % 2 && g->p->classes[class].element_slot >= 0)
        graph_near_elements(g, (uint32_t)g->p->classes[class].element_slot, graph_length(g, class, g->arrays[class]++));
}

/* n zeros of a type, which the graph frees; NULL, and then g->blocks.lack, if memory ran out. */
static void *take(struct graph *g, size_t n, size_t size)
{
    void *block = g->blocks.count < BLOCKS_MOST ? calloc(n, size) : NULL;

    if (block)
        g->blocks.at[g->blocks.count++] = block;
    else
        g->blocks.lack = true;
    return block;
}

static bool allocate(struct graph *g)
{
    const struct heap_profile *p = g->p;
    size_t classes = p->class_count + (size_t)1, numbers = p->number_count + (size_t)1, slots = 2 * (p->slot_count + (size_t)1),
           objects = g->count + 1;

    for (struct layer *l = g->layers; l < g->layers + LAYERS; l++) {
        l->numbers = take(g, numbers, sizeof *l->numbers);
        l->numbers_left = take(g, numbers, sizeof *l->numbers_left);
        l->rest = take(g, classes, sizeof *l->rest);
        l->rest_left = take(g, classes, sizeof *l->rest_left);
        l->having = take(g, classes, sizeof *l->having);
        l->having_now = take(g, classes, sizeof *l->having_now);
        l->named = take(g, objects, sizeof *l->named);
        l->named_now = take(g, objects, sizeof *l->named_now);
    }
    g->fixed = take(g, classes, sizeof *g->fixed);
    g->slots = take(g, slots, sizeof *g->slots);
    g->far_slots = take(g, slots, sizeof *g->far_slots);
    g->slots_left = take(g, slots, sizeof *g->slots_left);
    g->there = take(g, numbers, sizeof *g->there);
    g->there_left = take(g, numbers, sizeof *g->there_left);
    g->tried = take(g, numbers, sizeof *g->tried);
    g->found = take(g, numbers, sizeof *g->found);
    g->arrays = take(g, classes, sizeof *g->arrays);
    g->rest.sums = take(g, classes, sizeof *g->rest.sums);
    g->statics = take(g, slots, sizeof *g->statics);
    g->entity = take(g, objects, sizeof *g->entity);
    g->members = take(g, objects, sizeof *g->members);
    g->lengths = take(g, objects, sizeof *g->lengths);
    g->lacks_at_first = take(g, objects, sizeof *g->lacks_at_first);
    g->lacks = take(g, objects, sizeof *g->lacks);
    g->stubs.sums = take(g, objects, sizeof *g->stubs.sums);
    return !g->blocks.lack;
}

struct graph *graph_new(const struct heap_profile *p, uint64_t objects, uint64_t seed)
{
    struct graph *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->p = p;
    g->key = mix(seed * 0x9E3779B97F4A7C15U + 1);
    g->draws.key = mix(g->key - 1);
    g->count = objects;
    if (!allocate(g)) {
        graph_free(g);
        return NULL;
    }
    graph_scale(g, objects);
    if (!graph_lay_out(g)) {
        graph_free(g);
        return NULL;
    }
    graph_prepare_near(g);
    graph_prepare_far(g);
    graph_prepare_system(g);
    return g;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    for (unsigned i = 0; i < g->blocks.count; i++)
        free(g->blocks.at[i]);
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
