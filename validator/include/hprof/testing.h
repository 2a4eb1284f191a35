/* What tests of the library may fix. Not installed: it is no part of the interface. */
#ifndef HPROF_TESTING_H
#define HPROF_TESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SIZE(name, usual, least): bytes, unless the row says otherwise. With small ones, small dumps reach what otherwise only large
 * dumps reach. No report depends on these. */
#define HPROF_SIZES(SIZE) \
    SIZE(first_buffer, 16 << 10, 256) /* of the input, until a read fills it */ \
    SIZE(tail_room, 64 << 10, 256)    /* a rest of the last block that is no longer leaves room for a whole block */ \
    SIZE(blocks_alone, 4, 1)          /* blocks that are read before a thread reads ahead */ \
    SIZE(snapshot, 64 << 10, 1 << 10) /* between two positions of a gzip file to which reading can return */ \
    SIZE(stretch, 1 << 20, 64)        /* of a heap dump that has its own filters of pages */ \
    SIZE(bitmap_room, 8 << 20, 1)     /* of bitmaps of objects, before these depend on the bytes read */ \
    SIZE(serial_room, 1 << 20, 1)     /* likewise of serial numbers */ \
    SIZE(threads_from, 4 << 20, 1)    /* the size of a file that is worth threads */ \
    SIZE(job_read, 256 << 10, 1)      /* that a thread reads at once */ \
    SIZE(job_beyond, 64 << 10, 1)     /* the room in a thread's buffer beyond its job */ \
    SIZE(job_pieces, 64, 1)           /* pieces in a job */ \
    SIZE(job_classes, 256, 1)         /* classes that a job may be the first to use */ \
    SIZE(job_ranges, 64, 1)           /* of waiting instances, in a job */ \
    SIZE(guess, 16, 1)                /* objects in a row that show where one begins in a part of a giant record */ \
    SIZE(jobs_ahead, 64, 1)           /* jobs for each thread that are not taken over yet */ \
    SIZE(ahead, 256 << 10, 1 << 10)   /* in which headers of records are looked for before they are checked */ \
    SIZE(counted, 4 << 10, 1)         /* the least that hprof_next_counted() passes */ \
    SIZE(progress, 8 << 20, 1)        /* between two reports of progress */

/* Reports depend on these, and on nothing else here: but the same bytes with the same limits give the same report, however they
 * are read. */
#define HPROF_LIMITS(SIZE) \
    SIZE(piece, 64 << 10, 400)      /* of a string, an array or an instance that are checked at a time; in words of 8 bytes */ \
    SIZE(trace_piece, 4 << 10, 2)   /* frames of a trace that are checked at a time, in pairs */ \
    SIZE(sight, 64 << 10, 256)      /* that recovery sees after a failure */ \
    SIZE(checkpoint, 1 << 20, 16)   /* between two offsets of a compressed dump from which data may be wrong */ \
    SIZE(class_dump, 4 << 20, 256)  /* of a CLASS_DUMP that crosses the end of a segment */ \
    SIZE(joined, 16 << 20, 64)      /* of a sub-record that is joined in memory; */ \
    SIZE(joined_parts, 1000, 2)     /* its parts */ \
    SIZE(text_room, 12 << 20, 1)    /* of strings whose text is kept, before it depends on the bytes read */ \
    SIZE(text_sample, 64 << 10, 16) /* at the beginning, in which effects of a transfer as text are looked for */

/* Fixes what is otherwise random or depends on the source of the bytes, and makes sizes small. */
struct hprof_testing {
    uint64_t hash_seed; /* determines the key of the hash tables; 0 for a random key */
    /* Bytes read at once, from memory too; at least 2, or 0 for the usual size. It can change how many of the last bytes of a
     * truncated gzip member are inflated, and nothing else of a report. */
    size_t block;
    /* Bytes that a thread checks at a time, or 0 for the usual size. If it is given, a single thread has jobs, too, and jobs are
     * begun in random order, unless `usual_order` is set. */
    size_t job;
    bool usual_order;
    /* Each is 0 for the usual size. */
#define HPROF_FIELD(name, usual, least) uint32_t name;
    HPROF_SIZES(HPROF_FIELD) HPROF_LIMITS(HPROF_FIELD)
#undef HPROF_FIELD
};

#endif
