/* One list, as long as there are objects. */
#include "parts.h"

static bool prepare(struct model *m)
{
    return class_add(m, "com/example/list/ListNode", CORE_OBJECT, "L:next I:value", "L:head Is:length") != MODEL_NONE;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    (void)m;
    (void)index;
    be_instance(o, CORE_CLASSES);
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    (void)o;
    (void)slot;
    return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
}

const struct shape shape_list = {
    .name = "list",
    .about = "one long linked list",
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
