/* The sub-records of a heap dump (SPEC.md 6): passes each to its check. */
#include "checks/checker.h"
#include "checks/heap.h"

/* SPEC.md 6.8 HEAP_DUMP_INFO */
static void check_heap_info(struct checker *ck, const struct HEAP_DUMP_INFO *r, uint64_t at)
{
    use_name(ck, r->name, NAME_OF_HEAP, at + OFFSET_OF(HEAP_DUMP_INFO, name, ck->file->id_size));
}

/* SPEC.md 6.8 PRIMITIVE_ARRAY_NODATA */
static void check_nodata(struct checker *ck, const struct PRIMITIVE_ARRAY_NODATA *r, uint64_t at)
{
    check_object_head(ck, r->object_id, r->trace_serial, KIND_PRIMITIVE_ARRAY, at);
    if (!type_is_primitive(r->type))
        report(ck, RULE_OBJ_008, at + OFFSET_OF(PRIMITIVE_ARRAY_NODATA, type, ck->file->id_size), "4 to 11", "%u", r->type);
}

/* Checks a sub-record that is neither an instance nor an array; all its bytes are in the window. */
static void check_small(struct checker *ck, uint64_t size)
{
    const uint8_t *p = ck->in->at + 1;
    struct cursor c = {p, p + size - 1};
    uint64_t at = ck->in->offset + 1;
    struct PRIMITIVE_ARRAY_NODATA nodata;
    struct HEAP_DUMP_INFO info;

    switch (*ck->in->at) {
    case SUB_CLASS_DUMP:
        check_class_dump(ck, p, (size_t)size - 1, at);
        break;
    case SUB_HEAP_DUMP_INFO:
        if (read_HEAP_DUMP_INFO(&c, ck->file->id_size, &info))
            check_heap_info(ck, &info, at);
        break;
    case SUB_PRIMITIVE_ARRAY_NODATA:
        if (read_PRIMITIVE_ARRAY_NODATA(&c, ck->file->id_size, &nodata))
            check_nodata(ck, &nodata, at);
        break;
    default:
        check_root(ck, *ck->in->at, p, at);
        break;
    }
}

bool check_subrecord(struct checker *ck, uint64_t size)
{
    struct position *position = ck->position;
    unsigned tag = *ck->in->at;
    size_t there = (size_t)(ck->in->end - ck->in->at);
    bool complete;

    report_wrong_instance(ck);
    if (ck->run->counted && (tag == SUB_INSTANCE_DUMP || tag == SUB_OBJECT_ARRAY_DUMP || tag == SUB_PRIMITIVE_ARRAY_DUMP)) {
        uint16_t found = 0;

        counted_from(ck->run->counted, ck->in->offset, ck->file->id_size);
        counted_object(ck->run->counted, (uint8_t)tag, ck->in->at, ck->in->offset, size, ck->file->id_size, &found);
        counted_until(ck->run->counted, ck->in->offset + size);
    }
    position->sub = ck->in->at;
    position->sub_size = there < size ? there : (size_t)size;
    switch (tag) {
    case SUB_INSTANCE_DUMP:
        complete = check_instance(ck);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        complete = check_object_array(ck, size);
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        complete = check_primitive_array(ck);
        break;
    default:
        complete = input_need(ck->in, (size_t)size) >= size;
        if (complete) {
            position->sub = ck->in->at;
            position->sub_size = (size_t)size;
            check_small(ck, size);
            input_advance(ck->in, (size_t)size);
        }
        break;
    }
    position->sub = NULL;
    if (complete)
        ck->run->sum.subrecord_counts[tag]++;
    return complete;
}
