/* Hands what is read again (replay.h) to a visitor. Checks nothing. */
#include <string.h>

#include "reread/replay.h"
#include "reread/reread.h"

/* Copies the parts of the joined sub-record that begins here. NULL if the dump ends before, or memory ran out. */
static uint8_t *copy_joined(struct checker *ck, size_t first, size_t *size)
{
    const struct jumps *jumps = &ck->file->jumps;
    uint64_t at = ck->in->offset, span = 0;
    uint8_t *bytes;
    struct jump jump;

    *size = 0;
    for (unsigned part = 1; (jump = jumps_at(jumps, first + part - 1)).part == part; part++) {
        span = jump.to - at;
        *size += (size_t)(jump.to - jump.from);
    }
    if (input_need(ck->in, (size_t)span) < span || !(bytes = memory_get(&ck->run->memory, *size)))
        return NULL;
    *size = 0;
    for (unsigned part = 1; (jump = jumps_at(jumps, first + part - 1)).part == part; part++) {
        memcpy(bytes + *size, ck->in->at + (jump.from - at), (size_t)(jump.to - jump.from));
        *size += (size_t)(jump.to - jump.from);
    }
    return bytes;
}

static bool visit_joined(struct checker *ck, const struct replay *r, const struct visitor *visitor)
{
    size_t size;
    uint8_t *bytes = copy_joined(ck, r->next_jump, &size);
    struct input_window window;
    bool goes_on;

    if (!bytes)
        return false;
    window = input_replace(ck->in, bytes, size);
    goes_on = visitor->subrecord(ck, visitor->context, size);
    input_restore(ck->in, &window);
    memory_put(&ck->run->memory, bytes, size);
    return goes_on;
}

static bool visit_record(struct checker *ck, struct replay *r, const struct visitor *visitor, const struct replay_item *item)
{
    if (item->frame != FRAME_RIGHT || (visitor->subrecord && item->head.tag == TAG_HEAP_DUMP_END))
        return false;
    if (visitor->record) {
        input_advance(ck->in, RECORD_HEADER_SIZE);
        if (!visitor->record(ck, visitor->context, item->head.tag, item->head.length))
            return false;
    }
    return replay_pass(r, item);
}

/* Visits the sub-records before the next jump, as far as they are in memory. */
static void visit_many(struct checker *ck, struct replay *r, uint64_t end, const struct visitor *visitor)
{
    uint64_t limit = replay_plain_until(r), left = (limit < end ? limit : end) - ck->in->offset;
    size_t n = (size_t)(ck->in->end - ck->in->at);

    if (visitor->many && left)
        input_advance(ck->in, visitor->many(ck, visitor->context, n < left ? n : (size_t)left));
}

/* False if reading ends. */
static bool visit_next(struct checker *ck, struct replay *r, uint64_t end, const struct visitor *visitor)
{
    struct replay_item item;

    if (replay_is_in_heap(r)) {
        if (!visitor->subrecord)
            return replay_pass_heap(r);
        visit_many(ck, r, end, visitor);
        if (!replay_is_in_heap(r) || ck->in->offset >= end)
            return true;
    }
    if (!replay_next(r, &item))
        return false;
    switch (item.kind) {
    case REPLAY_RECORD:
    case REPLAY_HEAP:
        return visit_record(ck, r, visitor, &item);
    case REPLAY_SUBRECORD:
        if (!visitor->subrecord) /* its heap dump record has no header */
            return replay_pass_heap(r);
        return item.size && visitor->subrecord(ck, visitor->context, item.size);
    case REPLAY_PART:
        if (item.jump.part == 1 && visitor->subrecord && !visit_joined(ck, r, visitor))
            return false;
        break;
    case REPLAY_DAMAGE:
        break;
    }
    return replay_pass(r, &item);
}

void read_again(struct checker *ck, uint64_t from, uint64_t heap_end, uint64_t end, const struct visitor *visitor)
{
    struct replay r = {.in = ck->in, .jumps = &ck->file->jumps, .id_size = ck->file->id_size, .version = ck->file->version};

    if (replay_seek(&r, from, heap_end))
        while (ck->in->offset < end && visit_next(ck, &r, end, visitor))
            continue;
}
