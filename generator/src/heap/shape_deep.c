/* A long chain of superclasses. Instances are of the deepest classes; fields are spread over the chain. */
#include "heap/parts.h"

enum { DEFAULT_DEPTH = 1000, WITH_FIELDS = 32, DEEPEST = 16 };

struct deep {
    uint32_t
        part; /* share of the instances that are of the deepest class, which has one reference more, in 2^32ths; 0 for none */
};

static bool prepare(struct model *m)
{
    struct deep *x = shape_memory(m, sizeof *x);
    uint32_t depth, every, names, field_names, last = CORE_OBJECT;
    uint64_t whole, more;

    m->of_shape = x;
    if (!x || !option_within(m, &m->options.classes, CORE_CLASSES + DEFAULT_DEPTH, CORE_CLASSES + 1, CLASSES_MOST,
                             "--classes of deep: 18 to 10,000,000"))
        return false;
    if (!option_within(m, &m->options.references, MODEL_UNIT, MODEL_UNIT, 1000 * (uint64_t)MODEL_UNIT,
                       "--references of deep: 1 to 1,000 of an instance on average"))
        return false;
    depth = (uint32_t)m->options.classes - CORE_CLASSES;
    whole = m->options.references / MODEL_UNIT;
    more = m->options.references % MODEL_UNIT;
    if (more && depth == 1)
        return fail(m, "--references of deep: a whole number where --classes leaves room for one class alone");
    x->part = (uint32_t)((more << 32) / MODEL_UNIT);
    every = (depth + WITH_FIELDS - 1) / WITH_FIELDS;
    names = string_add(m, NAME_NUMBERED, "com/example/deep/Level", 1, depth);
    field_names = string_add(m, NAME_NUMBERED, "level", 1, WITH_FIELDS);
    for (uint32_t i = 0; i < depth; i++) {
        last = class_add_named(m, names + i, last);
        if (last == MODEL_NONE)
            return false;
        if (i % every == 0 && !field_add(m, field_names + i / every, i == 0 ? TYPE_OBJECT : TYPE_INT, VALUE_ANY))
            return false;
        if ((i == 0 && !references_add(m, whole - 1)) || (more && i == depth - 1 && !references_add(m, 1)))
            return false;
    }
    return true;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    const struct deep *x = m->of_shape;
    uint32_t depth = m->class_count - first_class_of_shape(m), deepest = depth < DEEPEST ? depth : DEEPEST;
    uint64_t at = index - shape_first(m), above = at % deepest;

    if (x->part)
        above = (uint32_t)even(key_of(m), at) < x->part ? 0 : 1 + at % (deepest - 1);
    be_instance(o, m->class_count - 1 - (uint32_t)above);
}

/* The first reference of the topmost class leads to the next object. In an instance of the deepest class another reference
 * precedes it. */
static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    const struct deep *x = m->of_shape;

    if (slot != (x->part && o->class == m->class_count - 1))
        return any_or_null(m, index, slot);
    return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
}

const struct shape shape_deep = {
    .name = "deep",
    .about = "a chain of 1,000 classes, or of --classes; the lowest ones have instances",
    .takes = SHAPE_TAKES_REFERENCES,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
