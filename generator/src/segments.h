/* A filter that cuts a heap dump into HEAP_DUMP_SEGMENTs: before a sub-record that would make the segment longer than
 * wanted. No sub-record is split (SPEC.md 5.2), so one that is longer than a segment has one of its own. */
#ifndef HPROF_GEN_SEGMENTS_H
#define HPROF_GEN_SEGMENTS_H

#include "event.h"

struct segments {
    struct stage stage;
    uint64_t most; /* bytes in a segment's body; UINT64_MAX for one segment */
    bool states;   /* the length of a segment that has one long sub-record alone: it need not be measured then */
    uint64_t so_far;
    struct event open; /* the record at hand, to be opened again */
    bool waits;        /* it is to be opened when its first sub-record is known */
};

/* HEAP_DUMP records pass as they are. */
void segments_init(struct segments *segments, struct stage *next, uint64_t most);

#endif
