/* Many threads with deep stacks. Their local variables hold the tasks that they work on. */
#include "heap/stand_in_classes.h"

#define NAME "com/example/threads/Task"

enum { NEXT, OWNER, RESULT, OF_A_TASK };

static bool prepare(struct model *m)
{
    static const char *const fields[] = {"L:next Is:state J:started", "L:next L:owner Is:state J:started",
                                         "L:next L:owner L:result Is:state J:started"};
    struct stand_in_classes *stand_ins = shape_memory(m, sizeof *stand_ins);
    uint64_t whole, more, least = CORE_CLASSES + 1;
    uint32_t task;

    m->of_shape = stand_ins;
    if (!stand_ins || !option_within(m, &m->options.references, OF_A_TASK * (uint64_t)MODEL_UNIT, MODEL_UNIT,
                                     1000 * (uint64_t)MODEL_UNIT, "--references of threads: 1 to 1,000 of a task on average"))
        return false;
    whole = m->options.references / MODEL_UNIT;
    more = m->options.references % MODEL_UNIT;
    least += more > 0;
    if (!option_within(m, &m->options.classes, least, least, CLASSES_MOST,
                       "--classes of threads: 18 to 10,000,000, or from 19 on if --references is no whole number"))
        return false;
    task = class_add_wider(m, NAME, CORE_OBJECT, fields[whole < OF_A_TASK ? whole - 1 : RESULT],
                           whole < OF_A_TASK ? 0 : whole - OF_A_TASK, "L:queue");
    return task != MODEL_NONE && stand_in_classes_add(m, stand_ins, NAME, task, more, m->options.classes);
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    be_instance(o, stand_in_classes_class(m, m->of_shape, index));
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    uint64_t bits = mix_of(key_of(m), index, slot), front = stand_in_classes_front(m->of_shape, o->class);

    if (slot < front)
        return any_or_null(m, index, slot);
    switch (slot - front) {
    case NEXT:
        return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
    case OWNER:
        return m->options.threads ? model_thread_object(m, below(bits, m->options.threads)) : MODEL_NULL;
    case RESULT:
        return bits % 4 ? MODEL_NULL : shape_first(m) + below(bits, shape_count(m));
    default:
        return any_or_null(m, index, slot);
    }
}

const struct shape shape_threads = {
    .name = "threads",
    .about = "1,000 threads, fewer in a small heap, or --threads; 50 frames each, or --stack-depth",
    .takes = SHAPE_TAKES_REFERENCES,
    .threads = 1000,
    .stack_depth = 50,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
