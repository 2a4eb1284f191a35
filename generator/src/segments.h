/* A filter that cuts a heap dump into HEAP_DUMP_SEGMENTs of a wanted length, or number of sub-records. No sub-record is split
 * (SPEC.md 5.2). */
#ifndef HPROF_GEN_SEGMENTS_H
#define HPROF_GEN_SEGMENTS_H

#include "event.h"

/* Where a segment is cut that has become as long as wanted. */
enum segments_cut {
    CUT_BEFORE,      /* before a sub-record that would make it longer; one that is longer by itself has a segment of its own */
    CUT_LATE,        /* after the sub-record that made it as long */
    CUT_MAY_BE_EMPTY /* before that sub-record, even if it is the first of the heap dump: an empty segment, REC-010, by quirk */
};

struct segments {
    struct stage stage;
    uint64_t most;         /* bytes in a segment's body; UINT64_MAX for one segment */
    uint64_t most_objects; /* sub-records in one; UINT64_MAX for any number */
    enum segments_cut cut;
    bool resets_heap; /* HEAP_DUMP_INFO holds for a segment: it is said again in the next, and counts for nothing */
    bool states;      /* the length of a segment that has one long sub-record alone: it need not be measured then */
    uint64_t so_far, objects;
    struct event open;  /* the record at hand, to be opened again */
    bool waits;         /* it is to be opened when its first sub-record is known */
    struct event info;  /* the latest HEAP_DUMP_INFO of the heap dump */
    uint64_t info_size; /* 0 for none */
    bool info_waits;    /* for the next sub-record */
};

/* HEAP_DUMP records pass as they are. All wishes but `most` are for the caller to add. */
void segments_init(struct segments *segments, struct stage *next, uint64_t most);

#endif
