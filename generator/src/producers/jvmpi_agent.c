/* The HPROF agent of JDK 1.2 to 1.4, built on JVMPI (PRODUCERS.md A.2, HISTORY.md C). */
#include "producers/emitter.h"

/* In modified UTF-8: a character above U+FFFF is a pair of surrogates. */
enum { STRING_X };
static const char *const strings[] = {"\xed\xa0\xb5\xed\xb1\xa5", NULL};
static const struct own_static statics[] = {{STRING_X, 64, CORE_CLASSES, NULL}, {0}};

enum { CLASS_UNLOADED, CLASS_NOT_ASCII };
static const struct own_class classes[] = {[CLASS_UNLOADED] = {.name = "gone/Unloaded", .super = CORE_OBJECT, .absent = true},
                                           [CLASS_NOT_ASCII] = {.name = "com/example/Stra\xc3\x9f"
                                                                        "e",
                                                                .super = CORE_OBJECT},
                                           {.name = NULL}};

/* Events that the agent itself requested from JVMPI have no stack. */
static void on_load(struct emitter *em, struct event *e, uint64_t class)
{
    (void)em;
    (void)class;
    e->fields.LOAD_CLASS.trace_serial = 0;
}

static void on_start(struct emitter *em, struct event *e, uint64_t thread)
{
    (void)em;
    (void)thread;
    e->fields.START_THREAD.trace_serial = 0;
}

/* A thread and a JNI reference that the agent does not know. */
static void part_unknown(struct emitter *em)
{
    struct event thread = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);
    struct event global = SUBRECORD_EVENT(ROOT_JNI_GLOBAL, ROOT_JNI_GLOBAL);
    struct event local = SUBRECORD_EVENT(ROOT_JNI_LOCAL, ROOT_FRAME);

    thread.fields.ROOT_THREAD_OBJECT = (struct ROOT_THREAD_OBJECT){0, 0, em->producer->numbers.trace_start};
    quirk(&thread, RULE_ROOT_007, 1);
    give(em->run.to, &thread);
    global.fields.ROOT_JNI_GLOBAL = (struct ROOT_JNI_GLOBAL){0, em->ids.references.base};
    quirk(&global, RULE_ROOT_001, 1);
    give(em->run.to, &global);
    local.fields.ROOT_FRAME = (struct ROOT_FRAME){any_object_id(em, 1), 0, -1};
    quirk(&local, RULE_ROOT_004, 1);
    give(em->run.to, &local);
}

/* JVMPI gives the name of a class as a String, or null; the agent copies it. */
static void on_class(struct emitter *em, struct event *e, uint64_t class)
{
    if (class % 2)
        return;
    e->fields.CLASS_DUMP.reserved1 = any_object_id(em, class);
    quirk(e, RULE_CLS_013, 1);
}

static part *const before[] = {part_settings, part_loads, part_starts, part_field_names, part_dummy_trace, part_traces, NULL};
static part *const dump[] = {part_unknown,  part_threads,       part_globals, part_sticky_classes, part_sticky_arrays,
                             part_monitors, part_unknown_roots, part_classes, part_objects,        NULL};
static part *const beside[] = {part_sites, part_samples, NULL};
static part *const after[] = {part_summary, part_unload, NULL};

const struct producer producer_jvmpi_agent = {
    .name = "jvmpi-agent",
    .about = "the HPROF agent of JDK 1.2 to 1.4: -Xrunhprof:format=b",
    .profile = "jvmpi-agent",
    .file.versions = 1 << V101,
    .file.id_sizes = 1 << 4 | 1 << 8,
    .file.version = V101,
    .file.id_size = 4,
    .records = WRITES_ALL,
    .usual = WRITES_SETTINGS | WRITES_THREADS | WRITES_UNLOADS,
    .always = WRITES_SETTINGS | WRITES_THREADS | WRITES_UNLOADS,
    .numbers.ids4 = {.strings = {0x08100000, 4},
                     .frames = {0x08200000, 4},
                     .objects = {0x10000000, 8},
                     .references = {0x08300000, 4}},
    .numbers.ids8 = {.strings = {0x7f3a00001000, 8},
                     .frames = {0x7f3b00001000, 8},
                     .objects = {0x700000000, 8},
                     .references = {0x7f3c00002000, 8}},
    .numbers.id_limit4 = UINT64_C(1) << 32,
    .numbers.class_start = 1,
    .numbers.thread_start = 1,
    .numbers.trace_start = 1,
    .style.names = NAMES_INNER,
    .style.time = TIME_AGENT,
    .style.traces = TRACE_OF_ALLOCATION,
    .style.constants = CONSTANTS_OBJECTS,
    .style.lowest_line = -3,
    .style.names_threads = true,
    .style.thread_blocks = true,
    .style.cutoff = 0x38d1b717, /* 0.0001 as a float */
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.mirrors = 9,
    .heap.loaders = 2,
    .heap.element_classes = true,
    .hooks.on_load = on_load,
    .hooks.on_start = on_start,
    .hooks.on_class = on_class,
    .parts.before = before,
    .parts.dump = dump,
    .parts.beside = beside,
    .parts.after = after,
};
