/* One linked list of all objects. */
#include "heap/stand_in_classes.h"

#define NAME "com/example/list/ListNode"

static bool prepare(struct model *m)
{
    struct stand_in_classes *stand_ins = shape_memory(m, sizeof *stand_ins);
    uint64_t more, least = CORE_CLASSES + 1;
    uint32_t node;

    m->of_shape = stand_ins;
    if (!stand_ins || !option_within(m, &m->options.references, MODEL_UNIT, MODEL_UNIT, 1000 * (uint64_t)MODEL_UNIT,
                                     "--references of a list: 1 to 1,000 of a node on average, the next node among them"))
        return false;
    more = m->options.references % MODEL_UNIT;
    least += more > 0;
    if (!option_within(m, &m->options.classes, least, least, CLASSES_MOST,
                       "--classes of a list: 18 to 10,000,000, or from 19 on if --references is no whole number"))
        return false;
    node = class_add_wider(m, NAME, CORE_OBJECT, "L:next I:value", m->options.references / MODEL_UNIT - 1, "L:head Is:length");
    return node != MODEL_NONE && stand_in_classes_add(m, stand_ins, NAME, node, more, m->options.classes);
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    be_instance(o, stand_in_classes_class(m, m->of_shape, index));
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    if (slot != stand_in_classes_front(m->of_shape, o->class))
        return any_or_null(m, index, slot);
    return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
}

const struct shape shape_list = {
    .name = "list",
    .about = "one long linked list",
    .takes = SHAPE_TAKES_REFERENCES,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
