/* Faults of the gzip container (SPEC.md 8.2). A wrong checksum shows at the end of its member, after the bytes of the member were
 * checked like any others. Checking then ends, and what is reported rolls back to a checkpoint: to what was known before the record
 * or sub-record with the first byte that may be wrong.
 *
 * That byte is the first of the member that is being inflated, or, where data cannot be inflated, a multiple of 1 MiB. So there is
 * a checkpoint before each record or sub-record with such a byte. The input reports a fault when bytes after it are wanted, so the
 * same bytes give the same report however they are read. */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

void begin_gzip(struct engine *e)
{
    if (!e->in.compressed)
        return;
    e->checkpoints = memory_get_zeroed(&e->run.memory, sizeof *e->checkpoints);
    if (!e->checkpoints)
        return;
    e->checkpoints->member.sum = e->checkpoints->unit.sum = e->run.sum;
    for (size_t i = 0; i < LAST_MIB; i++)
        e->checkpoints->mib[i].sum = e->run.sum;
    e->checkpoints->damaged_from = UINT64_MAX;
}

void end_gzip(struct engine *e)
{
    memory_put(&e->run.memory, e->checkpoints, sizeof *e->checkpoints);
    e->checkpoints = NULL;
}

static uint64_t next_mib(const struct engine *e, uint64_t offset)
{
    const uint64_t mib = e->run.sizes.checkpoint;

    return (offset + mib - 1) / mib * mib;
}

uint64_t next_checkpoint(const struct engine *e)
{
    uint64_t at = e->in.offset, member = input_member_start(&e->in), next;

    if (!e->checkpoints)
        return UINT64_MAX;
    next = next_mib(e, at);
    if (e->checkpoints->damaged_from < next)
        next = e->checkpoints->damaged_from;
    return at <= member && member < next ? member : next;
}

/* ---- Rolling back ---- */

/* From here on only gzip faults are reported. */
static void roll_back(struct engine *e, const struct checkpoint *to)
{
    e->checkpoints->rolled_back_to = to;
    findings_roll_back(&e->run.findings, &to->findings);
    findings_silence(&e->run.findings);
    e->framing.stopped = true;
}

/* The last checkpoint at or before an offset. */
static const struct checkpoint *checkpoint_before(const struct checkpoints *c, uint64_t offset)
{
    const struct checkpoint *all[] = {&c->mib[0], &c->mib[1], &c->mib[2], &c->unit}, *last = &c->member;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->offset <= offset && (last->offset > offset || all[i]->offset > last->offset))
            last = all[i];
    return last;
}

/* Any byte from an offset on may be wrong. If the offset is not checked yet, begin_unit() will roll back. */
static void discard(struct engine *e, uint64_t from)
{
    struct checkpoints *c = e->checkpoints;
    uint64_t checked = e->framing.stopped || e->in.offset < c->unit_end ? c->unit_end : e->in.offset;

    e->framing.truncated = true;
    if (c->damaged_from != UINT64_MAX)
        return;
    c->damaged_from = from;
    if (from < checked)
        roll_back(e, checkpoint_before(c, from));
}

static void not_after(struct checkpoint *c, const struct checkpoint *to)
{
    if (c->offset > to->offset)
        *c = *to;
}

void forget_checkpoints(struct engine *e, const struct checkpoint *to)
{
    struct checkpoints *c = e->checkpoints;

    if (!c || c->rolled_back_to)
        return;
    not_after(&c->member, to);
    for (size_t i = 0; i < LAST_MIB; i++)
        not_after(&c->mib[i], to);
    not_after(&c->unit, to);
}

/* Where reading failed first from an offset on; 0 for nowhere. A record that no tag is known of, and an item that ends after all
 * data, are failures too. */
static uint64_t first_failure(const struct engine *e, uint64_t from)
{
    const struct framing *f = &e->framing;
    const struct checkpoints *c = e->checkpoints;
    const uint64_t failures[] = {
        jumps_at(&e->file.jumps, jumps_find(&e->file.jumps, from)).from,
        f->failed_at,
        f->recovering_at,
        f->unknown.count ? f->unknown.from : 0,
        is_record_tag(e->position.record_tag) ? 0 : e->position.record_at,
        c->unit_end > e->in.offset ? c->unit_at : 0,
    };
    uint64_t first = e->in.offset;

    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i] > from && failures[i] < first)
            first = failures[i];
    return first < e->in.offset ? first : 0;
}

