/* The coordinator of the jobs: see jobs.h. */
#include "engine/jobs.h"

#include <string.h>

#include "base/workers.h"
#include "engine/job.h"
#include "format/tags.h"
#include "reread/reread.h"

enum { JOB_SIZE = 1 << 20, THREADS_MOST = 64 };

/* ---- The jobs of a heap dump begin ---- */

/* Those that no thread has begun are not wanted. */
static void drop_jobs(struct jobs *j)
{
    queue_drop(&j->queue);
    j->gather.record_end = 0;
}

static bool may_begin(const struct engine *e)
{
    return e->in.offset >= e->jobs->due && !e->heap.wrong.held && !e->cut.active && !e->run.memory.exhausted &&
           !e->file.losses.heap.end;
}

/* Begins with the sub-record here. */
static bool begin_jobs(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!may_begin(e))
        return false;
    pause_jobs(e);
    begin_pieces(e, e->in.offset, e->position.heap_end);
    add_pieces(e);
    j->border = e->in.offset;
    if (j->queue.added - j->queue.front < (j->is_test ? 1 : 2) || (!j->is_open && !open_jobs(e, add_pieces, check_pieces))) {
        j->due = j->gather.at > e->in.offset ? j->gather.at : e->in.offset + j->job_size;
        drop_jobs(j);
        return false;
    }
    if (!e->heap.reports_twice_later)
        e->heap.twice_from = e->in.offset;
    e->heap.reports_twice_later = true;
    return true;
}

/* ---- Taking over ---- */

void add_met_classes(struct engine *e, const struct job *job)
{
    for (size_t i = 0; i < job->met_count; i++) {
        const struct met_class *met = &job->met[i];

        if (!met->class_id)
            classes_layout(&e->file.classes, met->layout)->has_instances = true;
        else if (met->instance)
            use_missing_class(&e->ck, met->class_id, met->instance, met->at);
        else
            use_array_class(&e->ck, met->class_id, met->at);
    }
}

/* If classes were dumped since the job was done, some instances may have waited for a class that precedes them. */
static void add_waiting(struct engine *e, struct job *job)
{
    end_waiting_range(&e->heap);
    for (size_t i = 0; i < job->waiting_count; i++) {
        job->waiting[i].must_be_plain = e->file.classes.layouts.count > job->layouts;
        add_waiting_range(&e->heap.waiting, &job->waiting[i]);
    }
}

static void take_over_job(struct engine *e, struct job *job)
{
    struct stretch *stretch = chunks_add(&e->heap.stretches.list);

    if (stretch)
        *stretch = job->stretch;
    enter_stretch(&e->heap, stretch);
    if (job->waiting_count)
        add_waiting(e, job);
    add_counts(&e->ck, &job->counts);
    add_met_classes(e, job);
}

/* What follows is not worth jobs until farther on, and farther each time. */
static void leave_jobs(struct engine *e, uint64_t at)
{
    struct jobs *j = e->jobs;

    pause_jobs(e);
    drop_jobs(j);
    if (j->due < at + j->distance)
        j->due = at + j->distance;
    if (j->distance < 256 * j->job_size)
        j->distance *= 2;
}

/* The coordinator checks the rest of a job. */
static void leave_job(struct engine *e, const struct job *job)
{
    struct jobs *j = e->jobs;

    if (j->is_test || job->checked_until - job->pieces[0].at >= job->size / 2)
        j->distance = j->job_size;
    else
        leave_jobs(e, job->checked_until);
}

/* To the next piece, or after the last one to the next job. */
static void pass_piece(struct jobs *j, const struct job *job)
{
    if (++j->next_piece < job->piece_count)
        return;
    j->next_piece = 0;
    queue_pass(&j->queue);
}

static void take_over_piece(struct engine *e, struct job *job, const struct piece *piece)
{
    struct jobs *j = e->jobs;
    bool stopped = job->checked_until >= piece->at && job->checked_until < piece->end;

    if (piece == job->pieces)
        take_over_job(e, job);
    if (!stopped || job->checked_until > piece->at)
        report_wrong_instance(&e->ck);
    input_go_on_at(&e->in, stopped ? job->checked_until : piece->end);
    j->border = piece->end;
    if (stopped) {
        leave_job(e, job);
        j->next_piece = job->piece_count;
    }
    pass_piece(j, job);
    if (stopped && j->due <= e->in.offset)
        j->due = e->in.offset + 1;        /* the coordinator first checks what is not plain */
    e->heap.stretches.due = e->in.offset; /* what the coordinator checks after that is not in the job's stretch */
    show_progress(e);
}

