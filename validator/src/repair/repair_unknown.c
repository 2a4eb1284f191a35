/* See repair.h. What a damaged gzip member gave after the damage is in part wrong, although it may look like sub-records: deflate
 * data copies from bytes before. Nothing of it is copied of which a byte is not known. */
#include <string.h>

#include "base/sort.h"
#include "format/tags.h"
#include "input/trace_data.h"
#include "repair/repair.h"

void unknown_clear(struct repair *r)
{
    struct unknown *u = &r->unknown;

    memory_put(&r->memory, u->parts, u->capacity * sizeof *u->parts);
    memory_put(&r->memory, u->failures, u->failure_capacity * sizeof *u->failures);
    *u = (struct unknown){.packed = u->packed};
}

void unknown_note_failure(struct repair *r, uint64_t offset)
{
    struct unknown *u = &r->unknown;

    if (r->damage.part_count > r->damage.settled &&
        memory_grow(&r->memory, (void **)&u->failures, &u->failure_capacity, u->failure_count + 1, sizeof *u->failures))
        u->failures[u->failure_count++] = offset;
}

static void add_part(void *context, uint64_t from, uint64_t to)
{
    struct repair *r = context;
    struct unknown *u = &r->unknown;

    if (memory_grow(&r->memory, (void **)&u->parts, &u->capacity, u->count + 1, sizeof *u->parts))
        u->parts[u->count++] = (struct unknown_part){u->shift + from, u->shift + to};
}

/* In a damaged member, where reading failed at `count` offsets of its own. */
static void find_in_member(struct repair *r, const struct damaged_part *part, const uint64_t *failures, size_t count)
{
    struct unknown *u = &r->unknown;
    const struct traced_data asked = {.source = &u->packed,
                                      .offset = part->data,
                                      .size = part->to - part->from,
                                      .is_invalid = part->is_invalid,
                                      .keeps_size = part->keeps_size,
                                      .failures = failures,
                                      .failure_count = count,
                                      .on_unknown = add_part,
                                      .context = r};

    u->shift = part->from;
    if (r->in.error)
        return;
    if (u->packed.seekable)
        r->in.error = trace_data(&asked, &r->memory);
    else if (count) /* the compressed bytes are gone */
        add_part(r, failures[0] > TRACE_DOUBTED ? failures[0] - TRACE_DOUBTED : 0, part->to - part->from);
}

void unknown_find(struct repair *r)
{
    struct unknown *u = &r->unknown;
    struct jump jump;
    size_t next = 0;

    if (r->damage.part_count == r->damage.settled || r->offsets_moved)
        return;
    for (size_t i = 0; (jump = jumps_at(&r->jumps, i)).from != NO_JUMP; i++)
        if (!jump.part)
            unknown_note_failure(r, jump.from);
    sort_numbers(u->failures, u->failure_count);
    for (size_t i = r->damage.settled; i < r->damage.part_count; i++) {
        const struct damaged_part *part = &r->damage.parts[i];
        size_t first;

        while (next < u->failure_count && u->failures[next] < part->from)
            next++;
        for (first = next; next < u->failure_count && u->failures[next] < part->to; next++)
            u->failures[next] -= part->from;
        find_in_member(r, part, u->failures + first, next - first);
    }
}

uint64_t unknown_next(struct repair *r)
{
    struct unknown *u = &r->unknown;

    if (!r->is_first_pass)
        return UINT64_MAX;
    while (u->next < u->count && u->parts[u->next].to <= r->in.offset)
        u->next++;
    return u->next < u->count ? u->parts[u->next].from : UINT64_MAX;
}

bool unknown_is_in_next(struct repair *r, uint64_t n)
{
    uint64_t next = unknown_next(r);

    return next != UINT64_MAX && (next <= r->in.offset || next - r->in.offset < n);
}

bool unknown_repeats_root(struct repair *r, uint64_t size)
{
    const bool is_root = is_root_tag(*r->in.at) && size <= sizeof r->root && input_need(&r->in, (size_t)size) >= size;
    const bool is_same = is_root && size == r->root_size && memcmp(r->root, r->in.at, (size_t)size) == 0;

    r->root_size = is_root ? (size_t)size : 0;
    if (is_root)
        memcpy(r->root, r->in.at, (size_t)size);
    return is_same && damage_repeats_at(r, r->in.offset, size);
}
