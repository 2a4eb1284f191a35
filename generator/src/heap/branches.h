/* The nodes of a tree, each an instance and the array of its children. Nodes are numbered level by level, so that the children
 * of a node have consecutive numbers, which follow from the number of the node. Each node except 0 is the child of an earlier
 * one. */
#ifndef HPROF_GEN_BRANCHES_H
#define HPROF_GEN_BRANCHES_H

#include "heap/parts.h"

enum { BRANCH_UNIT = 1000 };

/* The number of the first child, if nodes have `mean` thousandths of a child on average, at least 1000. The children of node k
 * + 1 follow those of node k. */
static inline uint64_t first_child(uint64_t key, uint64_t node, uint64_t mean)
{
    /* The children of node k begin k means after the first, plus a random part of one mean. So a node has 0 to 2 means of
     * children. */
    uint64_t whole = mean / BRANCH_UNIT, part = mean % BRANCH_UNIT;
    uint64_t before = node * whole + node / BRANCH_UNIT * part + node % BRANCH_UNIT * part / BRANCH_UNIT;

    return 1 + before + (node ? below(mix_of(key, node, 20), whole) : 0);
}

/* The last node may have no array. */
static inline uint64_t node_count(const struct model *m)
{
    return (shape_count(m) + 1) / 2;
}

/* The first child, limited to the number of nodes. */
static inline uint64_t first_child_there(const struct model *m, uint64_t node, uint64_t mean)
{
    uint64_t first = first_child(key_of(m), node, mean), count = node_count(m);

    return first < count ? first : count;
}

#endif
