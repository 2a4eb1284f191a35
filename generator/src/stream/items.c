/* See items.h. */
#include "stream/items.h"

#include "stream/encode.h"

/* Whether a layout begins with an ID, or has one that the record is about. */
static bool find_id(const struct event *e, uint64_t *id)
{
    switch (e->layout) {
    case LAYOUT_ID_UTF8:
        *id = e->fields.UTF8.id;
        return true;
    case LAYOUT_ID_LOAD_CLASS:
        *id = e->fields.LOAD_CLASS.class_id;
        return true;
    case LAYOUT_ID_FRAME:
        *id = e->fields.FRAME.id;
        return true;
    case LAYOUT_ID_START_THREAD:
        *id = e->fields.START_THREAD.thread_id;
        return true;
    case LAYOUT_ID_ROOT_OBJECT:
        *id = e->fields.ROOT_OBJECT.object_id;
        return true;
    case LAYOUT_ID_ROOT_JNI_GLOBAL:
        *id = e->fields.ROOT_JNI_GLOBAL.object_id;
        return true;
    case LAYOUT_ID_ROOT_FRAME:
        *id = e->fields.ROOT_FRAME.object_id;
        return true;
    case LAYOUT_ID_ROOT_THREAD:
        *id = e->fields.ROOT_THREAD.object_id;
        return true;
    case LAYOUT_ID_ROOT_THREAD_OBJECT:
        *id = e->fields.ROOT_THREAD_OBJECT.object_id;
        return true;
    case LAYOUT_ID_ROOT_JNI_MONITOR:
        *id = e->fields.ROOT_JNI_MONITOR.object_id;
        return true;
    case LAYOUT_ID_CLASS_DUMP:
        *id = e->fields.CLASS_DUMP.class_id;
        return true;
    case LAYOUT_ID_INSTANCE_DUMP:
        *id = e->fields.INSTANCE_DUMP.object_id;
        return true;
    case LAYOUT_ID_OBJECT_ARRAY_DUMP:
        *id = e->fields.OBJECT_ARRAY_DUMP.object_id;
        return true;
    case LAYOUT_ID_PRIMITIVE_ARRAY_DUMP:
        *id = e->fields.PRIMITIVE_ARRAY_DUMP.object_id;
        return true;
    case LAYOUT_ID_PRIMITIVE_ARRAY_NODATA:
        *id = e->fields.PRIMITIVE_ARRAY_NODATA.object_id;
        return true;
    case LAYOUT_ID_NONE:
    case LAYOUT_ID_UNLOAD_CLASS:
    case LAYOUT_ID_TRACE:
    case LAYOUT_ID_ALLOC_SITES:
    case LAYOUT_ID_SITE:
    case LAYOUT_ID_HEAP_SUMMARY:
    case LAYOUT_ID_END_THREAD:
    case LAYOUT_ID_CPU_SAMPLES:
    case LAYOUT_ID_SAMPLE:
    case LAYOUT_ID_CONTROL_SETTINGS:
    case LAYOUT_ID_CONSTANT:
    case LAYOUT_ID_STATIC_FIELD:
    case LAYOUT_ID_INSTANCE_FIELD:
    case LAYOUT_ID_HEAP_DUMP_INFO:
        break;
    }
    return false;
}

static void report(struct items *s, const struct event *e, uint64_t size)
{
    struct item item = {.at = s->at, .size = size, .tag = e->tag, .in_heap = e->kind == EVENT_SUBRECORD};

    item.has_id = find_id(e, &item.id);
    s->at += size;
    s->watch->item(s->watch, &item);
}

/* Instances and arrays: the ID follows the tag. */
static void report_batch(struct items *s, const struct event *e)
{
    const uint8_t *p = e->body;

    for (uint32_t i = 0; i < e->count; p += e->sizes[i++]) {
        struct item item = {.at = s->at,
                            .size = e->sizes[i],
                            .id = get_id(p + 1, s->stage.id_size),
                            .has_id = true,
                            .in_heap = true,
                            .tag = *p};

        s->at += e->sizes[i];
        s->watch->item(s->watch, &item);
    }
}

static void take(struct stage *stage, struct event *e)
{
    struct items *s = (struct items *)stage;

    switch (e->kind) {
    case EVENT_HEADER:
        s->at = 0;
        report(s, e, fixed_part_size(e, stage->id_size));
        break;
    case EVENT_OPEN:
        report(s, e, RECORD_HEADER_SIZE);
        break;
    case EVENT_RECORD:
    case EVENT_SUBRECORD:
        report(s, e, fixed_part_size(e, stage->id_size) + e->body_size);
        break;
    case EVENT_BATCH:
        report_batch(s, e);
        break;
    case EVENT_RAW:
        s->at += e->body_size;
        break;
    case EVENT_CLOSE:
        if (s->watch->heap_end)
            s->watch->heap_end(s->watch, s->at);
        break;
    case EVENT_PART: /* counted with its event */
    case EVENT_END:
        break;
    }
    if (stage->next)
        give(stage->next, e);
}

void items_init(struct items *s, struct stage *next, struct item_watch *watch, unsigned id_size)
{
    *s = (struct items){.stage = {.take = take, .next = next, .id_size = id_size}, .watch = watch};
}

const char *item_name(const struct item *item)
{
    if (!item->in_heap) {
        switch (item->tag) {
        case 0:
            return "HEADER";
#define RECORD(name, tag, since, clause, layout) \
    case tag: \
        return #name;
#include "format/records.def"
#undef RECORD
        default:
            return "undefined";
        }
    }
    switch (item->tag) {
#define SUBRECORD(name, tag, since, clause, layout) \
    case tag: \
        return #name;
#include "format/records.def"
#undef SUBRECORD
    default:
        return "undefined";
    }
}
