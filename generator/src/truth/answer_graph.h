/* Which nodes of a graph are reachable from node 0, and which node dominates each: the last one that all paths to it pass. */
#ifndef HPROF_GEN_ANSWER_GRAPH_H
#define HPROF_GEN_ANSWER_GRAPH_H

#include "base/memory.h"

#define NO_NODE UINT32_MAX

struct edge {
    uint32_t from, to;
};

/* Places are those in the order of a search from node 0: a node comes after its dominator. */
struct dominators {
    size_t nodes;    /* of the graph */
    size_t count;    /* those that are reachable, with node 0 */
    uint32_t *node;  /* by place */
    uint32_t *above; /* by place: the place of the dominator; NO_NODE of the first */
};

/* False without memory. */
bool dominators_find(struct dominators *dominators, struct memory *memory, size_t nodes, const struct edge *edges,
                     size_t edge_count);
void dominators_clear(struct dominators *dominators, struct memory *memory);

#endif
