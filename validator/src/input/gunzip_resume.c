/* See gunzip.h: after a fault the stream goes on with the next member. */
#include "input/gunzip_stream.h"
#include "input/gzip_header.h"
#include "input/gzip_trial.h"

enum {
    GO_BACK_MOST =
        USUAL_OR_SMALL(16 << 20, 512), /* compressed bytes before a fault that are searched for the header of the next member */
    INFLATED_MOST = 1032,              /* bytes that one byte of deflate data can make */
    TAKEN_BACK_MOST = 4 << 10,         /* bytes that are made if a wrong flag leads to what is no data */
    FREE_TRIALS = 16,                  /* of headers that may be mended, */
    TRIAL_DISTANCE = 64 << 10          /* and one more for so many bytes of the file: time is linear */
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

/* Goes back to where the present member begins: in a pipe, from within its header. */
static bool go_to_member(struct gunzip *g)
{
    uint64_t offset = g->now.member_offset, distance = g->now.offset - offset;

    if (!g->source->seekable && distance <= (uint64_t)(g->at - g->buffer) && g->gone_back + distance <= g->now.offset) {
        g->gone_back += distance;
        g->at -= distance;
        g->now.offset = offset;
    } else {
        go_back(g, offset);
    }
    if (g->end - g->at <= UNUSED_MOST)
        gunzip_fetch(g);
    return g->now.offset == offset;
}

/* A member of which hardly anything could be inflated begins anew with its data, if one byte of its header is wrong. */
static bool mend_header(struct gunzip *g)
{
    struct gzip_trial *trial;
    struct gzip_made made;

    if (g->ended_after_suspect || g->now.output - g->now.member_output > TAKEN_BACK_MOST ||
        g->mended > FREE_TRIALS + g->now.offset / TRIAL_DISTANCE)
        return false;
    g->mended++;
    if (!go_to_member(g) || !gzip_may_be_wrong(g->at, gunzip_written(g)))
        return false;
    trial = gzip_trial_new(g->memory, GZIP_TRIAL_ENOUGH);
    made = trial ? gzip_try_wrong(trial, g->at, gunzip_written(g)) : (struct gzip_made){0};
    gzip_trial_delete(trial, g->memory);
    if (!made.data)
        return false;
    gunzip_pass(g, made.data);
    isal_inflate_init(&g->state);
    g->now.data_offset = g->now.offset;
    g->now.output = g->now.member_output;
    g->now.crc = g->now.size = 0;
    g->now.part = DATA;
    gunzip_report_again(g, g->now.member);
    return true;
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
    *resumption = (struct gzip_resumption){.damaged = g->now.member};
    resumption->made = g->now.output - output;
    if (mend_header(g)) {
        resumption->is_mended = true;
        g->ended_by_fault = g->now.end_is_doubtful = false;
        return true;
    }
    if (g->now.offset <= offset)
        gunzip_pass(g, g->at < g->end);
    else
        go_back(g, offset + 1);
    if (!find_header(g))
        return false;
    resumption->size = stated_size(g, offset);
    g->ended_by_fault = g->ended_after_suspect = g->now.end_is_doubtful = false;
    g->now.part = HEADER;
    return true;
}
