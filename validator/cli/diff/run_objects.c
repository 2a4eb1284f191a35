/* See run_objects.h. */
#include "run_objects.h"

#include "items.h"

enum { IN_SIGHT = 1 << 16 };

void run_objects_begin(struct run_objects *run, struct hprof_reader *reader, const struct hprof_item *item)
{
    *run = (struct run_objects){.reader = reader, .offset = item->offset, .end = item->size};
}

bool run_objects_read(struct run_objects *run, uint64_t at, size_t want)
{
    int64_t got = hprof_bytes(run->reader, at, want > IN_SIGHT ? want : IN_SIGHT, &run->bytes);

    run->from = at;
    run->to = at + (uint64_t)(got > 0 ? got : 0);
    return got > 0;
}

bool run_objects_next(struct run_objects *run, struct hprof_item *item)
{
    const uint8_t *bytes = run_objects_see(run, run->at, HEAD_MOST);

    if (bytes == NULL || hprof_counted_object(run->reader, bytes, (size_t)(run->to - run->at), item) != 1)
        return false;
    item->offset = run->offset + run->at;
    run->at += item->size;
    return true;
}
