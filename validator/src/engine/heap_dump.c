/* A heap dump begins and ends (SPEC.md 5). */
#include "engine/engine.h"
#include "format/tags.h"
#include "reread/reread.h"

void begin_heap_dump(struct engine *e)
{
    heap_begin(&e->ck);
    begin_losses(e);
}

void end_heap_dump(struct engine *e)
{
    uint64_t record_number = e->position.record_number, end = e->in.offset, checked = checked_until(e);

    if (jobs_are_ahead(e)) {
        jobs_fail(e);
        return;
    }

    e->file.classes.complete = true;
    e->position.record_number = 0; /* findings from here on have no record */
    if (!jobs_check_waiting(e))
        e->framing.truncated = true;
    if (e->heap.must_begin_again) {
        jobs_fail(e);
        e->position.record_number = record_number;
        return;
    }
    end = end < checked ? end : checked;
    finish_class_dumps(&e->ck);
    find_arrays(&e->ck, end);
    finish_objects(&e->ck, checked == UINT64_MAX);
    finish_roots(&e->ck); /* after the uses of objects have been released */
    report_duplicates(&e->ck, end);
    find_offsets_in_dump(&e->ck, end);
    find_lost_objects(e, end);
    heap_clear(&e->ck);
    /* What is needed later on is noted when most of the memory has been released. */
    keep_class_uses(&e->ck);
    keep_rooted_threads(&e->ck);
    heap_end(&e->ck);
    e->position.record_number = record_number;
    jobs_end_heap_dump(e);
}

void settle_heap_dump(struct engine *e)
{
    if (e->heap.is_pending)
        end_heap_dump(e);
    e->heap.is_pending = false;
}

uint64_t count_besides_definitions(const uint64_t records[256])
{
    static const uint8_t definitions[] = {TAG_UTF8, TAG_LOAD_CLASS, TAG_FRAME, TAG_TRACE};
    uint64_t others = 0;

    for (size_t tag = 0; tag < 256; tag++)
        others += records[tag];
    for (size_t i = 0; i < sizeof definitions; i++)
        others -= records[definitions[i]];
    return others;
}

bool heap_dump_is_empty(const struct counts *counts)
{
    enum { LEAST = 16 }; /* a sample of fewer classes needs no heap */
    const uint64_t *records = counts->record_counts;
    const uint64_t heap_dumps = records[TAG_HEAP_DUMP] + records[TAG_HEAP_DUMP_SEGMENT] + records[TAG_HEAP_DUMP_END];

    if (!heap_dumps || records[TAG_LOAD_CLASS] < LEAST)
        return false;
    for (size_t tag = 0; tag < 256; tag++)
        if (counts->subrecord_counts[tag])
            return false;
    return count_besides_definitions(records) == heap_dumps;
}
