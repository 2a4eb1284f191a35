/* What may be missing after recovery skipped bytes (state/losses.h). Nothing else writes it. */
#include "engine/engine.h"
#include "format/tags.h"

void begin_losses(struct engine *e)
{
    struct losses *l = &e->file.losses;

    memset(&l->heap, 0, sizeof l->heap);
    l->heap.part = l->heap_dump;
}

void lose_definitions(struct engine *e, unsigned definitions)
{
    e->file.losses.definitions |= definitions;
}

void lose_part(struct engine *e)
{
    e->file.losses.heap.part = true;
}

void lose(struct engine *e)
{
    lose_part(e);
    lose_definitions(e, MAY_DEFINE_THREADS);
}

void lose_after_malformed(struct engine *e)
{
    e->file.losses.heap.malformed_segment = e->position.record_at;
    lose(e);
}

uint64_t object_here(struct engine *e, uint8_t tag)
{
    return is_object_tag(tag) && input_need(&e->in, 1 + e->file.id_size) > e->file.id_size
               ? get_id(e->in.at + 1, e->file.id_size)
               : 0;
}

void lose_object(struct engine *e, uint64_t id)
{
    if (id)
        keymap_put(&e->heap.lost, id, LOST_OBJECT);
}

void lose_array(struct engine *e)
{
    e->file.losses.heap.array = true;
}

void read_records_again(struct engine *e, uint64_t until)
{
    e->file.losses.again_until = until;
}

void read_subrecords_again(struct engine *e, uint64_t until)
{
    e->file.losses.heap.again_until = until;
}

void lose_heap_dump(struct engine *e)
{
    e->file.losses.heap_dump = true;
}

void lose_heap_end(struct engine *e)
{
    struct losses *l = &e->file.losses;

    if (!l->heap.end)
        l->heap.end_at = e->in.offset;
    l->heap_dump_end = l->heap.end = true;
}

/* Skipped bytes may have held sub-records of this heap dump, or another one. */
static void lose_heap(struct engine *e)
{
    lose_heap_dump(e);
    if (e->heap.open)
        lose_part(e);
    lose_heap_end(e);
}

void lose_all(struct engine *e)
{
    lose_definitions(e, MAY_DEFINE_ALL);
    lose_part(e);
    lose_heap(e);
}

void lose_record(struct engine *e, const struct sight *body, uint64_t right)
{
    uint64_t declared = e->position.record_length;

    if (declared > right && declared - right >= RECORD_HEADER_SIZE) { /* it may contain other records */
        lose_definitions(e, MAY_DEFINE_ALL);
        lose_heap(e);
        return;
    }
    lose_definitions(e, definitions_of_tag(e->position.record_tag) | definitions_of_length(declared, e->file.id_size));
    if (!declared)
        lose_heap_end(e);
    if (declared && subrecords_follow(body, 0, declared)) {
        lose_definitions(e, MAY_DEFINE_THREADS);
        lose_heap(e);
    }
}

void lose_unknown(struct engine *e)
{
    struct losses *l = &e->file.losses;

    l->unknown |= definitions_of_length(e->position.record_length, e->file.id_size);
    l->unknown_end |= !e->position.record_length;
}

void settle_unknown(struct engine *e)
{
    struct losses *l = &e->file.losses;
    struct severity_choice choice;
    const char *quirk;

    if (!l->unknown && !l->unknown_end)
        return;
    choice = choose_severity(e, guess_producer(&e->run, &e->file));
    if (findings_severity(&choice, RULE_REC_003, SHAPE_ANY, &quirk) == HPROF_ERROR) {
        l->definitions |= l->unknown;
        l->heap_dump_end |= l->unknown_end;
    } else {
        l->unknown = 0;
    }
}
