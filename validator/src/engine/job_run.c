/* See job.h: the threads of the jobs begin, pause and end. */
#include "engine/job.h"

#include "base/workers.h"

/* Resolves layouts before the threads go on, because they may only read them. */
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
    if (!t->buffer)
        t->buffer = memory_try(&e->run.memory, e->jobs->buffer_size + READ_BEYOND);
    if (!t->windows) {
        t->windows = memory_try(&e->run.memory, sizeof *t->windows);
        if (t->windows)
            id_windows_init(t->windows, &e->heap.objects, &e->heap.twice);
    }
    if (!t->buffer || !t->windows || !hot_classes_like(&t->segment.hot, &e->heap.segment.hot, &e->run.memory))
        return false;
    prepare_segment(e, t);
    return true;
}

static void end_sharing(struct engine *e)
{
    id_set_end_sharing(&e->heap.objects);
    id_set_end_sharing(&e->heap.twice);
    id_set_end_sharing(&e->heap.special);
}

static bool prepare_threads(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (j->thread_count > 1 && !j->workers) {
        j->workers = workers_start(&e->run.memory, j->thread_count - 1);
        j->thread_count = 1 + workers_count(j->workers);
    }
    if (j->thread_count == 1 && !j->is_test)
        return false;
    j->ready = 0;
    while (j->ready < j->thread_count && prepare_thread(e, &j->threads[j->ready]))
        j->ready++;
    if (j->ready < (j->is_test ? 1 : 2))
        return false;
    if (id_set_share(&e->heap.objects) && id_set_share(&e->heap.twice) && id_set_share(&e->heap.special))
        return true;
    end_sharing(e);
    return false;
}

static void see_tables_anew(struct engine *e)
{
    resolve_layouts(e);
    e->jobs->pauses++;
}

bool open_jobs(struct engine *e, void (*add)(struct engine *e), void (*work)(struct job_thread *t, struct job *job))
{
    struct jobs *j = e->jobs;

    if (!prepare_threads(e))
        return false;
    j->is_open = true;
    j->source = e->in.source;
    j->add = add;
    j->work = work;
    see_tables_anew(e);
    e->run.memory.lock = &j->memory_lock;
    if (j->workers)
        workers_begin(j->workers, do_jobs, j);
    return true;
}

void close_jobs(struct engine *e)
{
    struct jobs *j = e->jobs;

    if (!j->is_open)
        return;
    queue_end(&j->queue);
    do_jobs(j, 0);
    if (j->workers)
        workers_wait(j->workers);
    e->run.memory.lock = NULL;
    end_sharing(e);
    j->is_open = false;
    j->next_piece = 0;
    j->gather.record_end = 0;
    queue_begin(&j->queue);
}

void pause_jobs(struct engine *e)
{
    if (e->jobs && e->jobs->is_open && !e->jobs->queue.paused)
        queue_pause(&e->jobs->queue);
}

static void resume(struct engine *e)
{
    if (!e->jobs->queue.paused)
        return;
    see_tables_anew(e);
    queue_resume(&e->jobs->queue);
}

struct job *await_job(struct engine *e)
{
    struct jobs *j = e->jobs;
    uint64_t number;

    resume(e);
    j->add(e);
    if (!is_active(j))
        return NULL;
    while (!queue_help(&j->queue, &number)) {
        do_job(&j->threads[0], number);
        j->add(e);
    }
    return queue_job(&j->queue, j->queue.front);
}
