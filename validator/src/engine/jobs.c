/* The coordinator of the jobs: see jobs.h. */
#include "engine/jobs.h"

#include <pthread.h>
#include <string.h>

#include "base/workers.h"
#include "engine/job.h"
#include "reread/reread.h"

enum { JOB_SIZE = 1 << 20, THREADS_MOST = 64 };

static bool is_active(const struct jobs *j)
{
    return j->next_piece < j->now->piece_count;
}

/* ---- A batch ---- */

/* Resolves layouts before the threads start, because they may only read them. */
static void resolve_layouts(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (j->resolved_dump != e->file.classes.dump)
        j->resolved = 0;
    j->resolved_dump = e->file.classes.dump;
    for (; j->resolved < e->file.classes.layouts.count; j->resolved++)
        classes_resolve(&e->file.classes, j->resolved);
}

static bool prepare_thread(struct engine *e, struct job_thread *t)
{
    struct segment *s = &t->segment;

    if (!t->buffer)
        t->buffer = memory_try(&e->run.memory, e->jobs->buffer_size + READ_BEYOND);
    if (!t->windows) {
        t->windows = memory_try(&e->run.memory, sizeof *t->windows);
        if (t->windows)
            id_windows_init(t->windows, &e->heap.objects, &e->heap.twice);
    }
    if (!t->buffer || !t->windows)
        return false;
    if (!hot_classes_like(&s->hot, &e->heap.segment.hot, &e->run.memory))
        return false;
    s->dump = e->file.classes.dump;
    t->e = e;
    t->job = e->jobs->now->jobs;
    s->meet = &meetings_in_jobs;
    s->context = t;
    s->id_size = e->file.id_size;
    s->objects = &e->heap.objects;
    s->wide = &e->heap.wide;
    s->epoch = heap_epoch(&e->heap, &e->file.classes);
    memcpy(s->known_traces, e->heap.segment.known_traces, sizeof s->known_traces);
    return true;
}

static void end_sharing(struct engine *e)
{
    id_set_end_sharing(&e->heap.objects);
    id_set_end_sharing(&e->heap.twice);
}

bool prepare_threads(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (j->thread_count > 1 && !j->workers) {
        j->workers = workers_start(&e->run.memory, j->thread_count - 1);
        j->thread_count = 1 + workers_count(j->workers);
    }
    if (j->thread_count == 1 && !j->is_test)
        return false;
    for (unsigned i = 0; i < j->thread_count; i++)
        if (!prepare_thread(e, &j->threads[i]))
            return false;
    resolve_layouts(e);
    if (id_set_share(&e->heap.objects) && id_set_share(&e->heap.twice))
        return true;
    end_sharing(e);
    return false;
}

/* A test begins jobs in a random order, on which nothing may depend. */
static void choose_order(struct engine *e)
{
    struct jobs *j = e->jobs;
    uint64_t random = e->run.key.multiply;

    for (size_t i = 0; i < j->now->job_count; i++) {
        size_t other = i;

        if (j->is_test) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            other = (size_t)((random >> 33) % (i + 1));
        }
        j->order[i] = j->order[other];
        j->order[other] = i;
    }
}

void do_batch(struct engine *e, void (*take)(void *context, unsigned number))
{
    struct jobs *j = e->jobs;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    choose_order(e);
    e->run.memory.lock = &lock;
    j->next_job = 0;
    if (j->workers)
        workers_begin(j->workers, take, j);
    j->later->job_count = 0;
    if (j->workers && j->now->next_end)
        gather_jobs(e, j->later, j->now->next, j->now->next_end);
    take(j, 0);
    if (j->workers)
        workers_wait(j->workers);
    e->run.memory.lock = NULL;
    pthread_mutex_destroy(&lock);
    end_sharing(e);
}

/* After a batch that found little to be plain, or had little to do, the next one begins farther on. */
static void choose_due(struct engine *e)
{
    struct jobs *j = e->jobs;
    uint64_t size = 0, checked = 0;

    for (size_t i = 0; i < j->now->job_count; i++) {
        const struct job *job = &j->now->jobs[i];

        size += job->size;
        checked += job->checked_until - j->now->pieces[job->first_piece].at;
    }
    if (j->is_test || checked >= size / 2)
        j->distance = j->job_size;
    else if (j->distance < 256 * j->job_size)
        j->distance *= 2;
    j->due = j->is_test || checked >= size / 2 ? 0 : j->now->next + j->distance;
}

