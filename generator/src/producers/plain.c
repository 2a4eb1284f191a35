/* The specification itself: everything that it defines, and nothing that breaks a rule. Only the header of 1.0.3 is an error,
 * except in the profile android. */
#include "producers/emitter.h"

enum { STRING_NUL, STRING_EMPTY, STRING_SURROGATES, STRING_HEAP, STRING_STATIC };
static const char *const strings[] = {"a\xc0\x80z", "", "\xed\xa0\xbd\xed\xb8\x80", "app", "<made up>", NULL};
static const struct own_static statics[] = {{STRING_STATIC, 4, 0, NULL}, {0}};

static const struct own_class classes[] = {{.name = "gone/Unloaded", .super = CORE_OBJECT, .absent = true}, {.name = NULL}};

/* A frame number of -1 for any depth; and the kinds of roots that no other part has. */
static void part_other_roots(struct emitter *em)
{
    struct event local = SUBRECORD_EVENT(ROOT_JNI_LOCAL, ROOT_FRAME), frame = SUBRECORD_EVENT(ROOT_JAVA_FRAME, ROOT_FRAME);

    if (!em->model->options.threads)
        return;
    local.fields.ROOT_FRAME = frame.fields.ROOT_FRAME = (struct ROOT_FRAME){any_object_id(em, 1), thread_serial(em, 0), -1};
    give(em->run.to, &local);
    give(em->run.to, &frame);
    give_root_of_thread(em, SUB_ROOT_NATIVE_STACK, any_object_id(em, 2), 0);
    give_root_of_thread(em, SUB_ROOT_THREAD_BLOCK, any_object_id(em, 3), 0);
}

static void part_info(struct emitter *em)
{
    struct event e = SUBRECORD_EVENT(HEAP_DUMP_INFO, HEAP_DUMP_INFO);

    if (em->version < V103)
        return;
    e.fields.HEAP_DUMP_INFO.heap = 'A';
    e.fields.HEAP_DUMP_INFO.name = named(em, own_string(em, STRING_HEAP));
    give(em->run.to, &e);
}

static void part_android_roots(struct emitter *em)
{
    static const uint8_t tags[] = {SUB_ROOT_INTERNED_STRING,   SUB_ROOT_FINALIZING,  SUB_ROOT_DEBUGGER,
                                   SUB_ROOT_REFERENCE_CLEANUP, SUB_ROOT_VM_INTERNAL, SUB_ROOT_UNREACHABLE};
    struct event e = SUBRECORD_EVENT(ROOT_JNI_MONITOR, ROOT_JNI_MONITOR);

    if (em->version < V103)
        return;
    for (unsigned i = 0; i < sizeof tags; i++)
        give_root(em, tags[i], any_object_id(em, i));
    e.fields.ROOT_JNI_MONITOR.object_id = any_object_id(em, 1);
    e.fields.ROOT_JNI_MONITOR.thread_serial = thread_serial(em, 0);
    if (em->model->options.threads)
        give(em->run.to, &e);
}

static part *const before[] = {part_strings, part_settings, part_loads, part_dummy_trace, part_traces, part_starts, NULL};
static part *const dump[] = {part_info,          part_classes,        part_threads,  part_other_roots,
                             part_globals,       part_sticky_classes, part_monitors, part_unknown_roots,
                             part_android_roots, part_objects,        NULL};
static part *const after[] = {part_sites, part_samples, part_summary, part_unload, NULL};

const struct producer producer_plain = {
    .name = "plain",
    .about = "no producer, only the specification",
    .profile = "strict",
    .file.versions = 1 << V101 | 1 << V102 | 1 << V103,
    .file.id_sizes = 1 << 4 | 1 << 8,
    .file.version = V102,
    .file.id_size = 8,
    .file.segment_size = 1 << 20,
    .records = WRITES_ALL,
    .usual = WRITES_ALL,
    .numbers.ids4 = {.strings = {1, 1}, .frames = {1, 1}, .objects = {0x1000, 8}, .references = {0x80000000, 8}},
    .numbers.ids8 = {.strings = {1, 1}, .frames = {1, 1}, .objects = {0x100000000, 8}, .references = {0x7f0000000000, 8}},
    .numbers.id_limit4 = UINT64_C(1) << 32,
    .numbers.class_start = 1,
    .numbers.thread_start = 1,
    .numbers.trace_start = 1,
    .style.names = NAMES_INNER,
    .style.time = TIME_MICROSECONDS,
    .style.traces = TRACE_OF_ALLOCATION,
    .style.constants = CONSTANTS_ALL,
    .style.lowest_line = -3,
    .style.names_threads = true,
    .style.thread_blocks = true,
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.leaves_out_elements = true,
    .parts.before = before,
    .parts.dump = dump,
    .parts.after = after,
};
