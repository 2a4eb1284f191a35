/* See source_converted.h. SPEC.md 6.8. */
#include "stream/source_converted.h"

#include <stdlib.h>
#include <string.h>

struct converted {
    struct source source;
    struct source *from;
    struct stage stage;
    struct event open; /* of a heap dump record that waits for its first sub-record */
    bool is_waiting;
};

static void give_sub(struct converted *c, struct event *e)
{
    if (c->is_waiting)
        give(c->stage.next, &c->open);
    c->is_waiting = false;
    give(c->stage.next, e);
}

static void give_root(struct converted *c, uint8_t tag, uint64_t object_id)
{
    struct event root = event_of(EVENT_SUBRECORD, tag, LAYOUT_ID_ROOT_OBJECT);

    root.fields.ROOT_OBJECT.object_id = object_id;
    give_sub(c, &root);
}

static void give_empty_array(struct converted *c, const struct event *e)
{
    struct event array = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP);

    array.fields.PRIMITIVE_ARRAY_DUMP = e->fields.PRIMITIVE_ARRAY_DUMP;
    array.fields.PRIMITIVE_ARRAY_DUMP.elements = 0;
    give_sub(c, &array);
}

static void convert_subrecord(struct converted *c, struct event *e)
{
    switch (e->tag) {
    case SUB_HEAP_DUMP_INFO:
    case SUB_ROOT_UNREACHABLE:
        return;
    case SUB_ROOT_INTERNED_STRING:
    case SUB_ROOT_FINALIZING:
    case SUB_ROOT_DEBUGGER:
    case SUB_ROOT_REFERENCE_CLEANUP:
    case SUB_ROOT_VM_INTERNAL:
        give_root(c, SUB_ROOT_UNKNOWN, e->fields.ROOT_OBJECT.object_id);
        return;
    case SUB_ROOT_JNI_MONITOR:
        give_root(c, SUB_ROOT_MONITOR_USED, e->fields.ROOT_JNI_MONITOR.object_id);
        return;
    case SUB_PRIMITIVE_ARRAY_NODATA:
        give_empty_array(c, e);
        return;
    default:
        give_sub(c, e);
    }
}

/* A heap dump record of which nothing is left is left out. */
static void close_record(struct converted *c, struct event *e)
{
    if (!c->is_waiting)
        give(c->stage.next, e);
    c->is_waiting = false;
}

static void take(struct stage *stage, struct event *e)
{
    struct converted *c = (struct converted *)((char *)stage - offsetof(struct converted, stage));

    switch (e->kind) {
    case EVENT_HEADER:
        memcpy(e->header.text, HEADER_MAGIC "2", HEADER_STRING_SIZE);
        give(stage->next, e);
        return;
    case EVENT_OPEN:
        c->open = *e;
        c->is_waiting = true;
        return;
    case EVENT_SUBRECORD:
        convert_subrecord(c, e);
        return;
    case EVENT_CLOSE:
        close_record(c, e);
        return;
    case EVENT_BATCH:
    case EVENT_RAW:
        give_sub(c, e);
        return;
    default:
        give(stage->next, e);
    }
}

static bool run(struct source *source, struct stage *first, const bool *stop)
{
    struct converted *c = (struct converted *)source;
    bool is_done;

    c->stage.next = first;
    c->stage.id_size = source->id_size;
    c->is_waiting = false;
    c->from->detail = source->detail;
    c->from->longest_heap_record = source->longest_heap_record;
    is_done = c->from->run(c->from, &c->stage, stop);
    source->failure = c->from->failure;
    source->malformed = c->from->malformed;
    source->longest_heap_record = c->from->longest_heap_record;
    return is_done;
}

static void free_source(struct source *source)
{
    struct converted *c = (struct converted *)source;

    c->from->free(c->from);
    free(c);
}

struct source *source_converted_new(struct source *from)
{
    struct converted *c = calloc(1, sizeof *c);

    if (!c) {
        from->free(from);
        return NULL;
    }
    c->source = *from;
    c->source.run = run;
    c->source.free = free_source;
    c->source.version = V102;
    c->from = from;
    c->stage.take = take;
    return &c->source;
}