static bool may_begin(const struct engine *e)
{
    return e->in.offset >= e->jobs->due && !e->heap.wrong.held && !e->cut.active && !e->run.memory.exhausted &&
           !e->file.losses.heap.end;
}

/* The batch that was gathered ahead, if the coordinator has reached its beginning; else a new one. */
static void choose_batch(struct engine *e)
{
    struct jobs *j = e->jobs;
    struct batch *later = j->later;

    if (later->job_count && later->begin == e->in.offset && later->record_end == e->position.heap_end) {
        j->later = j->now;
        j->now = later;
    } else {
        gather_jobs(e, j->now, e->in.offset, e->position.heap_end);
    }
}

static bool begin_batch(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!may_begin(e))
        return false;
    choose_batch(e);
    j->next_piece = 0;
    if (j->now->job_count < (j->is_test ? 1 : 2) || !prepare_threads(e)) {
        j->now->piece_count = 0;
        j->due = j->now->next > e->in.offset ? j->now->next : e->in.offset + j->job_size;
        return false;
    }
    if (!e->heap.reports_twice_later)
        e->heap.twice_from = e->in.offset;
    e->heap.reports_twice_later = true;
    do_batch(e, do_jobs);
    choose_due(e);
    return true;
}

/* ---- Taking over ---- */

void add_met_classes(struct engine *e, const struct job *job)
{
    for (size_t i = 0; i < job->met_count; i++) {
        const struct met_class *met = &job->met[i];

        if (met->array_class)
            use_array_class(&e->ck, met->array_class, met->at);
        else
            classes_layout(&e->file.classes, met->layout)->has_instances = true;
    }
}

