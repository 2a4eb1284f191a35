/* See gunzip.h: after a fault the stream goes on with the next member. */
#include "input/gunzip_stream.h"
#include "input/gzip_header.h"

enum {
    GO_BACK_MOST =
        USUAL_OR_SMALL(16 << 20, 512), /* compressed bytes before a fault that are searched for the header of the next member */
    INFLATED_MOST = 1032               /* bytes that one byte of deflate data can make */
};

/* Goes to the next bytes that may be a header: magic, method and flags are valid. */
static bool find_header(struct gunzip *g)
{
    for (;;) {
        const uint8_t *id1 = memchr(g->at, 0x1f, (size_t)(g->end - g->at));

        gunzip_pass(g, (size_t)((id1 ? id1 : g->end) - g->at));
        if (g->end - g->at < GZIP_SIGN) {
            if (!gunzip_fetch(g))
                return false;
        } else if (is_gzip_sign(g->at)) {
            return true;
        } else {
            gunzip_pass(g, 1);
        }
    }
}

/* Invalid data may inflate for a while, even beyond the header that is looked for. But no more bytes are read again than were
 * read before, so that the time stays linear. */
static void go_back(struct gunzip *g, uint64_t offset)
{
    uint64_t distance = g->now.offset - offset;

    if (!g->source->seekable || distance > GO_BACK_MOST || g->gone_back + distance > g->now.offset)
        return;
    g->gone_back += distance;
    gunzip_go_to(g, offset);
}

/* The ISIZE of the member from `offset`, if it ends before the present offset. */
static uint64_t stated_size(const struct gunzip *g, uint64_t offset)
{
    uint64_t most = (g->now.offset - offset) * INFLATED_MOST;
    uint8_t isize[4];
    uint32_t size;

    if (!g->source->seekable || g->now.offset < offset + sizeof isize ||
        source_read_at(g->source, g->now.offset - sizeof isize, isize, sizeof isize) < sizeof isize)
        return GZIP_SIZE_UNKNOWN;
    size = get_u32_little(isize);
    return size > most ? GZIP_SIZE_UNKNOWN : size;
}

void gunzip_allow_resume(struct gunzip *g)
{
    g->may_resume = true;
}

bool gunzip_ended_by_fault(const struct gunzip *g)
{
    return g->ended_by_fault;
}

bool gunzip_resume(struct gunzip *g, struct gzip_resumption *resumption)
{
    uint64_t offset = g->ended_after_suspect ? g->suspect_offset : g->now.member_offset;
    uint64_t output = g->ended_after_suspect ? g->suspect_output : g->now.member_output;

    if (!g->ended_by_fault || g->source->error)
        return false;
    go_back(g, offset + 1);
    if (!find_header(g))
        return false;
    resumption->damaged = g->now.member;
    resumption->size = stated_size(g, offset);
    resumption->made = g->now.output - output;
    g->ended_by_fault = g->ended_after_suspect = g->now.end_is_doubtful = false;
    g->now.part = HEADER;
    return true;
}
