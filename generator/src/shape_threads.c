/* Many threads with deep stacks, and the tasks that they work on, which are what their local variables hold. */
#include "parts.h"

enum { TASK = CORE_CLASSES };
enum { NEXT, OWNER, RESULT };

static bool prepare(struct model *m)
{
    return class_add(m, "com/example/threads/Task", CORE_OBJECT, "L:next L:owner L:result Is:state J:started", "L:queue") !=
           MODEL_NONE;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    (void)m;
    (void)index;
    be_instance(o, TASK);
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    uint64_t bits = mix_of(key_of(m), index, slot);

    (void)o;
    switch (slot) {
    case NEXT:
        return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
    case OWNER:
        return m->options.threads ? model_thread_object(m, below(bits, m->options.threads)) : MODEL_NULL;
    case RESULT:
    default:
        return bits % 4 ? MODEL_NULL : shape_first(m) + below(bits, shape_count(m));
    }
}

const struct shape shape_threads = {
    .name = "threads",
    .about = "1,000 threads, or --threads, whose stacks are 50 frames deep, or --stack-depth",
    .threads = 1000,
    .stack_depth = 50,
    .prepare = prepare,
    .object = object,
    .reference = reference,
};
