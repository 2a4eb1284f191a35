/* The Android runtime, hprof.cc (PRODUCERS.md A.4), on a device whose clock cannot be read. */
#include "producers/emitter.h"

enum { STRING_ZYGOTE, STRING_APP, STRING_OVERHEAD, STRING_LOADER, STRING_CLASS, STRING_COMPONENT, STRING_EMPTY };
static const char *const strings[] = {
    "zygote", "app", "$classOverhead", "$class$classLoader", "$class$shadow$_klass_", "$class$componentType", "", NULL};

/* A made-up array with the size of the class object besides its fields. Its ID is the next odd one. */
static uint64_t overhead_of(const struct emitter *em, uint32_t class)
{
    return class < em->counts.companions ? class_id(em, class) | 1 : 0;
}

static uint64_t loader_of(const struct emitter *em, uint32_t class)
{
    return object_id(em, model_class_loader(em->model, class));
}

static uint64_t class_of(const struct emitter *em, uint32_t class)
{
    (void)class;
    return class_id(em, CORE_CLASS);
}

enum { CLASS_INT };

/* As if the class of the elements of String[] could not be loaded. */
static uint64_t component_of(const struct emitter *em, uint32_t class)
{
    const struct model_class *array = &em->model->classes[class];

    if (class == CORE_STRING_ARRAY)
        return missing_id(em, 0);
    if (array->element == TYPE_INT)
        return class_id(em, own_class(em, CLASS_INT));
    return array->element == TYPE_OBJECT ? class_id(em, array->element_class) : 0;
}

/* The fields of the class as an object are static fields of the class. */
static const struct own_static statics[] = {{STRING_OVERHEAD, 1, 0, overhead_of},
                                            {STRING_LOADER, 1, 0, loader_of},
                                            {STRING_CLASS, 1, 0, class_of},
                                            {STRING_COMPONENT, 1, 0, component_of},
                                            {0}};

static const struct own_class classes[] = {{.name = "int", .super = MODEL_NONE}, {.name = NULL}};

/* A class without a source file has an empty name for it. */
static void on_frame(struct emitter *em, struct model_frame *frame, uint64_t number)
{
    leave_out_lines(frame, number, frame->class);
    if (frame->source == MODEL_NONE)
        frame->source = own_string(em, STRING_EMPTY);
}

static void part_frame_again(struct emitter *em)
{
    if (em->model->options.threads && em->model->options.stack_depth)
        give_frame(em, 0, 0, RULE_STK_002);
}

static void give_info(struct emitter *em, uint32_t heap, int name)
{
    struct event e = SUBRECORD_EVENT(HEAP_DUMP_INFO, HEAP_DUMP_INFO);

    e.fields.HEAP_DUMP_INFO.heap = heap;
    e.fields.HEAP_DUMP_INFO.name = named(em, own_string(em, name));
    give(em->run.to, &e);
}

static void part_zygote(struct emitter *em)
{
    give_info(em, 'Z', STRING_ZYGOTE);
}

static void part_app(struct emitter *em)
{
    give_info(em, 'A', STRING_APP);
}

static void on_thread(struct emitter *em, struct event *e, uint64_t thread)
{
    e->fields.ROOT_THREAD_OBJECT.trace_serial = UINT32_MAX;
    if (thread == 0 && em->run.dump == 0)
        quirk(e, RULE_STK_012, 1);
}

static void on_local(struct emitter *em, struct event *e, uint64_t frame)
{
    (void)em;
    (void)frame;
    e->fields.ROOT_FRAME.frame = -1;
}

static void before_class(struct emitter *em, uint32_t class)
{
    enum { VTABLE = 11 * 4 }; /* of java.lang.Object; 4 bytes are the field itself */
    static const uint8_t nothing[VTABLE - 4];
    struct event e = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP);

    if (class >= em->counts.companions)
        return;
    e.fields.PRIMITIVE_ARRAY_DUMP =
        (struct PRIMITIVE_ARRAY_DUMP){.object_id = overhead_of(em, class), .elements = sizeof nothing, .type = TYPE_BYTE};
    e.body = nothing;
    e.body_size = sizeof nothing;
    give(em->run.to, &e);
}

/* The size in the heap: the class and the lock word before the fields. */
static void on_class(struct emitter *em, struct event *e, uint64_t class)
{
    if (class == CORE_STRING_ARRAY)
        quirk(e, RULE_REF_002, 1);
    if (class == own_class(em, CLASS_INT) || em->model->classes[class].element)
        return;
    e->fields.CLASS_DUMP.instance_size = (8 + e->fields.CLASS_DUMP.instance_size + 3) / 4 * 4;
    quirk(e, RULE_CLS_017, 1);
}

static void part_other_roots(struct emitter *em)
{
    static const uint8_t tags[] = {SUB_ROOT_INTERNED_STRING, SUB_ROOT_DEBUGGER, SUB_ROOT_VM_INTERNAL};
    struct event e = SUBRECORD_EVENT(ROOT_JNI_MONITOR, ROOT_JNI_MONITOR);

    for (unsigned i = 0; i < sizeof tags; i++)
        give_root(em, tags[i], any_object_id(em, i));
    e.fields.ROOT_JNI_MONITOR.object_id = any_object_id(em, 3);
    e.fields.ROOT_JNI_MONITOR.thread_serial = thread_serial(em, 0);
    if (em->model->options.threads)
        give(em->run.to, &e);
}

/* All strings come first. */
static part *const before[] = {part_class_names, part_field_names, part_frame_names, part_loads,
                               part_dummy_trace, part_traces,      part_frame_again, NULL};
static part *const dump[] = {part_threads,     part_globals, part_sticky_classes, part_sticky_arrays,
                             part_other_roots, part_zygote,  part_classes,        part_app,
                             part_objects,     NULL};
static part *const after[] = {NULL};

const struct producer producer_android = {
    .name = "android",
    .about = "the Android runtime, JAVA PROFILE 1.0.3",
    .profile = "android",
    .file.versions = 1 << V103,
    .file.id_sizes = 1 << 4,
    .file.version = V103,
    .file.id_size = 4,
    .file.segment_size = 4096,
    .file.segment_objects = 128,
    .file.segments_cut = CUT_LATE,
    .file.without_clock = true,
    .file.resets_heap = true,
    .numbers.ids4 = {.strings = {0x400000, 1}, .frames = {0, 1}, .objects = {0x1000, 8}},
    .numbers.id_limit4 = UINT64_C(1) << 32,
    .numbers.class_start = 1,
    .numbers.thread_start = 1,
    .numbers.trace_start = 0,
    .style.names = NAMES_SOURCE,
    .style.time = TIME_ZERO,
    .style.traces = TRACE_NONE,
    .style.constants = CONSTANTS_NONE,
    .style.lowest_line = -3,
    .style.names_threads = true,
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.companion_objects = true,
    .hooks.on_thread = on_thread,
    .hooks.on_local = on_local,
    .hooks.before_class = before_class,
    .hooks.on_frame = on_frame,
    .hooks.on_class = on_class,
    .parts.before = before,
    .parts.dump = dump,
    .parts.after = after,
};
