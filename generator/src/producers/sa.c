/* The serviceability agent, HeapHprofBinWriter.java (PRODUCERS.md A.3): "sa" with the quirks of all versions, the others with those
 * of one. */
#include "heap/heap_data.h"
#include "producers/emitter.h"

/* In standard UTF-8. */
enum { STRING_X };
static const char *const strings[] = {"\xf0\x9d\x91\xa5", NULL};
static const struct own_static statics[] = {{STRING_X, 64, CORE_CLASSES, NULL}, {0}};

static const struct own_class classes[] = {{.name = "com/example/Stra\xc3\x9f"
                                                    "e",
                                            .super = CORE_OBJECT},
                                           {.name = NULL}};

static void part_string_zero(struct emitter *em)
{
    struct event e = RECORD_EVENT(UTF8);

    e.body = (const uint8_t *)"";
    quirk(&e, RULE_STR_002, 1);
    give_record(em, &e);
}

/* That of 11 writes the names of a frame with each frame, and the empty one each time. */
static void part_string_zero_twice(struct emitter *em)
{
    struct event again = RECORD_EVENT(UTF8);

    part_string_zero(em);
    again.body = (const uint8_t *)"";
    quirk(&again, RULE_STR_002, 1);
    quirk(&again, RULE_STR_003, 1);
    give_record(em, &again);
}

static void part_dummy_again(struct emitter *em)
{
    struct event e = RECORD_EVENT(TRACE);

    e.fields.TRACE.trace_serial = em->producer->numbers.trace_start;
    e.body = (const uint8_t *)"";
    quirk(&e, RULE_STK_008, 1);
    give_record(em, &e);
}

/* Traces and roots number the threads differently: the last trace names a thread that no root has. */
static void on_trace(struct emitter *em, struct event *e, uint64_t thread)
{
    if (thread != UINT64_MAX && thread + 1 == em->model->options.threads) {
        e->fields.TRACE.thread_serial = thread_serial(em, thread + 5);
        quirk(e, RULE_STK_011, 1);
    }
}

/* Thread roots name the empty trace, so that every frame number is too high. */
static void on_thread(struct emitter *em, struct event *e, uint64_t thread)
{
    (void)thread;
    e->fields.ROOT_THREAD_OBJECT.trace_serial = em->producer->numbers.trace_start;
}

static void on_local(struct emitter *em, struct event *e, uint64_t frame)
{
    (void)em;
    (void)frame;
    if (e->tag == SUB_ROOT_JNI_LOCAL)
        e->fields.ROOT_FRAME.frame = -1;
    else
        quirk(e, RULE_ROOT_005, 1);
}

static part *const before[] = {part_dummy_trace, part_class_names, part_field_names, part_string_zero,
                               part_loads,       part_dummy_again, part_traces,      NULL};
static part *const before_11[] = {part_dummy_trace, part_class_names,       part_field_names, part_loads,
                                  part_dummy_again, part_string_zero_twice, part_traces,      NULL};
static part *const dump[] = {part_classes, part_objects, part_archive, part_threads, part_globals, NULL};
static part *const after[] = {NULL};

/* What no version changed. */
#define SA \
    .profile = "sa", .file.id_sizes = 1 << 4 | 1 << 8, .file.version = V102, .file.id_size = 8, .file.segment_size = 0, \
    .file.compressed_segment_size = 1, \
    .numbers.ids4 = {.strings = {0x1000, 8}, .frames = {1, 1}, .objects = {0x2000, 8}, .references = {0xf0000000, 8}}, \
    .numbers.ids8 = {.strings = {0x7f3a00001000, 16}, \
                     .frames = {1, 1}, \
                     .objects = {0x700000000, 16}, \
                     .references = {0x7f3b00002000, 8}}, \
    .numbers.id_limit4 = UINT64_C(1) << 32, .numbers.class_start = 1, .numbers.thread_start = 1, .numbers.trace_start = 1, \
    .style.names = NAMES_INNER, .style.time = TIME_ZERO, .style.traces = TRACE_DUMMY, .style.constants = CONSTANTS_NONE, \
    .style.lowest_line = -3, .style.names_threads = true, .own.classes = classes, .own.strings = strings, \
    .own.statics = statics, .heap.mirrors = 9, .heap.loaders = 2, .hooks.on_thread = on_thread, .hooks.on_local = on_local, \
    .parts.after = after

const struct producer producer_sa = {
    SA,
    .name = "sa",
    .about = "the serviceability agent: jhsdb jmap --binaryheap, jmap -F",
    .file.versions = 1 << V101 | 1 << V102,
    .heap.archived_mirrors = 3,
    .hooks.on_trace = on_trace,
    .parts.before = before,
    .parts.dump = dump,
};

/* The roots are threads and JNI locals. From 27 on they are also frames and sticky classes. */
static part *const dump_17[] = {part_classes, part_objects, part_threads, NULL};
static part *const dump_21[] = {part_classes, part_objects, part_archive, part_threads, NULL};
static part *const dump_28[] = {part_classes, part_objects, part_threads, part_sticky_classes, NULL};

const struct producer producer_sa_11 = {
    SA,
    .name = "sa-11",
    .about = "that of JDK 11",
    .file.versions = 1 << V102,
    .style.omits_java_frames = true,
    .heap.declared_order = true,
    .heap.idle = &idle_11,
    .parts.before = before_11,
    .parts.dump = dump_17,
};

const struct producer producer_sa_17 = {
    SA,
    .name = "sa-17",
    .about = "that of JDK 17",
    .file.versions = 1 << V102,
    .style.omits_java_frames = true,
    .heap.declared_order = true,
    .heap.idle = &idle_17,
    .parts.before = before,
    .parts.dump = dump_17,
};

const struct producer producer_sa_21 = {
    SA,
    .name = "sa-21",
    .about = "that of JDK 21",
    .file.versions = 1 << V102,
    .style.omits_java_frames = true,
    .heap.declared_order = true,
    .heap.idle = &idle_21,
    .heap.virtual_threads = VIRTUAL_ON_CARRIERS,
    .heap.archived_mirrors = 956,
    .parts.before = before,
    .parts.dump = dump_21,
};

const struct producer producer_sa_25 = {
    SA,
    .name = "sa-25",
    .about = "that of JDK 25",
    .file.versions = 1 << V102,
    .style.omits_java_frames = true,
    .heap.declared_order = true,
    .heap.idle = &idle_25,
    .heap.virtual_threads = VIRTUAL_ON_CARRIERS,
    .heap.archived_mirrors = 1167,
    .parts.before = before,
    .parts.dump = dump_21,
};

const struct producer producer_sa_28 = {
    SA,
    .name = "sa-28",
    .about = "that of JDK 28",
    .file.versions = 1 << V102,
    .heap.declared_order = true,
    .heap.idle = &idle_28,
    .heap.virtual_threads = VIRTUAL_ON_CARRIERS,
    .parts.before = before,
    .parts.dump = dump_28,
};
