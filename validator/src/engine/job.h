/* What the files of the jobs share. job_pieces.c divides a heap dump into jobs; job_queue.c hands them to the threads;
 * job_thread.c does a job, with bytes from job_bytes.c; job_parts.c finds the sub-records of a part of a giant record;
 * job_waiting.c has the same threads check instances that waited; jobs.c is the coordinator. */
#ifndef HPROF_JOB_H
#define HPROF_JOB_H

#include "engine/engine.h"

#define UNKNOWN_STOP UINT64_MAX

enum {
    CLASSES_MET = 256, /* at most, in a job */
    RANGES_MOST = 64,  /* likewise, of waiting instances */
    STOPS = 16         /* so that the end of a part wakes few threads but the one that waits for it */
};

/* The sub-records of a heap dump record, or some of them, that belong to one job. A giant record is cut anywhere: its parts are
 * those that begin between two cuts. Where the first one is, is known only once the part before is framed (job_parts.c). */
struct piece {
    uint64_t at, end; /* of a part, until its job is done: cuts */
    uint64_t record_end;
    bool is_part;   /* the only piece of its job */
    bool is_within; /* a part that is not the first */
    bool begins_record;
    uint8_t header[RECORD_HEADER_SIZE]; /* then: of the record */
};

/* A class that a job is the first to use: of instances, or of object arrays; and where, unless it has a layout. */
struct met_class {
    uint64_t class_id; /* 0 if it has a layout and is of instances */
    uint64_t at;
    union {
        uint32_t layout;
        uint64_t instance; /* the ID of an instance; 0 if the class is of arrays */
    };
};

struct job {
    struct piece *pieces;
    size_t piece_count;
    uint64_t size;
    bool done; /* under the lock of the queue, as the next */
    uint64_t
        stop; /* of a part: its end; UNKNOWN_STOP if lengths do not lead to the next part; 0 as long as that is not decided */
    /* The result: */
    uint64_t checked_until; /* the end of its last piece if all was plain */
    uint32_t layouts;       /* that were known when it was done */
    struct object_counts counts;
    struct stretch stretch;
    struct met_class met[CLASSES_MET];
    size_t met_count;
    /* Instances that wait for their class. While these are checked, a job is some ranges of their log, and its result the rests of
     * these. */
    struct waiting_range waiting[RANGES_MOST];
    size_t waiting_count;
    struct log_part {
        uint64_t next, end;         /* in the log */
        struct waiting_range range; /* the one before */
    } log;                          /* after the job: what is left for the coordinator */
};

/* The state of one thread. */
struct job_thread {
    struct segment segment;
    const struct engine *e;
    uint64_t number; /* of the present or last job */
    struct job *job;
    const struct piece *piece;
    uint64_t pauses; /* of the queue, up to which `segment` knows the tables */
    struct id_windows *windows;
    uint8_t *buffer;
    uint64_t at; /* of the first byte in the buffer */
    size_t size; /* bytes in it */
};

/* Jobs have consecutive numbers, and their places are a ring. The coordinator adds them in the order of the file and takes them
 * over in that order; between, any thread does them. The tables that a job reads change only while the queue is paused. */
struct job_queue {
    pthread_mutex_t lock;
    pthread_cond_t more;        /* jobs, or the end: the threads wait for it */
    pthread_cond_t done;        /* a job is done: the coordinator waits for it */
    pthread_cond_t stop[STOPS]; /* the end of a part is known, by its number: the thread with the next part waits for it */
    struct job *ring;
    size_t capacity;
    uint64_t *order; /* a ring: the numbers of jobs in the order in which they are begun */
    uint64_t added;  /* jobs up to here can be taken; written by the coordinator, under the lock */
    uint64_t front;  /* the next one to be taken over; likewise */
    bool paused;     /* likewise */
    bool ended;      /* likewise */
    /* Under the lock: */
    uint64_t taken;
    unsigned busy;     /* jobs that are being done */
    unsigned sleeping; /* threads */
};

struct jobs {
    struct workers *workers;
    unsigned thread_count; /* with the coordinator */
    unsigned ready;        /* those for which there was memory */
    struct job_thread *threads;
    uint64_t job_size;
    size_t pieces_most;            /* in a job */
    bool is_test;                  /* small jobs, in any order */
    size_t buffer_size, read_size; /* of a thread, and what is read at once */

    struct input_source source; /* that the threads read at any position: a copy, because that of the input moves */
    struct job_queue queue;
    struct piece *pieces;        /* of all jobs of the ring */
    bool is_open;                /* the threads work */
    uint64_t pauses;             /* changes while the queue is paused: the tables may have changed */
    pthread_mutex_t memory_lock; /* of the run's memory, while they do */
    /* The present kind of jobs: adds some jobs to the queue, if there are more; does one. */
    void (*add)(struct engine *e);
    void (*work)(struct job_thread *t, struct job *job);