/* If classes were dumped since the threads began, some instances may have waited for a class that precedes them. */
static void add_waiting(struct engine *e, struct job *job)
{
    end_waiting_range(&e->heap);
    for (size_t i = 0; i < job->waiting_count; i++) {
        job->waiting[i].must_be_plain = e->file.classes.layouts.count > e->jobs->resolved;
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

static void take_over_piece(struct engine *e, const struct piece *piece)
{
    struct jobs *j = e->jobs;
    struct job *job = &j->now->jobs[piece->job];
    size_t number = (size_t)(piece - j->now->pieces);
    bool stopped = job->checked_until >= piece->at && job->checked_until < piece->end;

    if (number == job->first_piece)
        take_over_job(e, job);
    if (!stopped || job->checked_until > piece->at)
        report_wrong_instance(&e->ck);
    input_go_on_at(&e->in, stopped ? job->checked_until : piece->end);
    j->next_piece = stopped ? job->first_piece + job->piece_count : number + 1;
    if (stopped && j->due <= e->in.offset)
        j->due = e->in.offset + 1;        /* the coordinator first checks what is not plain */
    e->heap.stretches.due = e->in.offset; /* what the coordinator checks after that is not in the job's stretch */
    show_progress(e);
}

bool jobs_take_over(struct engine *e)
{
    struct jobs *j = e->jobs;
    const struct piece *piece;

    if (!j || j->failed || e->run.stopped || (!is_active(j) && !begin_batch(e)))
        return false;
    piece = &j->now->pieces[j->next_piece];
    if (e->in.offset < piece->at)
        return false;
    if (e->in.offset > piece->at || e->position.heap_end != piece->record_end || j->failed)
        jobs_fail(e);
    else
        take_over_piece(e, piece);
    return true;
}

uint64_t jobs_border(const struct engine *e)
{
    const struct jobs *j = e->jobs;

    return j && is_active(j) ? j->now->pieces[j->next_piece].at : UINT64_MAX;
}

const uint8_t *jobs_header(const struct engine *e)
{
    const struct jobs *j = e->jobs;
    const struct piece *piece = j && is_active(j) ? &j->now->pieces[j->next_piece] : NULL;

    return piece && piece->begins_record && piece->at - RECORD_HEADER_SIZE == e->in.offset ? piece->header : NULL;
}

/* ---- The roll-back ---- */

void jobs_begin_heap_dump(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!j)
        return;
    j->distance = j->job_size;
    j->due = j->failed_dump == e->position.record_at ? UINT64_MAX : j->is_test ? 0 : e->position.record_at + j->job_size;
    take_checkpoint(e, &j->begin);
    if (e->unfilled)
        j->unfilled = *e->unfilled;
    j->wanted = e->run.findings.wanted.count;
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

bool jobs_are_ahead(const struct engine *e)
{
    return e->jobs && (is_active(e->jobs) || e->jobs->failed);
}

void jobs_fail(struct engine *e)
{
    e->jobs->failed = true;
    e->framing.stopped = true;
}

bool jobs_roll_back(struct engine *e)
{
    struct jobs *j = e->jobs;
    const struct checkpoint *to;

    if (!jobs_are_ahead(e) || e->run.memory.exhausted || e->in.error)
        return false;
    to = &j->begin;
    j->failed = false;
    j->now->piece_count = j->later->job_count = j->next_piece = 0;
    j->failed_dump = to->record_at;
    drop_crossing(e);
    heap_drop(&e->ck);
    findings_roll_back(&e->run.findings, &to->findings);
    chunks_shrink(&e->run.findings.wanted, j->wanted);
    jumps_shrink(&e->file.jumps, to->record_at);
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
    bool is_test = testing && testing->job && !testing->usual_order;
    struct jobs *j;

    if ((threads == 1 && !is_test) || !input_can_reread(&e->in) || e->in.compressed ||
        input_file_size(&e->in) < (is_test ? 1 : e->run.sizes.threads_from))
        return;
    j = memory_try(&e->run.memory, sizeof *j);
    if (!j)
        return;
    *j = (struct jobs){.thread_count = threads,
                       .job_size = job_size,
                       .is_test = is_test,
                       .pieces_most = e->run.sizes.job_pieces,
                       .buffer_size = (size_t)job_size + e->run.sizes.job_beyond,
                       .read_size = e->run.sizes.job_read,
                       .failed_dump = UINT64_MAX,
                       .due = UINT64_MAX,
                       .job_capacity = (size_t)threads * e->run.sizes.batch};
    e->jobs = j;
    j->now = &j->batches[0];
    j->later = &j->batches[1];
    j->threads = memory_try(&e->run.memory, threads * sizeof *j->threads);
    for (struct batch *b = j->batches; b < j->batches + 2; b++) {
        b->jobs = memory_try(&e->run.memory, j->job_capacity * sizeof *b->jobs);
        b->pieces = memory_try(&e->run.memory, j->job_capacity * j->pieces_most * sizeof *b->pieces);
    }
    j->order = memory_try(&e->run.memory, j->job_capacity * sizeof *j->order);
    j->ahead = memory_try(&e->run.memory, e->run.sizes.ahead);
    if (j->threads)
        memset(j->threads, 0, threads * sizeof *j->threads);
    if (!j->threads || !j->now->jobs || !j->now->pieces || !j->later->jobs || !j->later->pieces || !j->order || !j->ahead)
        jobs_clear(e);
}

void jobs_clear(struct engine *e)
{
    struct jobs *j = e->jobs;
    struct memory *m = &e->run.memory;
    unsigned threads = count_threads(e);

    if (!j)
        return;
    workers_stop(j->workers, m);
    for (unsigned i = 0; j->threads && i < threads; i++) {
        hot_classes_clear(&j->threads[i].segment.hot, m);
        memory_put(m, j->threads[i].buffer, j->buffer_size + READ_BEYOND);
        memory_put(m, j->threads[i].windows, sizeof *j->threads[i].windows);
    }
    memory_put(m, j->threads, threads * sizeof *j->threads);
    memory_put(m, j->order, j->job_capacity * sizeof *j->order);
    for (struct batch *b = j->batches; b < j->batches + 2; b++) {
        memory_put(m, b->jobs, j->job_capacity * sizeof *b->jobs);
        memory_put(m, b->pieces, j->job_capacity * j->pieces_most * sizeof *b->pieces);
    }
    memory_put(m, j->ahead, e->run.sizes.ahead);
    memory_put(m, j, sizeof *j);
    e->jobs = NULL;
}
