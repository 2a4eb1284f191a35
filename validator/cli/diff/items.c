#include "items.h"

enum {
    TAG_UTF8 = 0x01,
    TAG_LOAD_CLASS = 0x02,
    TAG_FRAME = 0x04,
    TAG_TRACE = 0x05,
    TAG_HEAP_DUMP = 0x0c,
    TAG_HEAP_DUMP_SEGMENT = 0x1c,
    TAG_HEAP_DUMP_END = 0x2c,
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SUB_PRIMITIVE_ARRAY_NODATA = 0xc3,
    RECORD_HEAD = 9
};

const char *const kind_names[KINDS] = {"strings", "loaded classes", "stack frames",  "stack traces",     "other records",
                                       "classes", "instances",      "object arrays", "primitive arrays", "roots"};
const char *const kind_keys[KINDS] = {"strings", "loaded_classes", "frames",        "traces",           "other_records",
                                      "classes", "instances",      "object_arrays", "primitive_arrays", "roots"};

bool holds_heap(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_RECORD &&
           (item->tag == TAG_HEAP_DUMP || item->tag == TAG_HEAP_DUMP_SEGMENT || item->tag == TAG_HEAP_DUMP_END);
}

uint64_t compared_from(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_RECORD ? RECORD_HEAD : 0;
}

uint64_t compared_to(const struct hprof_item *item)
{
    return item->head + item->body;
}

enum kind kind_of_subrecord(uint8_t tag)
{
    switch (tag) {
    case SUB_CLASS_DUMP:
        return KIND_CLASSES;
    case SUB_INSTANCE_DUMP:
        return KIND_INSTANCES;
    case SUB_OBJECT_ARRAY_DUMP:
        return KIND_OBJECT_ARRAYS;
    case SUB_PRIMITIVE_ARRAY_DUMP:
    case SUB_PRIMITIVE_ARRAY_NODATA:
        return KIND_PRIMITIVE_ARRAYS;
    default:
        return KIND_ROOTS;
    }
}

enum kind kind_of(const struct hprof_item *item)
{
    if (item->kind != HPROF_ITEM_RECORD)
        return kind_of_subrecord(item->tag);
    switch (item->tag) {
    case TAG_UTF8:
        return KIND_STRINGS;
    case TAG_LOAD_CLASS:
        return KIND_LOADED_CLASSES;
    case TAG_FRAME:
        return KIND_FRAMES;
    case TAG_TRACE:
        return KIND_TRACES;
    default:
        return KIND_OTHER_RECORDS;
    }
}

bool has_id(enum kind kind)
{
    return kind != KIND_ROOTS && kind != KIND_OTHER_RECORDS;
}

bool have_same_key(const struct hprof_item *a, const struct hprof_item *b)
{
    enum kind kind = kind_of(a);

    return a->kind == b->kind && kind == kind_of(b) && has_id(kind) && a->id == b->id &&
           (a->kind == HPROF_ITEM_RECORD || a->heap_dump == b->heap_dump) &&
           (kind != KIND_TRACES || a->trace_serial == b->trace_serial);
}

uint64_t class_of(const struct hprof_item *item)
{
    switch (kind_of(item)) {
    case KIND_PRIMITIVE_ARRAYS:
        return item->element_type;
    case KIND_CLASSES:
        return item->id;
    default:
        return item->class_id;
    }
}

uint64_t class_counted(const struct hprof_class_count *count)
{
    return count->tag == SUB_PRIMITIVE_ARRAY_DUMP ? count->element_type : count->class_id;
}
