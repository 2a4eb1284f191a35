/* Instances that precede their class or one of its superclasses; the agent of JDK 8 writes all of them first. They wait until the
 * end of the heap dump, when all classes are known: noted as ranges of the dump if it can be read again cheaply, else as copies
 * of their bytes. */
#include <string.h>

#include "checks/checker.h"
#include "checks/heap.h"

bool waits_in_ranges(const struct checker *ck)
{
    return input_can_reread(ck->in) && !ck->in->compressed; /* seeking back would inflate everything before it again */
}

/* ---- As ranges: where a run of waiting instances begins, as a difference from the run before; the end of its heap dump
 * record, as a difference; how many instances wait, one after the other, whatever other sub-records lie between them, and whether
 * they must be plain ---- */

void add_waiting_range(struct waiting *w, const struct waiting_range *range)
{
    if (!range->instances)
        return;
    byte_log_append_number(&w->log, range->at - w->last_at);
    byte_log_append_number(&w->log, range->record_end - range->at);
    byte_log_append_number(&w->log, range->instances << 1 | range->must_be_plain);
    w->last_at = range->at;
    w->must_some_be_plain |= range->must_be_plain;
}

void end_waiting_range(struct heap *heap)
{
    struct waiting_run *run = &heap->segment.waiting;

    add_waiting_range(&heap->waiting,
                      &(struct waiting_range){.at = run->at, .record_end = heap->waiting.run_end, .instances = run->instances});
    *run = (struct waiting_run){.next = UINT64_MAX};
}

void begin_waiting_range(struct checker *ck, uint64_t offset)
{
    end_waiting_range(ck->heap);
    ck->heap->segment.waiting.at = offset;
    ck->heap->waiting.run_end = ck->position->heap_end;
}

bool next_waiting_range(const struct checker *ck, uint64_t *next, struct waiting_range *range)
{
    const struct byte_log *log = &ck->heap->waiting.log;
    uint64_t number;

    do {
        if (*next == log->size)
            return false;
        range->at += byte_log_read_number(log, next);
        range->record_end = range->at + byte_log_read_number(log, next);
        number = byte_log_read_number(log, next);
        range->instances = number >> 1;
        range->must_be_plain = number & 1;
    } while (jumps_over(&ck->file->jumps, range->at));
    return true;
}

/* ---- As bytes: the offset of each instance, as a difference; its fixed part without tag and stack trace; its values ---- */

static size_t kept_of_head(unsigned id_size)
{
    return SIZE_OF(INSTANCE_DUMP, id_size) - sizeof(uint32_t);
}

/* False if the dump ends within it. */
static bool copy_instance(struct checker *ck, uint64_t size)
{
    struct waiting *w = &ck->heap->waiting;
    unsigned id = ck->file->id_size;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, id);
    uint64_t left = size - head;

    byte_log_append_number(&w->log, ck->in->offset - w->last_at);
    w->last_at = ck->in->offset;
    byte_log_append(&w->log, ck->in->at + 1, id);
    byte_log_append(&w->log, ck->in->at + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id), kept_of_head(id) - id);
    input_advance(ck->in, head);
    while (left) {
        size_t n = look_at(ck->in, ck->run->sizes.piece, left);

        byte_log_append(&w->log, ck->in->at, n);
        input_advance(ck->in, n);
        left -= n;
        if (n < ck->run->sizes.piece && left)
            return false;
    }
    return true;
}

const uint8_t *get_from_copy(struct checker *ck, uint64_t offset, size_t n)
{
    struct waiting *w = &ck->heap->waiting;
    void *piece = w->piece;

    if (offset - w->body_at + n > w->there || !memory_grow(&ck->run->memory, &piece, &w->piece_capacity, n ? n : 1, 1))
        return NULL;
    w->piece = piece;
    byte_log_read(&w->log, w->body + (offset - w->body_at), w->piece, n);
    return w->piece;
}

bool next_waiting_copy(struct checker *ck, uint64_t *next, uint8_t *first, struct INSTANCE_DUMP *r)
{
    struct waiting *w = &ck->heap->waiting;
    unsigned id = ck->file->id_size;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, id), kept = kept_of_head(id);
    struct cursor c = {first + 1, first + head};

    if (*next == w->log.size)
        return false;
    w->at += byte_log_read_number(&w->log, next);
    if (w->log.size - *next < kept)
        return false;
    memset(first, 0, head);
    first[0] = SUB_INSTANCE_DUMP;
    byte_log_read(&w->log, *next, first + 1, id);
    byte_log_read(&w->log, *next + id, first + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id), kept - id);
    if (!read_INSTANCE_DUMP(&c, id, r))
        return false;
    w->body = *next + kept;
    w->body_at = w->at + head;
    w->there = w->log.size - w->body < r->bytes ? w->log.size - w->body : r->bytes;
    *next = w->body + w->there;
    return true;
}

/* ---- Both ---- */

bool wait_for_class(struct checker *ck, uint64_t size)
{
    struct waiting_run *run = &ck->heap->segment.waiting;
    uint64_t number = ck->run->sum.subrecord_counts[SUB_INSTANCE_DUMP];

    if (!waits_in_ranges(ck))
        return copy_instance(ck, size);
    if (number != run->next)
        begin_waiting_range(ck, ck->in->offset);
    run->instances++;
    run->next = number + 1;
    return input_skip(ck->in, size) == size;
}
