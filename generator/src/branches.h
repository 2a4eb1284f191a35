/* Nodes, each an instance and the array of those that it names. They are those of a tree, numbered level by level: each node's
 * children have numbers in a row, so that who they are is a function of the node's number, and each node but 0 is the child of one
 * before it. */
#ifndef HPROF_GEN_BRANCHES_H
#define HPROF_GEN_BRANCHES_H

#include "parts.h"

enum { BRANCH_UNIT = 1000 };

/* The first child's number, if each node has `mean` thousandths of children on average, at least 1. Those of node k end where
 * those of node k + 1 begin. */
static inline uint64_t first_child(uint64_t key, uint64_t node, uint64_t mean)
{
    /* Node k's children begin after those of k others, and up to a mean's worth later: so none has less than 0 or more than two
     * means' worth. */
    uint64_t whole = mean / BRANCH_UNIT, part = mean % BRANCH_UNIT;
    uint64_t before = node * whole + node / BRANCH_UNIT * part + node % BRANCH_UNIT * part / BRANCH_UNIT;

    return 1 + before + (node ? below(mix_of(key, node, 20), whole) : 0);
}

/* The last one may have no array. */
static inline uint64_t node_count(const struct model *m)
{
    return (shape_count(m) + 1) / 2;
}

/* The first child of those that there are, or as many as there are nodes. */
static inline uint64_t first_child_there(const struct model *m, uint64_t node, uint64_t mean)
{
    uint64_t first = first_child(key_of(m), node, mean), count = node_count(m);

    return first < count ? first : count;
}

#endif
