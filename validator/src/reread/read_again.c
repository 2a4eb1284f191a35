/* Reads the dump, or a part of it, exactly as the first time: by its lengths, and where those failed, by the jumps noted
 * then. Checks nothing. */
#include <string.h>

#include "reread/reread.h"

struct reader {
    const struct visitor *visitor;
    size_t jump; /* the next one */
    uint64_t end;
};

/* Whether a jump begins here. */
static bool jumps_here(struct checker *ck, struct reader *r, struct jump *jump)
{
    for (*jump = jumps_at(&ck->file->jumps, r->jump); jump->from < ck->in->offset; *jump = jumps_at(&ck->file->jumps, r->jump))
        r->jump++;
    return jump->from == ck->in->offset;
}

static bool skip(struct checker *ck, uint64_t n)
{
    return input_skip(ck->in, n) == n;
}

/* False if the jump leads to the end. */
static bool follow_jump(struct checker *ck, struct reader *r, const struct jump *jump)
{
    r->jump++;
    if (jump->to == UINT64_MAX || !skip(ck, jump->to - jump->from))
        return false;
    ck->position->heap_end = jump->heap_end > jump->to ? jump->heap_end : jump->to;
    return true;
}

/* Copies the parts of the joined sub-record that begins here, with jump `i`. NULL if the dump ends before, or memory ran out. */
static uint8_t *copy_joined(struct checker *ck, size_t i, size_t *size)
{
    const struct jumps *jumps = &ck->file->jumps;
    uint64_t at = ck->in->offset, span = 0;
    uint8_t *bytes;
    struct jump jump;

    *size = 0;
    for (unsigned part = 1; (jump = jumps_at(jumps, i + part - 1)).part == part; part++) {
        span = jump.to - at;
        *size += (size_t)(jump.to - jump.from);
    }
    if (input_need(ck->in, (size_t)span) < span || !(bytes = memory_get(&ck->run->memory, *size)))
        return NULL;
    *size = 0;
    for (unsigned part = 1; (jump = jumps_at(jumps, i + part - 1)).part == part; part++) {
        memcpy(bytes + *size, ck->in->at + (jump.from - at), (size_t)(jump.to - jump.from));
        *size += (size_t)(jump.to - jump.from);
    }
    return bytes;
}

static bool read_joined(struct checker *ck, const struct reader *r)
{
    size_t size;
    uint8_t *bytes = copy_joined(ck, r->jump, &size);
    struct input_window window;
    bool goes_on;

    if (!bytes)
        return false;
    window = input_replace(ck->in, bytes, size);
    goes_on = r->visitor->subrecord(ck, r->visitor->context, size);
    input_restore(ck->in, &window);
    memory_put(&ck->run->memory, bytes, size);
    return goes_on;
}

static bool read_subrecord(struct checker *ck, struct reader *r)
{
    struct measure m = {0};
    struct jump jump;
    bool ended, jumps = jumps_here(ck, r, &jump);

    if (jumps && jump.failed)
        return (jump.part != 1 || read_joined(ck, r)) && follow_jump(ck, r, &jump);
    return input_need(ck->in, 1) && measure_next(ck, ck->position->heap_end - ck->in->offset, &m, &ended) == MEASURED &&
           r->visitor->subrecord(ck, r->visitor->context, jumps ? jump.to - jump.from : m.size);
}

/* Visits the sub-records before the next jump, as far as they are in memory. */
static void read_many(struct checker *ck, struct reader *r)
{
    uint64_t at = ck->in->offset, end = ck->position->heap_end < r->end ? ck->position->heap_end : r->end, left;
    size_t n = (size_t)(ck->in->end - ck->in->at);
    struct jump jump;

    if (!r->visitor->many || jumps_here(ck, r, &jump))
        return;
    left = (end < jump.from ? end : jump.from) - at;
    input_advance(ck->in, r->visitor->many(ck, r->visitor->context, n < left ? n : (size_t)left));
}

/* Passes the sub-records from here on, by the jumps alone. */
static bool pass_subrecords(struct checker *ck, struct reader *r)
{
    while (ck->in->offset < ck->position->heap_end) {
        struct jump jump;

        jumps_here(ck, r, &jump);
        if (r->jump >= ck->file->jumps.list.count || jump.from >= ck->position->heap_end)
            return skip(ck, ck->position->heap_end - ck->in->offset);
        if (!skip(ck, jump.from - ck->in->offset))
            return false;
        if (!jump.failed)
            r->jump++;
        else if (!follow_jump(ck, r, &jump))
            return false;
    }
    return true;
}

static bool read_subrecords(struct checker *ck, struct reader *r)
{
    if (!r->visitor->subrecord)
        return pass_subrecords(ck, r);
    while (ck->in->offset < ck->position->heap_end && ck->in->offset < r->end) {
        read_many(ck, r);
        if (ck->in->offset < ck->position->heap_end && ck->in->offset < r->end && !read_subrecord(ck, r))
            return false;
    }
    return true;
}

static bool read_record(struct checker *ck, struct reader *r)
{
    struct jump jump;
    uint64_t length;
    unsigned tag;

    if (jumps_here(ck, r, &jump))
        return follow_jump(ck, r, &jump) && read_subrecords(ck, r);
    if (input_need(ck->in, RECORD_HEADER_SIZE) < RECORD_HEADER_SIZE)
        return false;
    tag = get_u1(ck->in->at);
    length = get_u4(ck->in->at + RECORD_LENGTH_AT);
    if (r->visitor->subrecord && tag == TAG_HEAP_DUMP_END)
        return false;
    input_advance(ck->in, RECORD_HEADER_SIZE);
    if (r->visitor->record && !r->visitor->record(ck, r->visitor->context, tag, length))
        return false;
    if (tag != TAG_HEAP_DUMP && tag != TAG_HEAP_DUMP_SEGMENT)
        return skip(ck, length);
    ck->position->heap_end = ck->in->offset + length;
    return read_subrecords(ck, r);
}

void read_again(struct checker *ck, uint64_t from, uint64_t heap_end, uint64_t end, const struct visitor *visitor)
{
    struct reader r = {visitor, jumps_find(&ck->file->jumps, from), end};
    uint64_t heap_end_before = ck->position->heap_end;

    ck->position->heap_end = heap_end;
    if (input_seek(ck->in, from) && read_subrecords(ck, &r))
        while (ck->in->offset < end && read_record(ck, &r))
            continue;
    ck->position->heap_end = heap_end_before;
}
