/* What a real heap looks like. */
#include "parts.h"

static bool prepare(struct model *m)
{
    (void)m;
    return true;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    if ((index - shape_first(m)) % 2 == 0)
        be_instance(o, CORE_STRING);
    else
        be_primitive_array(o, TYPE_BYTE, 8 + mix_of(key_of(m), index, 0) % 64);
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    (void)o;
    (void)slot;
    return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
}

const struct shape shape_mixed = {
    .name = "mixed",
    .about = "what a real program's heap looks like",
    .takes = SHAPE_TAKES_CLASSES | SHAPE_TAKES_ARRAY_LENGTH | SHAPE_TAKES_STRING_LENGTH,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
