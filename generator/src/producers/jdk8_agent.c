/* The HPROF agent of JDK 5 to 8, hprof_io.c (PRODUCERS.md A.2). */
#include "producers/emitter.h"

/* In modified UTF-8: a character above U+FFFF is a pair of surrogates. */
enum { STRING_X, STRING_SYSTEM, STRING_WATCHER };
static const char *const strings[] = {"\xed\xa0\xb5\xed\xb1\xa5", "system", "HPROF gc_finish watcher", NULL};
static const struct own_static statics[] = {{STRING_X, 64, CORE_CLASSES, NULL}, {0}};

enum { CLASS_UNLOADED, CLASS_UNPREPARED, CLASS_PROXY, CLASS_NOT_ASCII };
static const struct own_class classes[] = {[CLASS_UNLOADED] = {.name = "gone.Unloaded", .super = CORE_OBJECT, .absent = true},
                                           [CLASS_UNPREPARED] = {.name = "late.Unprepared", .super = CORE_THREAD},
                                           [CLASS_PROXY] = {.name = "com.sun.proxy.$Proxy7", .super = CORE_OBJECT},
                                           [CLASS_NOT_ASCII] = {.name = "com.example.Stra\xc3\x9f"
                                                                        "e",
                                                                .super = CORE_OBJECT},
                                           {.name = NULL}};

static void on_frame(struct emitter *em, struct model_frame *frame, uint64_t number)
{
    leave_out_lines(frame, number, own_class(em, CLASS_PROXY));
}

/* Threads start after forty minutes, and the heap is dumped after another forty: the time wraps between. */
static void part_later(struct emitter *em)
{
    em->run.pause = 2400000000;
}

static void part_much_later(struct emitter *em)
{
    em->run.pause = 400000000;
}

/* The end of a thread that lived before the VM was up. */
static void part_end_unstarted(struct emitter *em)
{
    struct event e = RECORD_EVENT(END_THREAD);

    if (!(em->records & WRITES_THREADS))
        return;
    e.fields.END_THREAD.thread_serial = thread_serial(em, em->model->options.threads + 1);
    quirk(&e, RULE_THR_005, 1);
    give_record(em, &e);
}

static void part_unload_unknown(struct emitter *em)
{
    struct event e = RECORD_EVENT(UNLOAD_CLASS);

    if (!(em->records & WRITES_UNLOADS))
        return;
    e.fields.UNLOAD_CLASS.class_serial = class_serial(em, em->counts.class_count) + 99;
    quirk(&e, RULE_CLS_007, 1);
    give_record(em, &e);
}

/* With only cpu=samples, the agent writes only sampled traces. */
static void on_load(struct emitter *em, struct event *e, uint64_t class)
{
    if (em->records & WRITES_SAMPLES && !(em->records & WRITES_SITES) && class + 1 == em->counts.class_count) {
        e->fields.LOAD_CLASS.trace_serial = thread_trace(em, em->model->options.threads);
        quirk(e, RULE_STK_012, 1);
    }
}

/* The main group is in the system group, which is in none. One of the system's threads ends before the heap dump. */
static void on_start(struct emitter *em, struct event *e, uint64_t thread)
{
    struct START_THREAD *r = &e->fields.START_THREAD;
    uint64_t system = named(em, own_string(em, STRING_SYSTEM));

    if (thread < em->model->options.threads) {
        r->parent_group = system;
        return;
    }
    r->name = named(em, own_string(em, STRING_WATCHER));
    r->group = system;
}

static void part_unknown_thread(struct emitter *em)
{
    struct event e = SUBRECORD_EVENT(ROOT_THREAD_OBJECT, ROOT_THREAD_OBJECT);

    e.fields.ROOT_THREAD_OBJECT =
        (struct ROOT_THREAD_OBJECT){0, em->producer->numbers.thread_start - 1, em->producer->numbers.trace_start};
    give(em->run.to, &e);
}

/* Traces are limited in depth, frame numbers are not. */
static void part_frame_beyond(struct emitter *em)
{
    struct event e = SUBRECORD_EVENT(ROOT_JAVA_FRAME, ROOT_FRAME);

    if (!em->model->options.threads || em->model->options.stack_depth > INT32_MAX)
        return;
    e.fields.ROOT_FRAME =
        (struct ROOT_FRAME){any_object_id(em, 1), thread_serial(em, 0), (int32_t)em->model->options.stack_depth};
    quirk(&e, RULE_ROOT_005, 1);
    give(em->run.to, &e);
}

static void part_monitor_gone(struct emitter *em)
{
    give_root_of_nothing(em, SUB_ROOT_MONITOR_USED, missing_id(em, 1));
}

static void on_class(struct emitter *em, struct event *e, uint64_t class)
{
    if (class == own_class(em, CLASS_UNPREPARED)) {
        if (e->fields.CLASS_DUMP.instance_size)
            quirk(e, RULE_CLS_017, 1);
        e->fields.CLASS_DUMP.instance_size = 0;
    } else if (class < em->model->class_count && em->model->classes[class].interface) {
        e->fields.CLASS_DUMP.super_id = 0;
    }
}

static part *const before[] = {
    part_settings,    part_loads,       part_later,  part_starts, part_end_unstarted, part_unload_unknown, part_much_later,
    part_field_names, part_dummy_trace, part_traces, NULL};
static part *const dump[] = {part_unknown_thread, part_threads,       part_frame_beyond, part_globals,
                             part_sticky_classes, part_sticky_arrays, part_monitors,     part_monitor_gone,
                             part_unknown_roots,  part_objects,       part_classes,      NULL};
/* What SIGQUIT requests is written with each heap dump. */
static part *const beside[] = {part_sites, part_samples, NULL};
static part *const after[] = {part_summary, part_unload, NULL};

const struct producer producer_jdk8_agent = {
    .name = "jdk8-agent",
    .about = "the HPROF agent of JDK 5 to 8: -agentlib:hprof=format=b",
    .profile = "jdk8-agent",
    .file.versions = 1 << V101 | 1 << V102,
    .file.id_sizes = 1 << 4,
    .file.version = V101,
    .file.id_size = 4,
    .file.segment_size = 2000000000,
    .file.segments_cut = CUT_MAY_BE_EMPTY,
    .records = WRITES_ALL,
    .usual = WRITES_SETTINGS | WRITES_THREADS | WRITES_UNLOADS,
    .always = WRITES_SETTINGS | WRITES_THREADS | WRITES_UNLOADS,
    .numbers.ids4 = {.strings = {0xa0000001, 1}, .frames = {0x70000001, 1}, .objects = {0x50000001, 1}, .references = {1, 1}},
    .numbers.id_limit4 = 0x60000000,
    .numbers.class_start = 100000,
    .numbers.thread_start = 200001,
    .numbers.trace_start = 300000,
    .style.names = NAMES_SOURCE,
    .style.time = TIME_AGENT,
    .style.traces = TRACE_OF_ALLOCATION,
    .style.constants = CONSTANTS_OBJECTS,
    .style.lowest_line = -1,
    .style.line_unknown = -1,
    .style.thread_blocks = true,
    .style.unknown_site = true,
    .style.asked_flags = 0x8000,
    .style.cutoff = 0xeb1c432d, /* the first half of the double 0.0001, in memory order */
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .heap.mirrors = 9,
    .heap.loaders = 2,
    .heap.cuts_nulls = true,
    .hooks.on_load = on_load,
    .hooks.on_start = on_start,
    .hooks.on_frame = on_frame,
    .hooks.on_class = on_class,
    .parts.before = before,
    .parts.dump = dump,
    .parts.beside = beside,
    .parts.after = after,
};
