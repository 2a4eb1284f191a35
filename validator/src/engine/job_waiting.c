/* Instances that waited for their class are checked by the threads, ranges that lie together as a job; the coordinator checks what
 * is not plain. */
#include "engine/job.h"
#include "reread/reread.h"

/* Makes a job of the next ranges that lie together. False if there are no more. */
static bool gather_ranges(struct engine *e, struct job *job)
{
    struct log_part *log = &e->jobs->log, next = *log;
    bool is_first = true;

    job->done = false;
    job->log = *log;
    while (next_waiting_range(&e->ck, &next.next, &next.range)) {
        if (is_first)
            job->stretch = (struct stretch){.at = next.range.at};
        else if (next.range.at - job->stretch.at >= e->jobs->job_size)
            break;
        *log = next;
        is_first = false;
    }
    job->log.end = log->next;
    return !is_first;
}

static void add_ranges(struct engine *e)
{
    struct job_queue *q = &e->jobs->queue;
    uint64_t number = q->added, end = number + queue_room(q);

    for (; number < end && gather_ranges(e, queue_job(q, number)); number++)
        q->order[number % q->capacity] = number;
    if (number > q->added)
        queue_add(q, number);
}

static void check_rest(struct engine *e, const struct waiting_range *rest)
{
    pause_jobs(e);
    check_waiting_range(&e->ck, rest);
}

static void take_over_ranges(struct engine *e, const struct job *job)
{
    struct log_part log = job->log;

    stretches_add_referenced(&e->heap.stretches, job->stretch.at, job->checked_until, &job->stretch.referenced);
    add_counts(&e->ck, &job->counts);
    add_met_classes(e, job);
    for (size_t i = 0; i < job->waiting_count; i++)
        check_rest(e, &job->waiting[i]);
    while (log.next < log.end && next_waiting_range(&e->ck, &log.next, &log.range))
        check_rest(e, &log.range);
}

bool jobs_check_waiting(struct engine *e)
{
    struct jobs *j = e->jobs;
    uint64_t back = e->in.offset;
    const struct job *job;

    end_waiting_range(&e->heap);
    if (!j)
        return check_waiting(&e->ck);
    close_jobs(e);
    j->resolved = 0; /* chains that were incomplete may be complete now */
    j->log = (struct log_part){0};
    if (!e->heap.waiting.log.size || back - e->heap.begin < 2 * j->job_size /* not worth the threads */ ||
        !open_jobs(e, add_ranges, check_ranges))
        return check_waiting(&e->ck);
    while (!e->run.memory.exhausted && !e->heap.must_begin_again && (job = await_job(e))) {
        take_over_ranges(e, job);
        queue_pass(&j->queue);
    }
    close_jobs(e);
    return input_seek(&e->in, back) || e->in.error;
}
