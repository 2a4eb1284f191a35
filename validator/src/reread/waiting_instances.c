/* Checks the instances that waited for their class (waiting.c), at the end of the heap dump. */
#include <string.h>

#include "reread/reread.h"

/* The references of an instance belong to the stretch that contains it; offsets only increase. */
static void enter_stretch_of(struct checker *ck, uint64_t at)
{
    struct stretches *stretches = &ck->heap->stretches;
    size_t *next = &ck->heap->waiting.next_stretch;

    for (; *next < stretches->list.count && stretches_at(stretches, *next)->at <= at; ++*next)
        enter_stretch(ck->heap, stretches_at(stretches, *next));
}

/* Checks instances of known classes, up to the next stretch. */
static size_t check_many_of_run(struct checker *ck, void *context, size_t n)
{
    struct waiting *w = context;
    const struct stretches *stretches = &ck->heap->stretches;
    uint64_t at = ck->in->offset;

    enter_stretch_of(ck, at);
    if (w->next_stretch < stretches->list.count && stretches_at(stretches, w->next_stretch)->at - at < n)
        n = (size_t)(stretches_at(stretches, w->next_stretch)->at - at);
    ck->heap->segment.counts = (struct object_counts){0};
    n = refer_instances(&ck->heap->segment, ck->in->at, n, &w->left);
    add_counts(ck, &ck->heap->segment.counts);
    return n;
}

/* The instance in the window, of `size` bytes, did not have to wait: what is not plain would have been reported or would have led
 * to a failure. */
static bool check_plain_of_run(struct checker *ck, struct waiting *w, uint64_t size)
{
    ck->heap->segment.counts = (struct object_counts){0};
    if (input_need(ck->in, (size_t)size) < size ||
        refer_instances(&ck->heap->segment, ck->in->at, (size_t)size, &w->left) < size) {
        ck->heap->must_begin_again = true;
        return false;
    }
    add_counts(ck, &ck->heap->segment.counts);
    input_advance(ck->in, (size_t)size);
    return w->left;
}

/* Checks the sub-record in the window if it is an instance. */
static bool check_of_run(struct checker *ck, void *context, uint64_t size)
{
    struct waiting *w = context;
    size_t head = 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size);
    uint64_t at = ck->in->offset, end = at + size;
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
    struct cursor c = {first + 1, first + head};
    struct INSTANCE_DUMP r;
    bool complete = true;

    if (!w->left)
        return false;
    if (get_u1(ck->in->at) == SUB_INSTANCE_DUMP) {
        enter_stretch_of(ck, at);
        if (w->must_be_plain)
            return check_plain_of_run(ck, w, size);
        w->left--;
        memcpy(first, ck->in->at, head);
        ck->position->sub = first;
        ck->position->sub_size = head;
        complete = read_INSTANCE_DUMP(&c, ck->file->id_size, &r) &&
                   check_known_instance(ck, &r, at + 1, jumps_failed_at(&ck->file->jumps, end), get_from_input);
        ck->position->sub = NULL;
    }
    size = end - ck->in->offset;
    return complete && input_skip(ck->in, size) == size && w->left;
}

void check_waiting_range(struct checker *ck, const struct waiting_range *range)
{
    struct waiting *w = &ck->heap->waiting;

    w->left = range->instances;
    w->must_be_plain = range->must_be_plain;
    read_again(ck, range->at, range->record_end, UINT64_MAX,
               &(struct visitor){.subrecord = check_of_run, .many = check_many_of_run, .context = w});
}

static bool check_ranges(struct checker *ck)
{
    struct waiting_range range = {0};
    uint64_t back = ck->in->offset, next = 0;

    while (!ck->run->memory.exhausted && !ck->heap->must_begin_again && next_waiting_range(ck, &next, &range))
        check_waiting_range(ck, &range);
    return input_seek(ck->in, back) || ck->in->error;
}

static void check_copies(struct checker *ck)
{
    struct waiting *w = &ck->heap->waiting;
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
    struct INSTANCE_DUMP r;
    uint64_t next = 0;

    while (!ck->run->memory.exhausted && next_waiting_copy(ck, &next, first, &r)) {
        ck->position->sub = first;
        ck->position->sub_size = 1 + SIZE_OF(INSTANCE_DUMP, ck->file->id_size);
        byte_log_discard(&w->log, w->body);
        enter_stretch_of(ck, w->at);
        if (jumps_over(&ck->file->jumps, w->at))
            continue;
        check_known_instance(ck, &r, w->at + 1, jumps_failed_at(&ck->file->jumps, w->body_at + r.bytes), get_from_copy);
    }
    ck->position->sub = NULL;
    memory_put(&ck->run->memory, w->piece, w->piece_capacity);
    w->piece = NULL;
    w->piece_capacity = 0;
}

bool check_waiting(struct checker *ck)
{
    end_waiting_range(ck->heap);
    if (!ck->heap->waiting.log.size || ck->run->memory.exhausted)
        return true;
    if (waits_in_ranges(ck))
        return check_ranges(ck);
    check_copies(ck);
    return true;
}
