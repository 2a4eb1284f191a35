/* See workers.h. */
#include "base/workers.h"

#include <signal.h>

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    uint64_t round; /* of the present task; a change begins it */
    unsigned busy;  /* threads that have not finished the task */
    bool stopped;
    void (*task)(void *context, unsigned number);
    void *context;
    unsigned wanted, count;
    struct worker {
        struct workers *workers;
        unsigned number;
        pthread_t thread;
    } each[];
};

static size_t size_for(unsigned count)
{
    return sizeof(struct workers) + count * sizeof(struct worker);
}

static void *work(void *context)
{
    const struct worker *self = context;
    struct workers *w = self->workers;
    uint64_t round = 0;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->round == round && !w->stopped)
            pthread_cond_wait(&w->begun, &w->lock);
        if (w->stopped)
            break;
        round = w->round;
        pthread_mutex_unlock(&w->lock);
        w->task(w->context, self->number);
        pthread_mutex_lock(&w->lock);
        if (!--w->busy)
            pthread_cond_signal(&w->done);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct workers *workers_start(struct memory *memory, unsigned count)
{
    struct workers *w = count ? memory_try(memory, size_for(count)) : NULL;
    sigset_t all, before;

    if (!w)
        return NULL;
    *w = (struct workers){.wanted = count};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->begun, NULL);
    pthread_cond_init(&w->done, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (w->count < count) {
        struct worker *worker = &w->each[w->count];

        *worker = (struct worker){.workers = w, .number = w->count + 1};
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            break;
        w->count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (w->count)
        return w;
    workers_stop(w, memory);
    return NULL;
}

void workers_stop(struct workers *w, struct memory *memory)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopped = true;
    pthread_cond_broadcast(&w->begun);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->count; i++)
        pthread_join(w->each[i].thread, NULL);
    pthread_cond_destroy(&w->done);
    pthread_cond_destroy(&w->begun);
    pthread_mutex_destroy(&w->lock);
    memory_put(memory, w, size_for(w->wanted));
}

unsigned workers_count(const struct workers *w)
{
    return w ? w->count : 0;
}

void workers_begin(struct workers *w, void (*task)(void *context, unsigned number), void *context)
{
    pthread_mutex_lock(&w->lock);
    w->task = task;
    w->context = context;
    w->busy = w->count;
    w->round++;
    pthread_cond_broadcast(&w->begun);
    pthread_mutex_unlock(&w->lock);
}

void workers_wait(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->busy)
        pthread_cond_wait(&w->done, &w->lock);
    pthread_mutex_unlock(&w->lock);
}
