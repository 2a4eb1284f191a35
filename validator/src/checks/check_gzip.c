/* Faults of the gzip container (SPEC.md 8), and what they spoil. That a member is damaged shows at its end, when it was judged like
 * any bytes: then all is taken back that was found and counted since the record or sub-record with its first byte began, as if
 * nothing had been read from there on.
 *
 * For that, what was known is noted in front of each record or sub-record that holds a place where such a member may turn out to
 * begin: where the member begins that is being read, or, behind what was read so far, any; and of data that cannot be inflated the
 * last INPUT_BLOCK or two are doubtful. */
#include <stdio.h>
#include <string.h>

#include "engine/checker.h"

static void note(const struct checker *ck, struct border *mark)
{
    mark->offset = ck->in.offset;
    mark->record_at = ck->record_at;
    findings_checkpoint(&ck->findings, &mark->findings);
    mark->sum = ck->sum;
    mark->signs = ck->signs;
    mark->framing_lost = ck->framing_lost;
    mark->second_header = ck->second_header;
}

void begin_gzip(struct checker *ck)
{
    ck->gzip.sound_until = UINT64_MAX;
    if (!ck->in.compressed)
        return;
    note(ck, &ck->gzip.latest);
    ck->gzip.member = ck->gzip.latest;
    for (size_t i = 0; i < BLOCK_MARKS; i++)
        ck->gzip.block[i] = ck->gzip.latest;
}

/* A multiple of INPUT_BLOCK: the first that is not in front of an offset. */
static uint64_t block_from(uint64_t offset)
{
    return (offset + INPUT_BLOCK - 1) / INPUT_BLOCK * INPUT_BLOCK;
}

uint64_t next_border(const struct checker *ck)
{
    uint64_t at = ck->in.offset, member, block;

    if (!ck->in.compressed)
        return UINT64_MAX;
    member = input_member_start(&ck->in);
    block = block_from(at);
    if (ck->gzip.sound_until < block)
        block = ck->gzip.sound_until;
    return at <= member && member < block ? member : block;
}

/* From here on nothing is told, and what is known now is all that there will be. */
static void stop_judging(struct checker *ck, const struct border *mark)
{
    ck->gzip.to = mark;
    findings_roll_back(&ck->findings, &mark->findings);
    findings_silence(&ck->findings);
}

void mark_border(struct checker *ck, uint64_t size)
{
    struct gzip_damage *g = &ck->gzip;
    uint64_t at = ck->in.offset, end = at + size, member, block;

    if (!ck->in.compressed || g->to)
        return;
    member = input_member_start(&ck->in);
    block = block_from(at);
    g->unit_end = end;
    if (member != g->member_start && member < at) { /* it was met within the latest one */
        g->member = g->latest;
        g->member_start = member;
    }
    if (size <= (uint64_t)(ck->in.end - ck->in.at) && end <= block && !(at <= member && member < end) && end <= g->sound_until)
        return;
    note(ck, &g->latest);
    if (at <= member && member < end) {
        g->member = g->latest;
        g->member_start = member;
    }
    if (block < end) {
        memmove(g->block, g->block + 1, (BLOCK_MARKS - 1) * sizeof *g->block);
        g->block[BLOCK_MARKS - 1] = g->latest;
    }
    if (end > g->sound_until)
        stop_judging(ck, &g->latest);
}

/* What was inflated of a damaged member may be any bytes from some offset on: what they were found to be says nothing. */
static void disown(struct checker *ck, uint64_t from)
{
    struct gzip_damage *g = &ck->gzip;
    const struct border *marks[] = {&g->member, &g->block[0], &g->block[1], &g->block[2], &g->latest}, *to = NULL;

    if (g->sound_until != UINT64_MAX)
        return;
    g->sound_until = from;
    ck->truncated = true;
    if (from >= g->unit_end && from >= ck->in.offset)
        return; /* judging will come to it */
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i]->offset <= from && (!to || marks[i]->offset > to->offset))
            to = marks[i];
    stop_judging(ck, to);
}

void end_gzip(struct checker *ck)
{
    const struct border *to = ck->gzip.to;

    if (to) {
        ck->sum = to->sum;
        ck->signs = to->signs;
        ck->framing_lost = to->framing_lost;
        ck->second_header = to->second_header;
    }
    if (ck->gzip.sound_until != UINT64_MAX) { /* as of a dump that ends there */
        end_sound_part(ck, to ? to->record_at : ck->gzip.sound_until);
        ck->sum.skipped = ck->in.offset - ck->sum.sound_until;
    }
}

/* Where data is found that cannot be inflated, what came shortly before was mostly spoiled already: a block, and what there is of
 * the one in front. */
static uint64_t doubtful_from(const struct gzip_finding *g)
{
    uint64_t from = g->end < INPUT_BLOCK ? 0 : (g->end - INPUT_BLOCK) / INPUT_BLOCK * INPUT_BLOCK;

    return from < g->start ? g->start : from;
}

/* The dump ends there. */
void on_gzip_fault(void *context, const struct gzip_finding *g)
{
    static const enum rule rules[] = {
        [GZIP_HEADER] = RULE_GZ_001, [GZIP_DATA] = RULE_GZ_002,      [GZIP_CHECKSUM] = RULE_GZ_003,
        [GZIP_SIZE] = RULE_GZ_004,   [GZIP_TRUNCATED] = RULE_GZ_005, [GZIP_TRAILING] = RULE_GZ_006,
        [GZIP_NESTED] = RULE_GZ_007, [GZIP_ZEROS] = RULE_GZ_008,
    };
    struct checker *ck = context;
    char path[48];

    snprintf(path, sizeof path, "gzip member %llu", (unsigned long long)g->member);
    report_late(ck, rules[g->fault], SHAPE_ANY, g->offset, path, g->expected, "%s", g->found);
    if (g->fault == GZIP_CHECKSUM || g->fault == GZIP_SIZE)
        disown(ck, g->start);
    else if (g->fault == GZIP_DATA)
        disown(ck, doubtful_from(g));
    else if (g->fault == GZIP_TRAILING)
        ck->garbage_after = true;
    else if (g->fault != GZIP_ZEROS)
        ck->truncated = true;
}