    size_t next_piece; /* of the job at the front, that the coordinator has not come to */
    uint64_t border;   /* the end of the piece before it */
    struct {           /* where the next piece begins */
        uint64_t at;
        uint64_t record_end; /* 0 if there is none */
        bool begins_record, is_within;
        uint8_t header[RECORD_HEADER_SIZE];
    } gather;
    struct log_part log; /* of waiting instances, for which there is no job yet */

    uint64_t due;      /* no jobs begin before this offset */
    uint64_t distance; /* of the next jobs after one that found little to be plain */
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
    size_t wanted, jumps;       /* offsets and jumps, then */
};

/* ---- job_queue.c ---- */
/* The place of a job. */
static inline struct job *queue_job(const struct job_queue *q, uint64_t number)
{
    return &q->ring[number % q->capacity];
}
/* False if there is no memory. */
bool queue_init(struct job_queue *q, struct memory *memory, size_t capacity);
void queue_clear(struct job_queue *q, struct memory *memory);
/* Before the threads begin: there are no jobs. */
void queue_begin(struct job_queue *q);
/* For the coordinator: how many places are free. */
size_t queue_room(const struct job_queue *q);
/* Lets threads take all jobs before a number. */
void queue_add(struct job_queue *q, uint64_t number);
/* Removes the jobs that are not begun. Only while it is paused. */
void queue_drop(struct job_queue *q);
/* The job at the front was taken over. */
void queue_pass(struct job_queue *q);
/* For the coordinator: true if the job at the front is done. Otherwise takes a job, or, if there is none, waits. */
bool queue_help(struct job_queue *q, uint64_t *number);
/* For any other thread: takes a job. Waits until there is one; false at the end. */
bool queue_take(struct job_queue *q, uint64_t *number);
void queue_finish(struct job_queue *q, uint64_t number);
/* The end of a part is known. For the next part: whether it is; waits until it is. */
void queue_give_stop(struct job_queue *q, uint64_t number, uint64_t stop);
bool queue_has_stop(struct job_queue *q, uint64_t number);
uint64_t queue_await_stop(struct job_queue *q, uint64_t number);
/* When it returns, no thread does a job, and none begins one before queue_resume(). */
void queue_pause(struct job_queue *q);
void queue_resume(struct job_queue *q);
/* No more jobs are begun. */
void queue_end(struct job_queue *q);

/* ---- job_bytes.c ---- */
/* Reads more bytes into the buffer, up to `end`, and keeps those from the next needed offset on. False if there are none, or no
 * room. */
bool read_more(struct job_thread *t, uint64_t from, uint64_t end);

/* ---- job_thread.c ---- */
extern const struct first_meetings meetings_in_jobs;
/* Before the threads begin. */
void prepare_segment(struct engine *e, struct job_thread *t);
/* When they have ended. */
void clear_segment(struct engine *e, struct job_thread *t);
/* Do one job. */
void check_pieces(struct job_thread *t, struct job *job);
void check_ranges(struct job_thread *t, struct job *job);
/* Does jobs until the queue ends, as the thread with a number. `context` is the struct jobs. */
void do_jobs(void *context, unsigned number);
void do_job(struct job_thread *t, uint64_t number);

/* ---- job_parts.c ---- */
/* Finds out where the only piece of the present job begins and ends. False if there is nothing to check. */
bool frame_part(struct job_thread *t);

/* ---- job_run.c ---- */
/* Whether there are jobs that the coordinator has not come to. */
static inline bool is_active(const struct jobs *j)
{
    return j->queue.front != j->queue.added;
}
/* Lets the threads begin. False if there are none, or no memory for them. */
bool open_jobs(struct engine *e, void (*add)(struct engine *e), void (*work)(struct job_thread *t, struct job *job));
/* Waits until they have ended; their IDs are in the set then. */
void close_jobs(struct engine *e);
/* The job at the front, when it is done. Meanwhile the coordinator does other jobs. NULL if there is none. */
struct job *await_job(struct engine *e);
/* The coordinator is about to change what the threads read. */
void pause_jobs(struct engine *e);

/* ---- jobs.c ---- */
void add_met_classes(struct engine *e, const struct job *job);

/* ---- job_pieces.c ---- */
/* The next pieces are those that follow a sub-record, `at`: the rest of its record, which ends at `end`, and the segments after
 * it. */
void begin_pieces(struct engine *e, uint64_t at, uint64_t end);
/* Adds some jobs. */
void add_pieces(struct engine *e);

#endif
