/* See repair.h. A fault of a gzip member is found after most of its bytes were read, and each pass moves what it copies. So the
 * parts that may be wrong are kept as offsets, which follow the bytes from pass to pass. */
#include "repair/repair.h"

#include "base/search.h"

void damage_begin_pass(struct repair *r)
{
    r->damage.shift_count = 0;
}

void damage_clear(struct repair *r)
{
    struct damage *d = &r->damage;

    memory_put(&r->memory, d->parts, d->part_capacity * sizeof *d->parts);
    memory_put(&r->memory, d->shifts, d->shift_capacity * sizeof *d->shifts);
}

void damage_note(struct repair *r, const struct gzip_finding *f)
{
    struct damage *d = &r->damage;

    if (f->start < f->end &&
        memory_grow(&r->memory, (void **)&d->parts, &d->part_capacity, d->part_count + 1, sizeof *d->parts))
        d->parts[d->part_count++] = (struct damaged_part){
            .from = f->start, .to = f->end, .data = f->data, .is_invalid = f->fault == GZIP_DATA, .keeps_size = f->keeps_size};
}

void damage_forget(struct repair *r, uint64_t from)
{
    struct damage *d = &r->damage;

    while (d->part_count > d->settled && d->parts[d->part_count - 1].from >= from)
        d->part_count--;
}

/* The damaged part in which some of the bytes lie, or NULL. */
static const struct damaged_part *part_at(const struct repair *r, uint64_t offset, uint64_t size)
{
    const struct damage *d = &r->damage;
    const struct damaged_part *parts = d->parts + d->settled;
    size_t count = d->part_count - d->settled;
    size_t first = count ? count_up_to(parts, count, sizeof *parts, offsetof(struct damaged_part, to), offset) : 0;

    return first < count && parts[first].from < offset + size ? &parts[first] : NULL;
}

bool damage_is_at(const struct repair *r, uint64_t offset, uint64_t size)
{
    return part_at(r, offset, size);
}

bool damage_repeats_at(const struct repair *r, uint64_t offset, uint64_t size)
{
    const struct damaged_part *part = part_at(r, offset, size);

    return part && (part->is_invalid || !part->keeps_size);
}

void damage_note_shift(struct repair *r, uint64_t copied)
{
    struct damage *d = &r->damage;
    uint64_t shift = r->in.offset - copied;

    if ((!r->in.compressed && !d->part_count && !r->doubt_count) ||
        shift == (d->shift_count ? d->shifts[d->shift_count - 1].shift : 0))
        return;
    if (memory_grow(&r->memory, (void **)&d->shifts, &d->shift_capacity, d->shift_count + 1, sizeof *d->shifts))
        d->shifts[d->shift_count++] = (struct shift){r->in.offset, shift};
}

uint64_t damage_moved(const struct repair *r, uint64_t offset)
{
    const struct damage *d = &r->damage;
    size_t first = count_up_to(d->shifts, d->shift_count, sizeof *d->shifts, offsetof(struct shift, from), offset);
    uint64_t moved, next;

    moved = offset - (first ? d->shifts[first - 1].shift : 0);
    if (first == d->shift_count)
        return moved;
    next = d->shifts[first].from - d->shifts[first].shift;
    return moved < next ? moved : next;
}

void damage_end_pass(struct repair *r)
{
    struct damage *d = &r->damage;

    for (size_t i = d->settled; i < d->part_count; i++)
        d->parts[i] = (struct damaged_part){.from = damage_moved(r, d->parts[i].from), .to = damage_moved(r, d->parts[i].to)};
}
