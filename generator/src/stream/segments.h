/* A filter that divides a heap dump into segments of a given length or number of sub-records. No sub-record is divided (SPEC.md
 * 5.2). */
#ifndef HPROF_GEN_SEGMENTS_H
#define HPROF_GEN_SEGMENTS_H

#include "stream/event.h"

/* Where a segment ends that has reached the given length. */
enum segments_cut {
    CUT_BEFORE,      /* before a sub-record that would exceed it; a longer sub-record has a segment of its own */
    CUT_LATE,        /* after the sub-record that reached it */
    CUT_MAY_BE_EMPTY /* before that sub-record, even if it is the first of the heap dump: an empty segment, REC-010, as a quirk */
};

struct segments {
    struct stage stage;
    uint64_t most;         /* bytes in a segment's body; UINT64_MAX for one segment */
    uint64_t most_objects; /* sub-records in a segment; UINT64_MAX for any number */
    enum segments_cut cut;
    bool resets_heap; /* HEAP_DUMP_INFO holds for one segment: it is repeated in the next, and is not counted as a sub-record */
    bool states;      /* states the length of a segment with one long sub-record, so that it need not be measured */
    uint64_t so_far, objects;
    struct event open;  /* the present record, to be opened again */
    bool waits;         /* it is opened when its first sub-record is known */
    struct event info;  /* the latest HEAP_DUMP_INFO of the heap dump */
    uint64_t info_size; /* 0 for none */
    bool info_waits;    /* for the next sub-record */
};

/* HEAP_DUMP records pass unchanged. The caller sets all options except `most`. */
void segments_init(struct segments *segments, struct stage *next, uint64_t most);

#endif
