#include "allowance.h"

#include <stdlib.h>

void allowance_init(struct allowance *a, uint64_t limit)
{
    *a = (struct allowance){.limit = limit};
    pthread_mutex_init(&a->lock, NULL);
}

void allowance_end(struct allowance *a)
{
    pthread_mutex_destroy(&a->lock);
}

bool allowance_take(struct allowance *a, size_t size)
{
    bool is_allowed;

    pthread_mutex_lock(&a->lock);
    is_allowed = a->limit == 0 || size <= a->limit - a->used;
    if (is_allowed)
        a->used += size;
    pthread_mutex_unlock(&a->lock);
    return is_allowed;
}

void allowance_give(struct allowance *a, size_t size)
{
    pthread_mutex_lock(&a->lock);
    a->used -= size;
    pthread_mutex_unlock(&a->lock);
}

/* The old block counts until its content is copied. */
void *allowance_resize(struct allowance *a, void *old, size_t old_size, size_t new_size)
{
    void *block = NULL;

    if (!allowance_take(a, new_size))
        return NULL;
    block = realloc(old, new_size);
    allowance_give(a, block != NULL ? old_size : new_size);
    return block;
}

void *allowance_get(struct allowance *a, size_t size)
{
    return allowance_resize(a, NULL, 0, size);
}

void allowance_put(struct allowance *a, void *block, size_t size)
{
    if (block == NULL)
        return;
    free(block);
    allowance_give(a, size);
}

/* ---- For the library --------------------------------------------------------------------------------------------- */

static void *allocate(void *context, size_t size)
{
    return allowance_get(context, size);
}

static void release(void *context, void *block, size_t size)
{
    allowance_put(context, block, size);
}

struct hprof_allocator allowance_allocator(struct allowance *a)
{
    return (struct hprof_allocator){allocate, release, a};
}