/* The next piece that jobs check; NULL if there is none. */
static const struct piece *next_piece(const struct jobs *j)
{
    return is_active(j) ? &queue_job(&j->queue, j->queue.front)->pieces[j->next_piece] : NULL;
}

uint64_t jobs_border(const struct engine *e)
{
    const struct piece *piece = e->jobs ? next_piece(e->jobs) : NULL;

    return !piece ? UINT64_MAX : piece->is_within ? e->jobs->border : piece->at;
}

bool jobs_take_over(struct engine *e)
{
    struct jobs *j = e->jobs;
    const struct piece *piece;
    struct job *job;

    if (!j || j->failed || e->run.stopped || (!is_active(j) && !begin_jobs(e)))
        return false;
    if (e->in.offset < jobs_border(e)) {
        pause_jobs(e);
        return false;
    }
    job = await_job(e);
    piece = next_piece(j);
    if (!job->piece_count) {
        if (job->stop == UNKNOWN_STOP) /* lengths do not lead here */
            leave_jobs(e, e->in.offset);
        pass_piece(j, job);
    } else if (e->in.offset != piece->at || e->position.heap_end != piece->record_end) {
        jobs_fail(e);
    } else {
        take_over_piece(e, job, piece);
    }
    return true;
}

const uint8_t *jobs_header(const struct engine *e)
{
    const struct piece *piece = e->jobs ? next_piece(e->jobs) : NULL;

    return piece && piece->begins_record && piece->at - RECORD_HEADER_SIZE == e->in.offset ? piece->header : NULL;
}

/* ---- The roll-back ---- */

/* Whether one thread checks the heap dump that begins here: because it was rolled back, or is smaller than a job. */
static bool has_no_jobs(const struct engine *e)
{
    const struct jobs *j = e->jobs;

    return j->failed_dump == e->position.record_at ||
           (!j->is_test && e->position.record_tag == TAG_HEAP_DUMP && e->position.record_length < j->job_size);
}

void jobs_begin_heap_dump(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!j)
        return;
    j->due = UINT64_MAX;
    if (has_no_jobs(e))
        return;
    j->distance = j->job_size;
    j->due = j->is_test ? 0 : e->position.record_at + j->job_size;
    take_checkpoint(e, &j->begin);
    if (e->unfilled)
        j->unfilled = *e->unfilled;
    j->wanted = e->run.findings.wanted.count;
    j->jumps = e->file.jumps.list.count; /* one may lead to this record, and to itself */
}

void jobs_pass_heap_dump(struct engine *e)
{
    if (!e->jobs)
        return;
    e->jobs->due = UINT64_MAX;
    e->jobs->failed_dump = e->position.record_at;
}

/* IDs that were defined twice so far are reported with the names that were known so far. */
static void report_duplicates_here(struct engine *e)
{
    uint64_t record_number = e->position.record_number;

    e->position.record_number = 0; /* they are not of the present record */
    report_duplicates(&e->ck, e->position.record_at);
    e->position.record_number = record_number;
    e->heap.reports_twice_later = false;
}

bool jobs_bar(struct engine *e)
{
    if (!e->jobs)
        return true;
    if (jobs_are_ahead(e) || e->heap.waiting.must_some_be_plain) {
        jobs_fail(e);
        return false;
    }
    close_jobs(e);
    report_duplicates_here(e);
    e->jobs->due = UINT64_MAX;
    return true;
}

void jobs_end_heap_dump(struct engine *e)
{
    if (e->jobs)
        e->jobs->due = UINT64_MAX;
}

bool jobs_begin_again(struct engine *e)
{
    if (!e->jobs || e->jobs->due == UINT64_MAX)
        return false;
    jobs_fail(e);
    return true;
}

/* The coordinator has passed their record: nothing begins in them. */
static bool parts_are_left(const struct engine *e)
{
    const struct piece *piece = next_piece(e->jobs);

    return piece && piece->is_within && piece->record_end <= e->in.offset;
}

