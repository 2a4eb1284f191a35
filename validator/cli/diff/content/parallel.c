#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>

struct sharing {
    atomic_size_t next;
    size_t count;
    void (*work)(void *context, size_t part);
    void *context;
};

static void *take_parts(void *context)
{
    struct sharing *sharing = context;
    size_t part;

    while ((part = atomic_fetch_add(&sharing->next, 1)) < sharing->count)
        sharing->work(sharing->context, part);
    return NULL;
}

/* A thread that cannot be made is not needed: this one does its work too. */
void parallel(unsigned jobs, size_t count, void (*work)(void *context, size_t part), void *context)
{
    struct sharing sharing = {.count = count, .work = work, .context = context};
    pthread_t threads[THREADS_MOST];
    unsigned made = 0;

    while (made + 1 < jobs && made + 1 < count && made + 1 < THREADS_MOST &&
           pthread_create(&threads[made], NULL, take_parts, &sharing) == 0)
        made++;
    take_parts(&sharing);
    while (made > 0)
        pthread_join(threads[--made], NULL);
}
