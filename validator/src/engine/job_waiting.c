/* Instances that waited for their class are checked by the threads, each range as a job; the coordinator checks what is not
 * plain. */
#include "engine/job.h"
#include "reread/reread.h"

static void add_ranges(struct engine *e)
{
    struct jobs *j = e->jobs;
    struct job_queue *q = &j->queue;
    uint64_t number = q->added, end = number + queue_room(q);

    for (; number < end && next_waiting_range(&e->ck, &j->next_range, &j->range); number++) {
        struct job *job = queue_job(q, number);

        job->done = false;
        job->stretch = (struct stretch){.at = j->range.at};
        job->waiting[0] = j->range;
        q->order[number % q->capacity] = number;
    }
    if (number > q->added)
        queue_add(q, number);
}

static void take_over_range(struct engine *e, const struct job *job)
{
    const struct waiting_range *rest = &job->waiting[0];

    stretches_add_referenced(&e->heap.stretches, job->stretch.at, rest->at, &job->stretch.referenced);
    add_counts(&e->ck, &job->counts);
    add_met_classes(e, job);
    if (rest->instances) {
        pause_jobs(e);
        check_waiting_range(&e->ck, rest);
    }
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
    j->next_range = 0;
    j->range = (struct waiting_range){0};
    if (!e->heap.waiting.log.size || back - e->heap.begin < 2 * j->job_size /* not worth the threads */ ||
        !open_jobs(e, add_ranges, check_range))
        return check_waiting(&e->ck);
    while (!e->run.memory.exhausted && !e->heap.must_begin_again && (job = await_job(e))) {
        take_over_range(e, job);
        queue_pass(&j->queue);
    }
    close_jobs(e);
    return input_seek(&e->in, back) || e->in.error;
}