bool jobs_are_ahead(struct engine *e)
{
    struct jobs *j = e->jobs;
    const struct job *job;

    if (!j || j->failed)
        return j;
    while (parts_are_left(e) && !e->run.memory.exhausted && !e->in.error) {
        job = await_job(e);
        if (job->piece_count)
            return true;
        pass_piece(j, job);
    }
    pause_jobs(e);
    return is_active(j);
}

void jobs_fail(struct engine *e)
{
    pause_jobs(e);
    e->jobs->failed = true;
    e->framing.stopped = true;
}

bool jobs_roll_back(struct engine *e)
{
    struct jobs *j = e->jobs;
    const struct checkpoint *to;

    if (!jobs_are_ahead(e) || e->run.memory.exhausted || e->in.error)
        return false;
    close_jobs(e);
    to = &j->begin;
    j->failed = false;
    j->failed_dump = to->record_at;
    drop_crossing(e);
    heap_drop(&e->ck);
    discard_uses(&e->ck, to->record_at);
    findings_roll_back(&e->run.findings, &to->findings);
    chunks_shrink(&e->run.findings.wanted, j->wanted);
    jumps_shrink(&e->file.jumps, j->jumps);
    restore(e, to);
    if (e->unfilled)
        *e->unfilled = j->unfilled;
    e->resume = (struct resumption){0};
    return input_seek(&e->in, to->record_at);
}

/* ---- The beginning and the end ---- */

static unsigned count_threads(const struct engine *e)
{
    unsigned threads = e->run.options->threads;

    return threads < 1 ? 1 : threads > THREADS_MOST ? THREADS_MOST : threads;
}

void jobs_init(struct engine *e)
{
    const struct hprof_testing *testing = e->run.options->testing;
    uint64_t job_size = testing && testing->job ? testing->job : JOB_SIZE;
    unsigned threads = count_threads(e);
    bool is_test = testing && testing->job && !testing->usual_order, is_there;
    struct memory *m = &e->run.memory;
    struct jobs *j;

    if ((threads == 1 && !is_test) || !input_can_reread(&e->in) || e->in.compressed ||
        input_file_size(&e->in) < (is_test ? 1 : e->run.sizes.threads_from))
        return;
    j = memory_try(m, sizeof *j);
    if (!j)
        return;
    *j = (struct jobs){.thread_count = threads,
                       .job_size = job_size,
                       .is_test = is_test,
                       .pieces_most = e->run.sizes.job_pieces,
                       .buffer_size = (size_t)job_size + e->run.sizes.job_beyond,
                       .read_size = e->run.sizes.job_read,
                       .failed_dump = UINT64_MAX,
                       .due = UINT64_MAX};
    e->jobs = j;
    pthread_mutex_init(&j->memory_lock, NULL);
    is_there = queue_init(&j->queue, m, (size_t)threads * e->run.sizes.jobs_ahead);
    j->pieces = memory_try(m, j->queue.capacity * j->pieces_most * sizeof *j->pieces);
    j->ahead = memory_try(m, e->run.sizes.ahead);
    j->threads = memory_try(m, threads * sizeof *j->threads);
    if (j->threads)
        memset(j->threads, 0, threads * sizeof *j->threads);
    if (!is_there || !j->pieces || !j->ahead || !j->threads)
        jobs_clear(e);
}

void jobs_clear(struct engine *e)
{
    struct jobs *j = e->jobs;
    struct memory *m = &e->run.memory;
    unsigned threads = count_threads(e);

    if (!j)
        return;
    close_jobs(e);
    workers_stop(j->workers, m);
    for (unsigned i = 0; j->threads && i < threads; i++) {
        clear_segment(e, &j->threads[i]);
        memory_put(m, j->threads[i].buffer, j->buffer_size + READ_BEYOND);
        memory_put(m, j->threads[i].windows, sizeof *j->threads[i].windows);
    }
    memory_put(m, j->threads, threads * sizeof *j->threads);
    memory_put(m, j->ahead, e->run.sizes.ahead);
    memory_put(m, j->pieces, j->queue.capacity * j->pieces_most * sizeof *j->pieces);
    queue_clear(&j->queue, m);
    pthread_mutex_destroy(&j->memory_lock);
    memory_put(m, j, sizeof *j);
    e->jobs = NULL;
}
