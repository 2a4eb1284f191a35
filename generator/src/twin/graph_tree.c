/* See graph_parts.h: a tree of objects in their order, in which the parent of two has the higher hash (a treap). */
#include "twin/graph_parts.h"

static uint64_t rank_of(uint32_t object)
{
    return mix(object);
}

/* Divides a tree: objects below this one, and the others. */
static void tree_divide(struct graph *g, uint32_t tree, uint32_t object, uint32_t *low, uint32_t *high)
{
    while (tree != NOTHING)
        if (tree < object) {
            *low = tree;
            low = &g->higher[tree];
            tree = *low;
        } else {
            *high = tree;
            high = &g->lower[tree];
            tree = *high;
        }
    *low = *high = NOTHING;
}

void tree_add(struct graph *g, uint32_t *tree, uint32_t object)
{
    while (*tree != NOTHING && rank_of(*tree) > rank_of(object))
        tree = *tree < object ? &g->higher[*tree] : &g->lower[*tree];
    tree_divide(g, *tree, object, &g->lower[object], &g->higher[object]);
    *tree = object;
}

void tree_remove(struct graph *g, uint32_t *tree, uint32_t object)
{
    uint32_t low = g->lower[object], high = g->higher[object];

    while (*tree != object)
        tree = *tree < object ? &g->higher[*tree] : &g->lower[*tree];
    while (low != NOTHING && high != NOTHING)
        if (rank_of(low) > rank_of(high)) {
            *tree = low;
            tree = &g->higher[low];
            low = *tree;
        } else {
            *tree = high;
            tree = &g->lower[high];
            high = *tree;
        }
    *tree = low != NOTHING ? low : high;
}

/* The first object from this one on. */
uint32_t tree_from(const struct graph *g, uint32_t tree, uint64_t object)
{
    uint32_t found = NOTHING;

    while (tree != NOTHING)
        if (tree < object) {
            tree = g->higher[tree];
        } else {
            found = tree;
            tree = g->lower[tree];
        }
    return found;
}

/* The last object before this one. */
uint32_t tree_before(const struct graph *g, uint32_t tree, uint64_t object)
{
    uint32_t found = NOTHING;

    while (tree != NOTHING)
        if (tree >= object) {
            tree = g->lower[tree];
        } else {
            found = tree;
            tree = g->higher[tree];
        }
    return found;
}
