/* HotSpot, heapDumper.cpp (PRODUCERS.md A.1), by version. The classes, threads and roots of an idle VM are in heap/idle_*.def. */
#include "heap/heap_data.h"
#include "producers/emitter.h"

/* In modified UTF-8: a character above U+FFFF is a pair of surrogates, and NUL is two bytes. */
enum { STRING_X, STRING_TABLE, STRING_RESOLVED, STRING_INIT_LOCK };
#define STRINGS "\xed\xa0\xb5\xed\xb1\xa5", "\xc0\x80 $\xc0\x80"
static const char *const strings_8[] = {STRINGS, NULL};
static const char *const strings[] = {STRINGS, "<resolved_references>", "<init_lock>", NULL};

/* From 10 on. A redefined class has the resolved references of each version. */
static const struct own_static statics_8[] = {{STRING_X, 64, CORE_CLASSES, NULL}, {0}};
static const struct own_static statics[] = {{STRING_RESOLVED, 8, 0, NULL},
                                            {STRING_INIT_LOCK, 8, 0, NULL},
                                            {STRING_RESOLVED, 64, 24, NULL},
                                            {STRING_X, 64, CORE_CLASSES, NULL},
                                            {0}};

enum { CLASS_PROXY };
#define NOT_ASCII \
    "com/example/Stra\xc3\x9f" \
    "e"
static const struct own_class classes_8[] = {
    {.name = "com/sun/proxy/$Proxy7", .super = CORE_OBJECT}, {.name = NOT_ASCII, .super = CORE_OBJECT}, {.name = NULL}};
static const struct own_class classes[] = {
    {.name = "jdk/proxy1/$Proxy7", .super = CORE_OBJECT}, {.name = NOT_ASCII, .super = CORE_OBJECT}, {.name = NULL}};

static void on_frame(struct emitter *em, struct model_frame *frame, uint64_t number)
{
    leave_out_lines(frame, number, own_class(em, CLASS_PROXY));
}

/* 8 to 17: array classes are loaded again, with new serials. */
static void part_arrays_again(struct emitter *em)
{
    uint32_t serial = class_serial(em, em->counts.class_count);

    for (uint32_t c = 0; c < em->model->class_count && !*em->run.stop; c++)
        if (em->model->classes[c].element)
            give_load(em, c, serial++);
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

static part *const before_8[] = {part_strings, part_loads, part_arrays_again, part_dummy_trace, part_traces, NULL};
static part *const before[] = {part_strings, part_loads, part_dummy_trace, part_traces, NULL};
static part *const dump_8[] = {part_classes,  part_objects, part_threads,        part_frameless_local,
                               part_monitors, part_globals, part_sticky_classes, NULL};
static part *const dump_17[] = {part_classes, part_objects,        part_threads, part_frameless_local,
                                part_globals, part_sticky_classes, NULL};
static part *const dump[] = {part_classes,        part_threads, part_frameless_local, part_globals, part_root_of_archive,
                             part_sticky_classes, part_objects, part_archive,         NULL};
static part *const after[] = {NULL};

/* What no version changed. */
#define HOTSPOT \
    .profile = "hotspot", .file.version = V102, .file.id_sizes = 1 << 4 | 1 << 8, .file.id_size = 8, \
    .file.segment_size = 1 << 20, .numbers.id_limit4 = UINT64_C(1) << 32, .numbers.class_start = 1, .numbers.thread_start = 1, \
    .numbers.trace_start = 1, .style.names = NAMES_INNER, .style.time = TIME_ZERO, .style.traces = TRACE_DUMMY, \
    .style.constants = CONSTANTS_NONE, .style.lowest_line = -3, .style.names_threads = true, .heap.mirrors = 9, \
    .heap.loaders = 2, .hooks.on_frame = on_frame, .parts.after = after
/* Symbols, frames; objects. */
#define IDS(symbols, first_frame) \
    .numbers.ids4 = {.strings = {0x1000, 8}, \
                     .frames = {first_frame, 1}, \
                     .objects = {0x2000, 8}, \
                     .references = {0xf0000000, 8}}, \
    .numbers.ids8 = { \
        .strings = {symbols, 16}, .frames = {first_frame, 1}, .objects = {0x700000000, 16}, .references = {0x7f3b00002000, 8}}

const struct producer producer_hotspot_8 = {
    HOTSPOT,
    IDS(0x7f3a00001000, 1),
    .name = "hotspot-8",
    .about = "HotSpot of JDK 8: jmap -dump, jcmd GC.heap_dump, HeapDumpOnOutOfMemoryError",
    .file.versions = 1 << V101 | 1 << V102,
    .own.classes = classes_8,
    .own.strings = strings_8,
    .own.statics = statics_8,
    .heap.idle = &idle_8,
    .parts.before = before_8,
    .parts.dump = dump_8,
};

const struct producer producer_hotspot_11 = {
    HOTSPOT,
    IDS(0x7f3a00001000, 1),
    .name = "hotspot-11",
    .about = "HotSpot of JDK 11",
    .file.versions = 1 << V102,
    .own.classes = classes_8,
    .own.strings = strings,
    .own.statics = statics,
    .heap.idle = &idle_11,
    .parts.before = before_8,
    .parts.dump = dump_8,
};

const struct producer producer_hotspot_17 = {
    HOTSPOT,
    IDS(0x7f3a00001000, 1),
    .name = "hotspot-17",
    .about = "HotSpot of JDK 17",
    .file.versions = 1 << V102,
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.idle = &idle_17,
    .parts.before = before_8,
    .parts.dump = dump_17,
};

/* With class data sharing. */
const struct producer producer_hotspot_21 = {
    HOTSPOT,
    IDS(0x7f3a00001000, 1),
    .name = "hotspot-21",
    .about = "HotSpot of JDK 21",
    .file.versions = 1 << V102,
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.declared_order = true,
    .heap.idle = &idle_21,
    .heap.virtual_threads = VIRTUAL_ON_CARRIERS,
    .heap.archived_mirrors = 956,
    .parts.before = before,
    .parts.dump = dump,
};

#define HOTSPOT_25 \
    HOTSPOT, IDS(0x39000000, 2), .file.versions = 1 << V102, .own.classes = classes, .own.strings = strings, \
                                 .own.statics = statics, .heap.declared_order = true, .heap.idle = &idle_25, \
                                 .heap.virtual_threads = VIRTUAL_AS_ROOTS, .heap.archived_mirrors = 1167, \
                                 .parts.before = before, .parts.dump = dump

const struct producer producer_hotspot_25 = {
    HOTSPOT_25,
    .name = "hotspot-25",
    .about = "HotSpot of JDK 25",
};

const struct producer producer_hotspot = {
    HOTSPOT_25,
    .name = "hotspot",
    .about = "hotspot-25",
};

const struct producer producer_hotspot_28 = {
    HOTSPOT,
    IDS(0x1f000000, 2),
    .name = "hotspot-28",
    .about = "HotSpot of JDK 28",
    .file.versions = 1 << V102,
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.declared_order = true,
    .heap.idle = &idle_28,
    .heap.virtual_threads = VIRTUAL_AS_ROOTS,
    .heap.archived_mirrors = 1165,
    .parts.before = before,
    .parts.dump = dump,
};
