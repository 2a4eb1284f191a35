/* Reads a dump again as the check read it: item by item, by their lengths, and where those failed, by the jumps that the check
 * noted. Without jumps, by lengths alone. */
#ifndef HPROF_REPLAY_H
#define HPROF_REPLAY_H

#include "input/next_item.h"
#include "state/jumps.h"

struct replay {
    struct input *in;
    const struct jumps *jumps;
    unsigned id_size;
    enum version version;
    uint64_t heap_end; /* sub-records are read up to here; UINT64_MAX: up to a jump to itself */
    size_t next_jump;
};

enum replay_kind {
    REPLAY_RECORD,    /* any but a heap dump record */
    REPLAY_HEAP,      /* the header of a heap dump record */
    REPLAY_SUBRECORD, /* in a heap dump record */
    REPLAY_PART,      /* a part of a sub-record that crosses the ends of segments */
    REPLAY_DAMAGE     /* skipped bytes */
};

struct replay_item {
    enum replay_kind kind;
    enum frame frame; /* of a record or sub-record */
    struct walk_item head;
    uint64_t offset;
    uint64_t size;    /* with the header: as it was read; 0 while unknown; UINT64_MAX for damage to the end of the dump */
    struct jump jump; /* of damage or a part */
};

/* Goes to a record (heap_end is 0), or to a sub-record of the heap dump record that ends at heap_end. False if the input cannot. */
bool replay_seek(struct replay *r, uint64_t offset, uint64_t heap_end);

static inline bool replay_is_in_heap(const struct replay *r)
{
    return r->in->offset < r->heap_end;
}

/* The item here. The input does not move, and all that `head` was read from is in the window. False at the end of the dump. */
bool replay_next(struct replay *r, struct replay_item *item);

/* Moves to the end of the item, and of a heap dump record to its first sub-record. False if the dump ends before. */
bool replay_pass(struct replay *r, const struct replay_item *item);

/* Passes the rest of the sub-records of this heap dump record, by the jumps alone. False if the dump ends before. */
bool replay_pass_heap(struct replay *r);

/* Up to where sub-records follow each other by their lengths. */
uint64_t replay_plain_until(struct replay *r);

#endif
