/* A tree: each node is an instance and the array of its children. */
#include "branches.h"

enum { NODE = CORE_CLASSES, NODES /* the array class */ };

static bool prepare(struct model *m)
{
    if (class_add(m, "com/example/tree/TreeNode", CORE_OBJECT, "L:children I:value", "L:root") == MODEL_NONE ||
        class_add_array(m, NODE) == MODEL_NONE)
        return false;
    if (!option_within(m, &m->options.references, 3000, 1000, 1000000 * (uint64_t)MODEL_UNIT,
                       "--references of a tree: 1 to 1,000,000 children of a node on average"))
        return false;
    longest_is(m, (2 * (m->options.references / MODEL_UNIT) + 2) * m->options.id_size);
    return true;
}

static uint64_t child(const struct model *m, uint64_t node)
{
    return first_child_there(m, node, m->options.references);
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    uint64_t at = index - shape_first(m), node = at / 2;

    if (at % 2 == 0)
        be_instance(o, NODE);
    else
        be_object_array(o, NODES, child(m, node + 1) - child(m, node));
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    uint64_t first = shape_first(m), node = (index - first) / 2;

    if (o->kind == OBJECT_OBJECT_ARRAY)
        return first + 2 * (child(m, node) + slot);
    return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
}

const struct shape shape_tree = {
    .name = "tree",
    .about = "a tree; --references is how many children a node has",
    .takes = SHAPE_TAKES_REFERENCES,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
