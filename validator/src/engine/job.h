/* What the three files of the jobs share: job_pieces.c divides a heap dump into jobs, job_thread.c does a job, and jobs.c is the
 * coordinator. */
#ifndef HPROF_JOB_H
#define HPROF_JOB_H

#include "engine/engine.h"

enum {
    CLASSES_MET = 256, /* at most, in a job */
    RANGES_MOST = 64   /* likewise, of waiting instances */
};

/* The sub-records of a heap dump record, or some of them, that belong to one job. */
struct piece {
    uint64_t at, end;
    uint64_t record_end;
    size_t job;
    bool begins_record;
    uint8_t header[RECORD_HEADER_SIZE]; /* then: of the record */
};

/* A class that a job is the first to use: of instances, or of object arrays, and then where. */
struct met_class {
    uint64_t array_class; /* 0: of instances */
    uint32_t layout;
    uint64_t at;
};

struct job {
    size_t first_piece, piece_count;
    uint64_t size;
    /* The result: */
    uint64_t checked_until; /* the end of its last piece if all was plain */
    struct object_counts counts;
    struct stretch stretch;
    struct met_class met[CLASSES_MET];
    size_t met_count;
    /* Instances that wait for their class. While these are checked, a job is one range, and its result is the rest of the range. */
    struct waiting_range waiting[RANGES_MOST];
    size_t waiting_count;
};

/* The state of one thread. */
struct job_thread {
    struct segment segment;
    const struct engine *e;
    struct job *job; /* the present or last one of this batch, */
    const struct piece *piece;
    struct id_windows *windows;
    uint8_t *buffer;
    uint64_t at; /* of the first byte in the buffer */
    size_t size; /* bytes in it */
};

struct batch {
    uint64_t begin, record_end; /* its first sub-record, and the end of that record */
    uint64_t next, next_end;    /* likewise of the batch after it; next_end is 0 if there is none */
    struct job *jobs;
    size_t job_count;
    struct piece *pieces;
    size_t piece_count;
};

struct jobs {
    struct workers *workers;
    unsigned thread_count; /* with the coordinator */
    struct job_thread *threads;
    uint64_t job_size;
    size_t pieces_most;            /* in a job */
    bool is_test;                  /* small jobs, in any order */
    size_t buffer_size, read_size; /* of a thread, and what is read at once */

    struct batch batches[2];
    struct batch *now, *later; /* the one after it is gathered while the threads do this one */
    size_t job_capacity;       /* of each */
    size_t *order;             /* the order in which the jobs are begun */
    size_t next_job;           /* to be begun */
    size_t next_piece;         /* that the coordinator has not come to */

    uint64_t due;      /* no batch begins before this offset */
    uint64_t distance; /* of the next batch after one that found nothing plain */
    uint32_t resolved; /* layouts up to here were looked at, in the heap dump with that number: */
    uint32_t resolved_dump;

    uint8_t *ahead; /* bytes of the dump in which record headers are looked for */
    uint64_t ahead_at;
    size_t ahead_size;

    /* The roll-back. */
    bool failed;
    uint64_t failed_dump;       /* the first record of the heap dump that is checked without jobs; UINT64_MAX for none */
    struct checkpoint begin;    /* the first record of this heap dump */
    struct checkpoint unfilled; /* that of the engine, then */
    size_t wanted;              /* offsets, then */
};

/* ---- job_thread.c ---- */
extern const struct first_meetings meetings_in_jobs;
/* These take jobs of the present batch until none is left, for the thread with a number. `context` is the struct jobs. */
void do_jobs(void *context, unsigned number);
void do_ranges(void *context, unsigned number);

/* ---- jobs.c ---- */
/* Prepares the threads. False if there are none, or no memory for them. */
bool prepare_threads(struct engine *e);
/* Has all threads take jobs of the present batch, and meanwhile gathers the batch after it, if there is one. */
void do_batch(struct engine *e, void (*take)(void *context, unsigned number));
void add_met_classes(struct engine *e, const struct job *job);

/* ---- job_pieces.c ---- */
/* Divides what follows a sub-record, `at`, into pieces and jobs: the rest of its record, which ends at `end`, and the segments
 * after it. */
void gather_jobs(struct engine *e, struct batch *b, uint64_t at, uint64_t end);

#endif
