/* The walk (format/walk.h) over an input: the record or sub-record at the start of its window. */
#ifndef HPROF_NEXT_ITEM_H
#define HPROF_NEXT_ITEM_H

#include "format/walk.h"
#include "input/input.h"

/* At most n bytes ahead, and at most `left`, counted the same whatever happens to be in memory: no decision may depend on the
 * size of blocks. */
static inline size_t look_at(struct input *in, size_t n, uint64_t left)
{
    size_t there;

    if (n > left)
        n = (size_t)left;
    there = input_need(in, n);
    return there < n ? there : n;
}

/* The record here. FRAME_TRUNCATED if the dump ends within its header. */
enum frame next_record(struct input *in, struct walk_item *item);

/* The sub-record here, in a heap dump record that ends after `left` bytes: reads as many bytes as it takes to know its size. Never
 * FRAME_UNSEEN. */
enum frame next_subrecord(struct input *in, uint64_t left, unsigned id_size, enum version version, struct walk_item *item);

#endif
