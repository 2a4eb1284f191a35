/* Hands jobs to threads. One lock guards the queue: a thread comes here once in about a megabyte. */
#include "engine/job.h"

bool queue_init(struct job_queue *q, struct memory *memory, size_t capacity)
{
    *q = (struct job_queue){.capacity = capacity + 1}; /* one more: the job before the front keeps its place */
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, NULL);
    pthread_cond_init(&q->done, NULL);
    for (size_t i = 0; i < STOPS; i++)
        pthread_cond_init(&q->stop[i], NULL);
    q->ring = memory_try(memory, q->capacity * sizeof *q->ring);
    q->order = memory_try(memory, q->capacity * sizeof *q->order);
    return q->ring && q->order;
}

void queue_clear(struct job_queue *q, struct memory *memory)
{
    for (size_t i = 0; i < STOPS; i++)
        pthread_cond_destroy(&q->stop[i]);
    pthread_cond_destroy(&q->done);
    pthread_cond_destroy(&q->more);
    pthread_mutex_destroy(&q->lock);
    memory_put(memory, q->ring, q->capacity * sizeof *q->ring);
    memory_put(memory, q->order, q->capacity * sizeof *q->order);
}

void queue_begin(struct job_queue *q)
{
    q->added = q->front = q->taken = 0;
    q->paused = q->ended = false;
}

size_t queue_room(const struct job_queue *q)
{
    return q->capacity - 1 - (size_t)(q->added - q->front);
}

void queue_add(struct job_queue *q, uint64_t number)
{
    bool wake;

    pthread_mutex_lock(&q->lock);
    q->added = number;
    wake = q->sleeping && !q->paused;
    pthread_mutex_unlock(&q->lock);
    if (wake)
        pthread_cond_broadcast(&q->more);
}

/* In tests jobs are taken in another order: those before the last one that was taken are wanted, too. */
void queue_drop(struct job_queue *q)
{
    uint64_t end = 0, kept;

    pthread_mutex_lock(&q->lock);
    for (uint64_t i = q->added > q->capacity ? q->added - q->capacity : 0; i < q->taken; i++)
        if (q->order[i % q->capacity] >= end)
            end = q->order[i % q->capacity] + 1;
    kept = q->taken;
    for (uint64_t i = q->taken; i < q->added; i++)
        if (q->order[i % q->capacity] < end)
            q->order[kept++ % q->capacity] = q->order[i % q->capacity];
    q->added = kept;
    pthread_mutex_unlock(&q->lock);
}

void queue_pass(struct job_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->front++;
    pthread_mutex_unlock(&q->lock);
}

/* Called under the lock. */
static bool take(struct job_queue *q, uint64_t *number)
{
    if (q->paused || q->ended || q->taken == q->added)
        return false;
    *number = q->order[q->taken++ % q->capacity];
    q->busy++;
    return true;
}

bool queue_help(struct job_queue *q, uint64_t *number)
{
    const struct job *front = queue_job(q, q->front);
    bool done;

    pthread_mutex_lock(&q->lock);
    while (!(done = front->done) && !take(q, number))
        pthread_cond_wait(&q->done, &q->lock);
    pthread_mutex_unlock(&q->lock);
    return done;
}

bool queue_take(struct job_queue *q, uint64_t *number)
{
    bool taken;

    pthread_mutex_lock(&q->lock);
    while (!(taken = take(q, number)) && !q->ended) {
        q->sleeping++;
        pthread_cond_wait(&q->more, &q->lock);
        q->sleeping--;
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}

void queue_finish(struct job_queue *q, uint64_t number)
{
    bool wake;

    pthread_mutex_lock(&q->lock);
    queue_job(q, number)->done = true;
    wake = !--q->busy || number == q->front;
    pthread_mutex_unlock(&q->lock);
    if (wake)
        pthread_cond_signal(&q->done);
}

void queue_give_stop(struct job_queue *q, uint64_t number, uint64_t stop)
{
    pthread_mutex_lock(&q->lock);
    queue_job(q, number)->stop = stop;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_broadcast(&q->stop[number % STOPS]);
}

bool queue_has_stop(struct job_queue *q, uint64_t number)
{
    bool has;

    pthread_mutex_lock(&q->lock);
    has = queue_job(q, number)->stop;
    pthread_mutex_unlock(&q->lock);
    return has;
}

uint64_t queue_await_stop(struct job_queue *q, uint64_t number)
{
    uint64_t stop;

    pthread_mutex_lock(&q->lock);
    while (!(stop = queue_job(q, number)->stop))
        pthread_cond_wait(&q->stop[number % STOPS], &q->lock);
    pthread_mutex_unlock(&q->lock);
    return stop;
}

void queue_pause(struct job_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->paused = true;
    while (q->busy)
        pthread_cond_wait(&q->done, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

void queue_resume(struct job_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->paused = false;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_broadcast(&q->more);
}

void queue_end(struct job_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->ended = true;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_broadcast(&q->more);
}
