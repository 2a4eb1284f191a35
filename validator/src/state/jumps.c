/* See jumps.h. */
#include "state/jumps.h"

void jumps_init(struct jumps *jumps, struct memory *memory)
{
    chunks_init(&jumps->list, memory, sizeof(struct jump));
}

void jumps_clear(struct jumps *jumps)
{
    chunks_clear(&jumps->list);
}

size_t jumps_find(const struct jumps *jumps, uint64_t from)
{
    size_t low = 0, high = jumps->list.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (((const struct jump *)chunks_at(&jumps->list, middle))->from < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct jump jumps_at(const struct jumps *jumps, size_t i)
{
    return i < jumps->list.count ? *(const struct jump *)chunks_at(&jumps->list, i) : (struct jump){.from = NO_JUMP};
}

void jumps_shrink(struct jumps *jumps, size_t count)
{
    if (count < jumps->list.count)
        chunks_shrink(&jumps->list, count);
}

void jumps_add(struct jumps *jumps, struct jump jump)
{
    struct jump *added = chunks_add(&jumps->list);

    if (added)
        *added = jump;
}

bool jumps_here(const struct jumps *jumps, size_t *next, uint64_t offset, struct jump *jump)
{
    for (*jump = jumps_at(jumps, *next); jump->from < offset; *jump = jumps_at(jumps, *next))
        ++*next;
    return jump->from == offset;
}

bool jumps_go_on(const struct jumps *jumps, size_t *next, uint64_t offset, uint64_t heap_end, struct jump *jump)
{
    size_t i = jumps_find(jumps, offset);

    if (i && jumps_at(jumps, i - 1).to > offset)
        i--;
    for (*jump = jumps_at(jumps, i); jump->to <= offset; *jump = jumps_at(jumps, ++i))
        if (jump->from == NO_JUMP)
            return false;
    if (jump->from >= heap_end || jump->part)
        return false;
    if (!jump->failed) { /* after an array or instance sub-records go on */
        jump->failed = true;
        jump->heap_end = heap_end;
    }
    jump->from = offset & NO_JUMP;
    *next = i;
    return true;
}

void jumps_note(struct jumps *jumps, uint64_t from, uint64_t to, uint64_t heap_end, bool failed)
{
    jumps_shrink(jumps, jumps_find(jumps, from)); /* an unfilled length is found out late */
    jumps_add(jumps, (struct jump){.from = from & NO_JUMP, .failed = failed, .to = to, .heap_end = heap_end});
}

bool jumps_over(const struct jumps *jumps, uint64_t offset)
{
    size_t next = jumps_find(jumps, offset + 1);
    struct jump jump = next ? jumps_at(jumps, next - 1) : (struct jump){0};

    return next && jump.failed && !jump.part && jump.from <= offset && offset < jump.to;
}

bool jumps_failed_at(const struct jumps *jumps, uint64_t offset)
{
    uint64_t at = jumps_offset(jumps, offset);
    struct jump jump = jumps_at(jumps, jumps_find(jumps, at));

    return jump.from == at && jump.failed && !jump.part;
}

void jumps_join(struct jumps *jumps, unsigned parts)
{
    if (parts > PARTS_MOST || parts > jumps->list.count)
        return;
    for (unsigned i = 0; i < parts; i++)
        ((struct jump *)chunks_at(&jumps->list, jumps->list.count - parts + i))->part = (i + 1) & PARTS_MOST;
    jumps->any_joined = true;
}

uint64_t jumps_offset(const struct jumps *jumps, uint64_t offset)
{
    size_t next = jumps->any_joined ? jumps_find(jumps, offset + 1) : 0, first;
    struct jump jump = next ? jumps_at(jumps, next - 1) : (struct jump){0};
    uint64_t left;

    if (!jump.part)
        return offset;
    first = next - jump.part;
    jump = jumps_at(jumps, first);
    left = offset - jump.from;
    for (unsigned part = 1; jump.part == part; jump = jumps_at(jumps, first + part++)) {
        uint64_t size = jump.to - jump.from;

        if (left < size || (left == size && jumps_at(jumps, first + part).part != part + 1))
            return jump.from + left;
        left -= size;
    }
    return offset; /* after the sub-record */
}
