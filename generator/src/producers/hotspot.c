/* HotSpot, heapDumper.cpp (PRODUCERS.md A.1), with the quirks of all its versions. */
#include "producers/emitter.h"

/* In modified UTF-8: a character above U+FFFF is a pair of surrogates, and NUL is two bytes. */
enum { STRING_RESOLVED, STRING_INIT_LOCK, STRING_X, STRING_TABLE };
static const char *const strings[] = {"<resolved_references>", "<init_lock>", "\xed\xa0\xb5\xed\xb1\xa5", "\xc0\x80 $\xc0\x80",
                                      NULL};

/* A redefined class has the resolved references of each version. */
static const struct own_static statics[] = {{STRING_RESOLVED, 8, 0, NULL},
                                            {STRING_INIT_LOCK, 8, 0, NULL},
                                            {STRING_RESOLVED, 64, 24, NULL},
                                            {STRING_X, 64, CORE_CLASSES, NULL},
                                            {0}};

enum { CLASS_GONE, CLASS_PROXY, CLASS_NOT_ASCII };
static const struct own_class classes[] = {
    [CLASS_GONE] = {.name = "jdk/internal/event/ThreadSleepEvent", .super = CORE_OBJECT, .absent = true},
    [CLASS_PROXY] = {.name = "jdk/proxy1/$Proxy7", .super = CORE_OBJECT},
    [CLASS_NOT_ASCII] = {.name = "com/example/Stra\xc3\x9f"
                                 "e",
                         .super = CORE_OBJECT},
    {.name = NULL}};

static void on_frame(struct emitter *em, struct model_frame *frame, uint64_t number)
{
    leave_out_lines(frame, number, own_class(em, CLASS_PROXY));
}

/* 8 to 17: array classes are loaded again, with new serials. */
static void part_arrays_again(struct emitter *em)
{
    uint32_t serial = class_serial(em, em->counts.class_count), most = serial + 3;

    for (uint32_t c = 0; c < em->model->class_count && serial < most; c++)
        if (em->model->classes[c].element)
            give_load(em, c, serial++);
}

/* With virtual threads. */
static void part_thread_again(struct emitter *em)
{
    uint64_t threads = em->model->options.threads;
    struct event e = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);

    if (!threads)
        return;
    e.fields.ROOT_THREAD_OBJECT = (struct ROOT_THREAD_OBJECT){object_id(em, model_thread_object(em->model, threads - 1)),
                                                              thread_serial(em, threads - 1), thread_trace(em, threads - 1)};
    quirk(&e, RULE_ROOT_002, 1);
    give(em->run.to, &e);
}

/* A thread without Java frames holds its references in frame -1. */
static void part_frameless_local(struct emitter *em)
{
    struct event e = SUBRECORD_EVENT(ROOT_JNI_LOCAL, ROOT_FRAME);

    if (!em->model->options.threads || em->model->options.stack_depth)
        return;
    e.fields.ROOT_FRAME = (struct ROOT_FRAME){any_object_id(em, 1), thread_serial(em, 0), -1};
    give(em->run.to, &e);
}

/* 17 to 28: a sticky class that is not dumped. */
static void part_sticky_gone(struct emitter *em)
{
    give_root_of_nothing(em, SUB_ROOT_STICKY_CLASS, class_id(em, own_class(em, CLASS_GONE)));
}

static part *const before[] = {part_strings, part_loads, part_arrays_again, part_dummy_trace, part_traces, NULL};
static part *const dump[] = {part_classes,         part_objects,        part_archive,     part_threads,
                             part_frameless_local, part_thread_again,   part_monitors,    part_globals,
                             part_root_of_archive, part_sticky_classes, part_sticky_gone, NULL};
static part *const after[] = {NULL};

const struct producer producer_hotspot = {
    .name = "hotspot",
    .about = "HotSpot itself, 8 to 25: jcmd GC.heap_dump, jmap -dump, HeapDumpOnOutOfMemoryError",
    .profile = "hotspot",
    .file.versions = 1 << V101 | 1 << V102,
    .file.id_sizes = 1 << 4 | 1 << 8,
    .file.version = V102,
    .file.id_size = 8,
    .file.segment_size = 1 << 20,
    .numbers.ids4 = {.strings = {0x1000, 8}, .frames = {1, 1}, .objects = {0x2000, 8}, .references = {0xf0000000, 8}},
    .numbers.ids8 = {.strings = {0x7f3a00001000, 16},
                     .frames = {1, 1},
                     .objects = {0x700000000, 16},
                     .references = {0x7f3b00002000, 8}},
    .numbers.id_limit4 = UINT64_C(1) << 32,
    .numbers.class_start = 1,
    .numbers.thread_start = 1,
    .numbers.trace_start = 1,
    .style.names = NAMES_INNER,
    .style.time = TIME_ZERO,
    .style.traces = TRACE_DUMMY,
    .style.constants = CONSTANTS_NONE,
    .style.lowest_line = -3,
    .style.names_threads = true,
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.mirrors = 9,
    .heap.loaders = 2,
    .heap.archived_mirrors = 3,
    .heap.bad_booleans = 1,
    .hooks.on_frame = on_frame,
    .parts.before = before,
    .parts.dump = dump,
    .parts.after = after,
};
