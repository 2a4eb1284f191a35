/* See replay.h. */
#include "reread/replay.h"

static bool skip(struct replay *r, uint64_t n)
{
    return input_skip(r->in, n) == n;
}

/* The input is where the jump begins, or between its ends. False if the jump leads to the end. */
static bool follow_jump(struct replay *r, const struct jump *jump)
{
    r->next_jump++;
    if (jump->to == UINT64_MAX || !skip(r, jump->to - r->in->offset))
        return false;
    r->heap_end = jump->heap_end > jump->to ? jump->heap_end : jump->to;
    return true;
}

bool replay_seek(struct replay *r, uint64_t offset, uint64_t heap_end)
{
    r->next_jump = jumps_find(r->jumps, offset);
    r->heap_end = heap_end;
    return input_seek(r->in, offset);
}

bool replay_next(struct replay *r, struct replay_item *item)
{
    struct jump jump;
    bool jumps = jumps_here(r->jumps, &r->next_jump, r->in->offset, &jump);

    if (jumps && jump.failed && jump.to == jump.from) { /* a heap dump record ends, or one begins without its header */
        follow_jump(r, &jump);
        jumps = false;
    }
    *item = (struct replay_item){.offset = r->in->offset};
    if (!input_need(r->in, 1))
        return false;
    if (jumps && jump.failed) {
        item->kind = jump.part ? REPLAY_PART : REPLAY_DAMAGE;
        item->size = jump.to == UINT64_MAX ? UINT64_MAX : jump.to - jump.from;
        item->jump = jump;
        return true;
    }
    if (replay_is_in_heap(r)) {
        item->kind = REPLAY_SUBRECORD;
        item->frame = next_subrecord(r->in, r->heap_end - r->in->offset, r->id_size, r->version, &item->head);
        item->size = jumps ? jump.to - jump.from : item->head.size;
        if (jumps || item->frame == FRAME_RIGHT ||
            !jumps_go_on(r->jumps, &r->next_jump, item->offset, r->heap_end, &item->jump))
            return true;
        item->kind = REPLAY_DAMAGE;
        item->size = item->jump.to == UINT64_MAX ? UINT64_MAX : item->jump.to - item->offset;
        return true;
    }
    item->frame = next_record(r->in, &item->head);
    item->kind = item->frame == FRAME_RIGHT && is_heap_dump_record(item->head.tag) ? REPLAY_HEAP : REPLAY_RECORD;
    item->size = item->head.size;
    return true;
}

bool replay_pass(struct replay *r, const struct replay_item *item)
{
    if (item->kind == REPLAY_PART || item->kind == REPLAY_DAMAGE)
        return follow_jump(r, &item->jump);
    if (item->kind != REPLAY_HEAP)
        return skip(r, item->offset + item->size - r->in->offset);
    r->heap_end = item->offset + item->size;
    return skip(r, item->offset + item->head.head - r->in->offset);
}

bool replay_pass_heap(struct replay *r)
{
    while (replay_is_in_heap(r)) {
        struct jump jump;

        jumps_here(r->jumps, &r->next_jump, r->in->offset, &jump);
        if (r->next_jump >= r->jumps->list.count || jump.from >= r->heap_end)
            return skip(r, r->heap_end - r->in->offset);
        if (!skip(r, jump.from - r->in->offset))
            return false;
        if (!jump.failed)
            r->next_jump++;
        else if (!follow_jump(r, &jump))
            return false;
    }
    return true;
}

uint64_t replay_plain_until(struct replay *r)
{
    struct jump jump;

    jumps_here(r->jumps, &r->next_jump, r->in->offset, &jump);
    return jump.from < r->heap_end ? jump.from : r->heap_end;
}
