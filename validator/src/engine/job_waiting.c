/* Instances that waited for their class are checked by the threads, each range as a job; the coordinator checks what is not
 * plain. */
#include "engine/job.h"
#include "reread/reread.h"

/* Makes jobs of the next ranges. False if there are none. */
static bool gather_ranges(struct engine *e, uint64_t *next, struct waiting_range *range)
{
    struct jobs *j = e->jobs;
    struct batch *b = j->now;

    b->piece_count = 0;
    b->next_end = 0;
    for (b->job_count = 0; b->job_count < j->job_capacity && next_waiting_range(&e->heap.waiting, next, range);
         b->job_count++) {
        struct job *job = &b->jobs[b->job_count];

        job->stretch = (struct stretch){.at = range->at};
        job->waiting[0] = *range;
    }
    return b->job_count > 0;
}

static void take_over_range(struct engine *e, const struct job *job)
{
    const struct waiting_range *rest = &job->waiting[0];

    stretches_add_referenced(&e->heap.stretches, job->stretch.at, rest->at, &job->stretch.referenced);
    add_counts(&e->ck, &job->counts);
    add_met_classes(e, job);
    if (rest->instances)
        check_waiting_range(&e->ck, rest);
}

bool jobs_check_waiting(struct engine *e)
{
    struct waiting_range range = {0};
    uint64_t back = e->in.offset, next = 0;

    end_waiting_range(&e->heap);
    if (!e->jobs || back - e->heap.begin < 2 * e->jobs->job_size) /* not worth the threads */
        return check_waiting(&e->ck);
    e->jobs->resolved = 0; /* chains that were incomplete may be complete now */
    while (!e->run.memory.exhausted && !e->heap.must_begin_again && gather_ranges(e, &next, &range)) {
        if (!prepare_threads(e)) {
            for (size_t i = 0; i < e->jobs->now->job_count; i++)
                check_waiting_range(&e->ck, &e->jobs->now->jobs[i].waiting[0]);
            continue;
        }
        do_batch(e, do_ranges);
        for (size_t i = 0; i < e->jobs->now->job_count && !e->heap.must_begin_again; i++)
            take_over_range(e, &e->jobs->now->jobs[i]);
    }
    e->jobs->now->job_count = 0;
    return input_seek(&e->in, back) || e->in.error;
}
