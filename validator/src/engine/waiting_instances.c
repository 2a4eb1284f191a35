/* Instances that precede their class or one of its superclasses; the agent of JDK 8 writes all of them first. They wait
 * until the end of the heap dump, when all classes are known: as ranges of the dump if it can be read again cheaply, else as
 * copies of their bytes. */
#include <string.h>

#include "engine/checker.h"

void waiting_begin(struct checker *ck)
{
    ck->dump.waiting = (struct waiting){0};
    byte_log_init(&ck->dump.waiting.log, &ck->memory);
}

void waiting_clear(struct checker *ck)
{
    byte_log_clear(&ck->dump.waiting.log);
}

/* The references of an instance belong to the stretch that contains it; offsets only increase. */
static void enter_stretch_of(struct checker *ck, uint64_t at)
{
    struct stretches *stretches = &ck->dump.stretches;
    size_t *next = &ck->dump.waiting.next_stretch;

    for (; *next < stretches->list.count && stretches_at(stretches, *next)->at <= at; ++*next)
        enter_stretch(ck, stretches_at(stretches, *next));
}

/* ---- As ranges: where a run of waiting instances begins, as a difference from the run before; the end of its heap dump
 * record, as a difference; how many instances wait, one after the other, whatever other sub-records lie between them ---- */

static void end_run(struct waiting *w)
{
    if (!w->run)
        return;
    byte_log_append_number(&w->log, w->run_at - w->last_at);
    byte_log_append_number(&w->log, w->run_end - w->run_at);
    byte_log_append_number(&w->log, w->run);
    w->last_at = w->run_at;
    w->run = 0;
}

void wait_in_range(struct checker *ck, uint64_t offset, uint64_t number)
{
    struct waiting *w = &ck->dump.waiting;

    if (number != w->next_instance)
        end_run(w);
    if (!w->run++) {
        w->run_at = offset;
        w->run_end = ck->heap_end;
    }
    w->next_instance = number + 1;
}

/* Checks instances of known classes, up to the next stretch. */
static size_t check_many_of_run(struct checker *ck, size_t n)
{
    struct waiting *w = &ck->dump.waiting;
    const struct stretches *stretches = &ck->dump.stretches;
    uint64_t at = ck->in.offset;

    enter_stretch_of(ck, at);
    if (w->next_stretch < stretches->list.count && stretches_at(stretches, w->next_stretch)->at - at < n)
        n = (size_t)(stretches_at(stretches, w->next_stretch)->at - at);
    ck->segment.counts = (struct object_counts){0};
    n = refer_instances(&ck->segment, ck->in.at, n, &w->run);
    add_counts(ck, &ck->segment.counts);
    return n;
}

/* Checks the sub-record in the window if it is an instance. */
static bool check_of_run(struct checker *ck, uint64_t size)
{
    struct waiting *w = &ck->dump.waiting;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->id_size);
    uint64_t at = ck->in.offset, end = at + size;
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
    struct cursor c = {first + 1, first + head};
    struct INSTANCE_DUMP r;
    bool complete = true;

    if (!w->run)
        return false;
    if (get_u1(ck->in.at) == SUB_INSTANCE_DUMP) {
        w->run--;
        enter_stretch_of(ck, at);
        memcpy(first, ck->in.at, head);
        ck->sub = first;
        ck->sub_size = head;
        complete =
            read_INSTANCE_DUMP(&c, ck->id_size, &r) && check_known_instance(ck, &r, at + 1, failed_at(ck, end), get_from_input);
        ck->sub = NULL;
    }
    size = end - ck->in.offset;
    return complete && input_skip(&ck->in, size) == size && w->run;
}

static void check_ranges(struct checker *ck)
{
    struct waiting *w = &ck->dump.waiting;
    uint64_t back = ck->in.offset, at = 0;

    end_run(w);
    for (uint64_t next = 0; next < w->log.size && !ck->memory.exhausted;) {
        uint64_t heap_end;

        at += byte_log_read_number(&w->log, &next);
        heap_end = at + byte_log_read_number(&w->log, &next);
        w->run = byte_log_read_number(&w->log, &next);
        read_again(ck, at, heap_end, UINT64_MAX, &(struct visitor){.subrecord = check_of_run, .many = check_many_of_run});
    }
    if (!input_seek(&ck->in, back) && !ck->in.error)
        ck->framing.truncated = true;
}

/* ---- As bytes: the offset of each instance, as a difference; its fixed part without tag and stack trace; its values ---- */

static size_t kept_of_head(unsigned id_size)
{
    return SIZE_OF(INSTANCE_DUMP, id_size) - sizeof(uint32_t);
}

/* False if the dump ends within it. */
static bool copy_instance(struct checker *ck, uint64_t size)
{
    struct waiting *w = &ck->dump.waiting;
    unsigned id = ck->id_size;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, id);
    uint64_t left = size - head;

    byte_log_append_number(&w->log, ck->in.offset - w->last_at);
    w->last_at = ck->in.offset;
    byte_log_append(&w->log, ck->in.at + 1, id);
    byte_log_append(&w->log, ck->in.at + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id), kept_of_head(id) - id);
    input_advance(&ck->in, head);
    while (left) {
        size_t n = look_at(ck, PIECE, left);

        byte_log_append(&w->log, ck->in.at, n);
        input_advance(&ck->in, n);
        left -= n;
        if (n < PIECE && left)
            return false;
    }
    return true;
}

static const uint8_t *get_from_copy(struct checker *ck, uint64_t offset, size_t n)
{
    struct waiting *w = &ck->dump.waiting;
    void *piece = w->piece;

    if (offset - w->body_at + n > w->there || !memory_grow(&ck->memory, &piece, &w->piece_capacity, n ? n : 1, 1))
        return NULL;
    w->piece = piece;
    byte_log_read(&w->log, w->body + (offset - w->body_at), w->piece, n);
    return w->piece;
}

/* Reads the instance at *next in the log and moves *next past it. False at the end. */
static bool next_copy(struct checker *ck, uint64_t *next, uint8_t *first, struct INSTANCE_DUMP *r)
{
    struct waiting *w = &ck->dump.waiting;
    unsigned id = ck->id_size;
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

static void check_copies(struct checker *ck)
{
    struct waiting *w = &ck->dump.waiting;
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
    struct INSTANCE_DUMP r;
    uint64_t next = 0;

    while (!ck->memory.exhausted && next_copy(ck, &next, first, &r)) {
        ck->sub = first;
        ck->sub_size = 1 + SIZE_OF(INSTANCE_DUMP, ck->id_size);
        byte_log_discard(&w->log, w->body);
        enter_stretch_of(ck, w->at);
        check_known_instance(ck, &r, w->at + 1, failed_at(ck, w->body_at + r.bytes), get_from_copy);
    }
    ck->sub = NULL;
    memory_put(&ck->memory, w->piece, w->piece_capacity);
    w->piece = NULL;
    w->piece_capacity = 0;
}

/* ---- Both ---- */

bool wait_for_class(struct checker *ck, uint64_t size)
{
    if (!waits_in_ranges(ck))
        return copy_instance(ck, size);
    wait_in_range(ck, ck->in.offset, ck->sum.subrecord_counts[SUB_INSTANCE_DUMP]);
    return input_skip(&ck->in, size) == size;
}

void check_waiting(struct checker *ck)
{
    struct waiting *w = &ck->dump.waiting;

    if ((!w->log.size && !w->run) || ck->memory.exhausted)
        return;
    if (waits_in_ranges(ck))
        check_ranges(ck);
    else
        check_copies(ck);
}
