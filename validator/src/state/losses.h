/* What may be missing because bytes were skipped. Recovery alone writes it (engine/losses.c). Checks read it: what skipped bytes
 * may define is not reported to be undefined. */
#ifndef HPROF_LOSSES_H
#define HPROF_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct losses {
    unsigned definitions;     /* enum may_define: of records */
    unsigned unknown;         /* the same, of records of unknown tag: counts only if REC-003 is an error at the end */
    bool unknown_end;         /* one of those is empty, as HEAP_DUMP_END is: counts as they do */
    bool heap_dump;           /* a heap dump */
    bool heap_dump_end;       /* a HEAP_DUMP_END */
    uint64_t again_until;     /* records before this offset are read again: what they define is defined already */
    struct {                  /* of the present heap dump */
        uint64_t again_until; /* likewise of its sub-records */
        bool part;            /* some of its sub-records */
        bool array;           /* an array that had been read: what arrays alone name may not be named */
        bool end;             /* its HEAP_DUMP_END, so that what follows may be another heap dump; */
        uint64_t end_at;
        uint64_t malformed_segment; /* the last one with a malformed sub-record, which may have hidden the end */
    } heap;
};

#endif