void restore_checkpoint(struct engine *e)
{
    const struct checkpoint *to = e->checkpoints ? e->checkpoints->rolled_back_to : NULL;
    const struct losses losses = e->file.losses;

    if (!to)
        return;
    e->checkpoints->failed_at = first_failure(e, to->offset);
    restore(e, to);
    e->framing.truncated = e->framing.stopped = true;
    e->file.losses = losses;                                    /* what was skipped is still missing */
    chunks_shrink(&e->file.classes.loaded, to->loaded_classes); /* their names are those of a producer */
    end_sound_part(&e->run, to->record_at);
    e->run.sum.skipped = e->in.offset - e->run.sum.sound_until;
}

uint64_t checked_until(const struct engine *e)
{
    return e->checkpoints && e->checkpoints->rolled_back_to ? e->checkpoints->rolled_back_to->offset : UINT64_MAX;
}

/* ---- Checkpoints ---- */

bool begin_gzip_unit(struct engine *e, uint64_t size)
{
    struct checkpoints *c = e->checkpoints;
    uint64_t at = e->in.offset, end = at + size, member = input_member_start(&e->in);
    bool is_read = size <= (uint64_t)(e->in.end - e->in.at), has_member = at <= member && member < end,
         has_mib = next_mib(e, at) < end, is_damaged = c->damaged_from < end || c->damaged_from <= at;

    if (c->rolled_back_to)
        return false;
    if (member != c->member_start &&
        member < at) { /* it began in the preceding unit, which was not read completely at that time */
        c->member = c->unit;
        c->member_start = member;
    }
    c->unit_at = at;
    c->unit_end = end;
    if (is_read && !has_member && !has_mib && !is_damaged)
        return true;
    take_checkpoint(e, &c->unit);
    if (is_damaged) {
        roll_back(e, &c->unit);
        return false;
    }
    if (has_member) {
        c->member = c->unit;
        c->member_start = member;
    }
    if (has_mib) {
        memmove(c->mib, c->mib + 1, (LAST_MIB - 1) * sizeof *c->mib);
        c->mib[LAST_MIB - 1] = c->unit;
    }
    return true;
}

/* ---- Faults ---- */

/* Data that cannot be inflated is usually wrong before the fault shows: in the present MiB and in the one before. */
static uint64_t wrong_from(const struct engine *e, const struct gzip_finding *g)
{
    const uint64_t mib = e->run.sizes.checkpoint, from = g->end < mib ? 0 : (g->end - mib) / mib * mib;

    return from < g->start ? g->start : from;
}

void on_gzip_fault(void *context, const struct gzip_finding *g)
{
    static const enum rule rules[] = {
        [GZIP_HEADER] = RULE_GZ_001, [GZIP_DATA] = RULE_GZ_002,      [GZIP_CHECKSUM] = RULE_GZ_003,
        [GZIP_SIZE] = RULE_GZ_004,   [GZIP_TRUNCATED] = RULE_GZ_005, [GZIP_TRAILING] = RULE_GZ_006,
        [GZIP_NESTED] = RULE_GZ_007, [GZIP_ZEROS] = RULE_GZ_008,
    };
    struct engine *e = context;
    char path[48];

    snprintf(path, sizeof path, "gzip member %llu", (unsigned long long)g->member);
    report_late(&e->ck, rules[g->fault], SHAPE_ANY, g->offset, path, g->expected, "%s", g->found);
    switch (g->fault) {
    case GZIP_CHECKSUM:
    case GZIP_SIZE:
        discard(e, g->start);
        break;
    case GZIP_DATA:
        discard(e, wrong_from(e, g));
        break;
    case GZIP_TRAILING:
        e->garbage_after = true;
        break;
    case GZIP_TRUNCATED:
        e->framing.lacks_trailer = g->data_ended;
        e->framing.is_unwritten = g->is_unwritten;
        e->framing.truncated = true;
        break;
    case GZIP_HEADER:
    case GZIP_NESTED:
        e->framing.truncated = true;
        break;
    case GZIP_VALID:
    case GZIP_ZEROS:
        break;
    }
}
