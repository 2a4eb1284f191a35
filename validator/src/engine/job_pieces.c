/* Divides a heap dump into pieces and jobs, by the headers of its records, which are read ahead. */
#include <string.h>

#include "engine/job.h"

/* Read at once, as parts of the most: if records are short, and if they are long. */
enum { AHEAD_SOME = 4, AHEAD_LITTLE = 64 };

/* ---- Looking ahead ---- */

/* The *n bytes at an offset that are in memory. */
static const uint8_t *find_ahead(const struct jobs *j, uint64_t at, size_t *n)
{
    bool is_there = at >= j->ahead_at && at < j->ahead_at + j->ahead_size;

    *n = is_there ? (size_t)(j->ahead_at + j->ahead_size - at) : 0;
    return is_there ? j->ahead + (at - j->ahead_at) : NULL;
}

static const uint8_t *read_ahead(struct engine *e, uint64_t at, size_t wanted, size_t *n)
{
    struct jobs *j = e->jobs;

    j->ahead_at = at;
    j->ahead_size = input_read_at(&e->in, at, j->ahead, wanted);
    return find_ahead(j, at, n);
}

/* The header of the record at an offset, `distance` after the preceding one; NULL if the dump ends before. */
static const uint8_t *look_at_header(struct engine *e, uint64_t at, uint64_t distance)
{
    size_t n, most = e->run.sizes.ahead;
    const uint8_t *p = find_ahead(e->jobs, at, &n);

    if (n < RECORD_HEADER_SIZE)
        p = read_ahead(e, at, most / (distance < most / AHEAD_SOME ? AHEAD_SOME : AHEAD_LITTLE), &n);
    return n < RECORD_HEADER_SIZE ? NULL : p;
}

/* The end of the piece that begins at a sub-record, or at a cut: of the record, if that is not far and in the file. Else a cut. */
static uint64_t end_of_piece(struct engine *e, uint64_t at, uint64_t record_end, bool *is_part)
{
    uint64_t size = input_file_size(&e->in), job_size = e->jobs->job_size;
    uint64_t end = record_end < size ? record_end : size;

    *is_part = e->jobs->gather.is_within || record_end - at > 2 * job_size;
    if (*is_part && end > at)
        return end - at > job_size ? at + job_size : end;
    return record_end <= size ? record_end : at;
}

void begin_pieces(struct engine *e, uint64_t at, uint64_t end)
{
    struct jobs *j = e->jobs;

    j->gather.at = at;
    j->gather.record_end = end;
    j->gather.begins_record = j->gather.is_within = false;
}

/* A record has ended: the segment that follows is next, if there is one. */
static void go_to_next_record(struct engine *e, uint64_t distance)
{
    struct jobs *j = e->jobs;
    uint64_t at = j->gather.record_end;
    const uint8_t *p = e->heap.open ? look_at_header(e, at, distance) : NULL;
    struct walk_item record = p ? walk_header(p) : (struct walk_item){0};

    if (record.tag != TAG_HEAP_DUMP_SEGMENT || !record.length) {
        begin_pieces(e, at, 0);
        return;
    }
    begin_pieces(e, at + RECORD_HEADER_SIZE, at + record.size);
    j->gather.begins_record = true;
    memcpy(j->gather.header, p, RECORD_HEADER_SIZE);
}

/* False if there is none, or if it is a part and not the first piece of its job. */
static bool gather_piece(struct engine *e, struct job *job)
{
    struct jobs *j = e->jobs;
    struct piece piece = {.at = j->gather.at,
                          .record_end = j->gather.record_end,
                          .begins_record = j->gather.begins_record,
                          .is_within = j->gather.is_within};

    piece.end = end_of_piece(e, piece.at, piece.record_end, &piece.is_part);
    if (piece.is_part && job->piece_count)
        return false;
    if (piece.end <= piece.at) {
        j->gather.record_end = 0;
        return false;
    }
    memcpy(piece.header, j->gather.header, RECORD_HEADER_SIZE);
    job->pieces[job->piece_count++] = piece;
    job->size += piece.end - piece.at;
    if (piece.end == piece.record_end) {
        go_to_next_record(e, piece.end - piece.at);
    } else {
        begin_pieces(e, piece.end, piece.record_end);
        j->gather.is_within = true;
    }
    return !piece.is_part;
}

/* False if there is nothing left for it. */
static bool gather_job(struct engine *e, uint64_t number)
{
    struct jobs *j = e->jobs;
    struct job *job = queue_job(&j->queue, number);

    job->done = false;
    job->stop = 0;
    job->pieces = j->pieces + number % j->queue.capacity * j->pieces_most;
    job->piece_count = 0;
    job->size = 0;
    job->stretch = (struct stretch){.at = j->gather.at, .record_end = j->gather.record_end};
    while (j->gather.record_end && job->size < j->job_size && job->piece_count < j->pieces_most && gather_piece(e, job))
        continue;
    return job->piece_count;
}

/* A test begins jobs in a random order, on which nothing may depend. But parts wait for the part before. */
static void choose_order(struct engine *e, uint64_t from, uint64_t to)
{
    struct job_queue *q = &e->jobs->queue;
    uint64_t random = e->run.key.multiply ^ from;

    for (uint64_t i = from; i < to; i++) {
        uint64_t other = i;

        if (e->jobs->is_test) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            other = from + (random >> 33) % (i - from + 1);
        }
        if (queue_job(q, i)->pieces[0].is_part || queue_job(q, other)->pieces[0].is_part)
            other = i;
        q->order[i % q->capacity] = q->order[other % q->capacity];
        q->order[other % q->capacity] = i;
    }
}

/* Many at a time: where the coordinator is the slowest, each call wakes the threads. They begin before all are added. */
void add_pieces(struct engine *e)
{
    struct jobs *j = e->jobs;
    struct job_queue *q = &j->queue;
    size_t some = 4 * j->thread_count;

    if (queue_room(q) < q->capacity / 4)
        return;
    while (j->gather.record_end && queue_room(q)) {
        uint64_t number = q->added, end = number + (some < queue_room(q) ? some : queue_room(q));

        while (number < end && gather_job(e, number))
            number++;
        choose_order(e, q->added, number);
        queue_add(q, number);
    }
}
