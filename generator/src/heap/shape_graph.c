/* A random graph: each node is an instance and the array of its neighbours. A binary tree within it makes all nodes reachable;
 * the other neighbours are random. */
#include "heap/branches.h"
#include "heap/stand_in_classes.h"

#define NAME "com/example/graph/GraphNode"

static bool prepare(struct model *m)
{
    struct stand_in_classes *stand_ins = shape_memory(m, sizeof *stand_ins);
    uint32_t node;

    m->of_shape = stand_ins;
    if (!stand_ins || !option_within(m, &m->options.classes, CORE_CLASSES + 2, CORE_CLASSES + 2, CLASSES_MOST,
                                     "--classes of a graph: 19 to 10,000,000"))
        return false;
    node = class_add(m, NAME, CORE_OBJECT, "L:neighbours I:mark J:weight", "L:start");
    if (node == MODEL_NONE || !stand_in_classes_add(m, stand_ins, NAME, node, 0, m->options.classes - 1) ||
        class_add_array(m, node) == MODEL_NONE)
        return false;
    if (!option_within(m, &m->options.references, 4000, 1000, 1000000 * (uint64_t)MODEL_UNIT,
                       "--references of a graph: 1 to 1,000,000 neighbours of a node on average"))
        return false;
    longest_is(m, (2 * (m->options.references / MODEL_UNIT) + 6) * m->options.id_size);
    return true;
}

static uint64_t child(const struct model *m, uint64_t node)
{
    return first_child_there(m, node, 2 * BRANCH_UNIT);
}

/* Each node has one child on average; the rest of the mean is for other neighbours. From 0 to twice the mean. */
static uint64_t other_neighbours(const struct model *m, uint64_t node)
{
    uint64_t mean = m->options.references - MODEL_UNIT, bits = mix_of(key_of(m), node, 21);

    return (below(bits, 2 * mean + 1) + bits % MODEL_UNIT) / MODEL_UNIT;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    uint64_t at = index - shape_first(m), node = at / 2;

    if (at % 2 == 0)
        be_instance(o, stand_in_classes_class(m, m->of_shape, node));
    else
        be_object_array(o, m->class_count - 1, child(m, node + 1) - child(m, node) + other_neighbours(m, node));
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    uint64_t first = shape_first(m), node = (index - first) / 2, from, children;

    if (o->kind == OBJECT_INSTANCE)
        return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
    from = child(m, node);
    children = child(m, node + 1) - from;
    if (slot < children)
        return first + 2 * (from + slot);
    return first + 2 * below(mix_of(key_of(m), index, slot), node_count(m));
}

const struct shape shape_graph = {
    .name = "graph",
    .about = "a random graph, all of it reachable",
    .takes = SHAPE_TAKES_REFERENCES,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
