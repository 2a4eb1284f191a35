/* A long chain of superclasses. The instances are of its deepest classes; fields are spread over the chain. */
#include "parts.h"

enum { DEFAULT_DEPTH = 1000, WITH_FIELDS = 32, DEEPEST = 16, TOP = CORE_CLASSES };

static bool prepare(struct model *m)
{
    uint32_t depth, every, names, field_names, last = CORE_OBJECT;

    if (!option_within(m, &m->options.classes, CORE_CLASSES + DEFAULT_DEPTH, CORE_CLASSES + 1, CLASSES_MOST,
                       "--classes of deep: 18 to 10,000,000"))
        return false;
    depth = (uint32_t)m->options.classes - CORE_CLASSES;
    every = (depth + WITH_FIELDS - 1) / WITH_FIELDS;
    names = string_add(m, NAME_NUMBERED, "com/example/deep/Level", 1, depth);
    field_names = string_add(m, NAME_NUMBERED, "level", 1, WITH_FIELDS);
    for (uint32_t i = 0; i < depth; i++) {
        last = class_add_named(m, names + i, last);
        if (last == MODEL_NONE)
            return false;
        if (i % every == 0 && !field_add(m, field_names + i / every, i == 0 ? TYPE_OBJECT : TYPE_INT, VALUE_ANY))
            return false;
    }
    return true;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    uint32_t depth = m->class_count - TOP, deepest = depth < DEEPEST ? depth : DEEPEST;

    be_instance(o, m->class_count - 1 - (uint32_t)((index - shape_first(m)) % deepest));
}

/* The only one there is, in the topmost class. */
static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    (void)o;
    (void)slot;
    return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
}

const struct shape shape_deep = {
    .name = "deep",
    .about = "a chain of 1,000 superclasses, or of --classes, whose deepest have instances",
    .takes = SHAPE_TAKES_CLASSES,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
