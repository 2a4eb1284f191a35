/* The input as it is, inflated, becomes the copy. */
#include "repair/repair_copy.h"

#include <errno.h>
#include <unistd.h>

/* The records of the copy that were passed. */
struct passed {
    uint64_t until; /* where the last one ends */
    uint8_t tag;    /* of that */
};

/* Whether the copy ends as a dump does, with a HEAP_DUMP or HEAP_DUMP_END. If no member begins after that, the file was written
 * over a longer one, and what follows is the rest of that. Each record is passed once. */
static bool is_complete(struct repair *r, struct passed *passed)
{
    uint8_t head[RECORD_HEADER_SIZE];

    copy_flush(r);
    if (passed->until < r->base + HEADER_SIZE || passed->until > r->written)
        *passed = (struct passed){.until = r->base + HEADER_SIZE};
    while (passed->until + sizeof head <= r->written && copy_read(r, passed->until, head, sizeof head) &&
           get_u4(head + RECORD_LENGTH_AT) <= r->written - passed->until - sizeof head)
        *passed = (struct passed){.until = passed->until + sizeof head + get_u4(head + RECORD_LENGTH_AT), .tag = *head};
    return passed->until == r->written && (passed->tag == TAG_HEAP_DUMP || passed->tag == TAG_HEAP_DUMP_END);
}

/* The last bytes are not of the dump: the member that gave them begins anew, with the right header. */
static bool take_back(struct repair *r, uint64_t made)
{
    r->truncated.fault = GZIP_VALID;
    r->result.gzip_headers_mended++;
    if (!made)
        return true;
    copy_flush(r);
    damage_forget(r, r->written - made - r->base);
    copy_cut(r, r->written - made);
    if (ftruncate(r->to, (off_t)r->written) != 0)
        r->error = errno;
    return !r->error;
}

/* At the end of the stream: if it is only that of the bytes before a damaged gzip member, reading goes on in a later member. */
static bool resume(struct repair *r, struct passed *passed)
{
    struct gzip_resumption gap;

    if (r->error || r->memory.exhausted || !input_resume(&r->in, &gap)) {
        r->result.gzip_ended_early |= input_ended_by_fault(&r->in) && !r->lacks_trailer;
        return false;
    }
    if (gap.is_mended)
        return take_back(r, gap.made);
    if (!gap.made && is_complete(r, passed))
        return false;
    r->result.gzip_resumed++;
    if (r->truncated.fault == GZIP_TRUNCATED) { /* it was not, because a later member begins within it */
        r->truncated.fault = GZIP_DATA;
        damage_note(r, &r->truncated);
    }
    /* What ends after the gap is not what it was. */
    if (copy_size(r) > r->base)
        leave_out_at(r, copy_size(r) - 1 - r->base);
    if (gap.size == GZIP_SIZE_UNKNOWN) {
        r->result.gzip_unknown++;
    } else if (gap.size > gap.made) {
        r->lost += gap.size - gap.made;
        leave_out(r, LEFT_GZIP_MEMBER, gap.damaged, gap.size - gap.made);
    }
    return true;
}

bool repair_spool(struct repair *r)
{
    struct passed passed = {0};

    r->unknown.packed = r->in.source;
    input_allow_resume(&r->in);
    do
        copy_input(r, UINT64_MAX);
    while (resume(r, &passed));
    copy_flush(r);
    return repair_is_good(r);
}
