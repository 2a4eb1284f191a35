/* GraalVM native images, HeapDumpWriter.java (PRODUCERS.md A.5). */
#include "producers/emitter.h"

enum { STRING_EMPTY };
static const char *const strings[] = {"", NULL};

enum { CLASS_ISOLATES, CLASS_GONE, CLASS_INT };
static const struct own_class classes[] = {
    {.name = "com.oracle.svm.core.Isolates", .super = CORE_OBJECT},
    {.name = "com.oracle.svm.core.hub.DynamicHubCompanion", .super = CORE_OBJECT, .absent = true},
    {.name = "int", .super = MODEL_NONE},
    {.name = NULL}};

/* No signatures. Each frame has its names written again. */
static void on_frame(struct emitter *em, struct model_frame *frame, uint64_t number)
{
    (void)number;
    frame->signature = own_string(em, STRING_EMPTY);
    give_string(em, frame->method);
    give_string(em, frame->signature);
    if (frame->source != MODEL_NONE)
        give_string(em, frame->source);
}

/* A thread that is not yet up has no object. */
static void on_thread(struct emitter *em, struct event *e, uint64_t thread)
{
    if (thread && thread + 1 == em->model->options.threads)
        e->fields.ROOT_THREAD_OBJECT.object_id = 0;
}

/* The size of the allocation: hub, monitor and hash besides the fields, rounded up to a multiple of 8. */
static void on_class(struct emitter *em, struct event *e, uint64_t class)
{
    struct CLASS_DUMP *r = &e->fields.CLASS_DUMP;
    uint32_t bytes = r->instance_size;

    if (class == own_class(em, CLASS_INT) || (class < em->model->class_count && em->model->classes[class].element))
        return;
    r->instance_size = (em->id_size + 4 + bytes + 7) / 8 * 8;
    quirk(e, RULE_CLS_017, 1);
}

/* The hub of a class is its java.lang.Class object, and is dumped as an instance. */
static void part_hubs(struct emitter *em)
{
    const struct hot_class *hot = &em->hot[CORE_CLASS];

    for (uint32_t c = 0; c < em->counts.companions && !*em->run.stop; c++) {
        struct event hub = SUBRECORD_EVENT(INSTANCE_DUMP, INSTANCE_DUMP);

        hub.fields.INSTANCE_DUMP = (struct INSTANCE_DUMP){.object_id = class_id(em, c) - em->producer->numbers.class_offset,
                                                          .trace_serial = hot->trace,
                                                          .class_id = hot->id,
                                                          .bytes = hot->bytes};
        memset(em->room, 0, hot->bytes);
        hub.body = em->room;
        hub.body_size = hot->bytes;
        hub.references = hub.nulls = hot->references;
        give(em->run.to, &hub);
    }
}

static void part_sticky_gone(struct emitter *em)
{
    give_root_of_nothing(em, SUB_ROOT_STICKY_CLASS, class_id(em, own_class(em, CLASS_GONE)));
}

static part *const before[] = {part_class_names, part_field_names, part_loads, part_dummy_trace, part_traces, NULL};
static part *const dump[] = {part_classes,        part_threads,       part_globals,
                             part_sticky_classes, part_sticky_arrays, part_sticky_gone,
                             part_hubs,           part_objects,       NULL};
static part *const after[] = {NULL};

const struct producer producer_graalvm = {
    .name = "graalvm",
    .about = "GraalVM native images",
    .profile = "graalvm",
    .file.versions = 1 << V102,
    .file.id_sizes = 1 << 4 | 1 << 8,
    .file.version = V102,
    .file.id_size = 8,
    .file.segment_size = 1 << 20,
    .numbers.ids4 = {.strings = {1, 1}, .frames = {1, 1}, .objects = {0x1000, 8}},
    .numbers.ids8 = {.strings = {1, 1}, .frames = {1, 1}, .objects = {0x7f5a00000000, 16}},
    .numbers.id_limit4 = UINT64_C(1) << 32,
    .numbers.class_offset = 1, /* the ID of a class is the address of its hub, plus 1 */
    .numbers.class_start = 1,
    .numbers.thread_start = 1,
    .numbers.trace_start = 1,
    .style.names = NAMES_DOTTED,
    .style.time = TIME_ZERO,
    .style.traces = TRACE_DUMMY,
    .style.constants = CONSTANTS_NONE,
    .style.lowest_line = -3,
    .style.names_threads = true,
    .own.classes = classes,
    .own.strings = strings,
    .heap.companion_objects = true,
    .hooks.on_frame = on_frame,
    .hooks.on_thread = on_thread,
    .hooks.on_class = on_class,
    .parts.before = before,
    .parts.dump = dump,
    .parts.after = after,
};
