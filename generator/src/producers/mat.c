/* Eclipse MAT, ExportHprof.java (PRODUCERS.md A.6). */
#include "producers/emitter.h"

/* In standard UTF-8. */
enum { STRING_X };
static const char *const strings[] = {"\xf0\x9d\x91\xa5", NULL};
static const struct own_static statics[] = {{STRING_X, 64, CORE_CLASSES, NULL}, {0}};

static const struct own_class classes[] = {{.name = "com.example.Stra\xc3\x9f"
                                                    "e",
                                            .super = CORE_OBJECT},
                                           {.name = NULL}};

/* Its time has another origin, and its thread is undefined. */
static void part_dummy(struct emitter *em)
{
    em->run.pause = 123456789;
    give_dummy_trace(em, 1);
    em->run.pause = 0;
}

static void on_trace(struct emitter *em, struct event *e, uint64_t thread)
{
    (void)em;
    if (thread == UINT64_MAX)
        quirk(e, RULE_STK_011, 1);
}

/* Serial numbers are indexes, from 0. */
static void on_load(struct emitter *em, struct event *e, uint64_t class)
{
    (void)em;
    (void)class;
    if (!e->fields.LOAD_CLASS.class_serial)
        quirk(e, RULE_CLS_002, 1);
}

/* The class of a frame may be unknown. */
static void on_frame(struct emitter *em, struct model_frame *frame, uint64_t number)
{
    (void)em;
    if (number == 0)
        frame->class = MODEL_NONE;
}

static void on_class(struct emitter *em, struct event *e, uint64_t class)
{
    (void)em;
    if (class == CORE_STRING) {
        e->fields.CLASS_DUMP.reserved1 = 1;
        quirk(e, RULE_CLS_013, 1);
    }
}

static void part_frame_of_nobody(struct emitter *em)
{
    struct event e = SUBRECORD_EVENT(ROOT_JAVA_FRAME, ROOT_FRAME);

    e.fields.ROOT_FRAME = (struct ROOT_FRAME){any_object_id(em, 1), 0, -1};
    quirk(&e, RULE_ROOT_004, 1);
    give(em->run.to, &e);
}

static void part_empty_segment(struct emitter *em)
{
    struct event e = event_of(EVENT_OPEN, em->heap_tag, LAYOUT_ID_NONE);

    give_close(em);
    quirk(&e, RULE_REC_010, 1);
    give_record(em, &e);
}

static part *const before[] = {part_class_names, part_loads, part_dummy, part_field_names, part_traces, NULL};
static part *const dump[] = {part_classes, part_objects,        part_threads,       part_frame_of_nobody,
                             part_globals, part_sticky_classes, part_empty_segment, NULL};
static part *const after[] = {NULL};

const struct producer producer_mat = {
    .name = "mat",
    .about = "Eclipse MAT's Export HPROF",
    .profile = "mat",
    .file.versions = 1 << V102,
    .file.id_sizes = 1 << 4 | 1 << 8,
    .file.version = V102,
    .file.id_size = 8,
    .file.segment_size = 1 << 30,
    .numbers.ids4 = {.strings = {1, 1}, .frames = {1, 1}, .objects = {0x1000, 8}},
    .numbers.ids8 = {.strings = {1, 1}, .frames = {1, 1}, .objects = {0x700000000, 16}},
    .numbers.id_limit4 = UINT64_C(1) << 32,
    .numbers.class_start = 0,
    .numbers.thread_start = 2,
    .numbers.trace_start = 1,
    .style.names = NAMES_SOURCE,
    .style.time = TIME_MILLISECONDS,
    .style.traces = TRACE_DUMMY,
    .style.constants = CONSTANTS_NONE,
    .style.lowest_line = 0,
    .style.line_unknown = 0,
    .style.names_threads = true,
    .own.classes = classes,
    .own.strings = strings,
    .own.statics = statics,
    .hooks.on_load = on_load,
    .hooks.on_trace = on_trace,
    .hooks.on_class = on_class,
    .hooks.on_frame = on_frame,
    .parts.before = before,
    .parts.dump = dump,
    .parts.after = after,
};
