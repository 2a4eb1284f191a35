/* See next_item.h. */
#include "input/next_item.h"

enum { SEEN_FIRST = 64 /* the fixed part of any sub-record but CLASS_DUMP takes fewer */ };

enum frame next_record(struct input *in, struct walk_item *item)
{
    size_t there = look_at(in, RECORD_HEADER_SIZE, RECORD_HEADER_SIZE);
    struct sight s = {.at = in->at, .size = there, .ended = true};

    return walk_record(&s, 0, item);
}

enum frame next_subrecord(struct input *in, uint64_t left, unsigned id_size, enum version version, struct walk_item *item)
{
    for (size_t wanted = SEEN_FIRST;; wanted *= 2) {
        size_t there = look_at(in, wanted, left);
        struct sight s = {in->at, there, there < wanted && there < left, id_size, version};
        enum frame frame = walk_subrecord(&s, 0, left, item);

        if (frame != FRAME_UNSEEN)
            return frame;
    }
}
