/* See memory.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sizes.h"

enum { HUGE_PAGE = USUAL_OR_SMALL(2 << 20, 4 << 10) };

/* Tables of IDs are accessed at random, so large blocks are put in huge pages, which saves a third of the time. A remainder
 * that does not fill a huge page stays in small ones, so that unused memory is not resident. */
static void *from_malloc(void *context, size_t size)
{
    void *block;

    (void)context;
    if (size < HUGE_PAGE)
        return malloc(size);
    if (posix_memalign(&block, HUGE_PAGE, size) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(block, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* a hint: nothing depends on it */
#endif
    return block;
}

static void to_free(void *context, void *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

void memory_init(struct memory *m, const struct hprof_allocator *allocator, uint64_t limit)
{
    static const struct hprof_allocator standard = {from_malloc, to_free, NULL};

    *m = (struct memory){.from = allocator ? *allocator : standard, .limit = limit};
}

static void lock(struct memory *m)
{
    if (m->lock)
        pthread_mutex_lock(m->lock);
}

static void unlock(struct memory *m)
{
    if (m->lock)
        pthread_mutex_unlock(m->lock);
}

void memory_exhaust(struct memory *m)
{
    lock(m);
    m->exhausted = true;
    unlock(m);
}

static void *get_within(struct memory *m, size_t size, uint64_t limit)
{
    void *block = NULL;

    if (size == 0)
        size = 1;
    lock(m);
    if (!m->limit || (m->used <= limit && size <= limit - m->used))
        block = m->from.allocate(m->from.context, size);
    if (block) {
        m->used += size;
        if (m->used > m->peak)
            m->peak = m->used;
    }
    unlock(m);
    return block;
}

void *memory_get(struct memory *m, size_t size)
{
    void *block = get_within(m, size, m->limit);

    if (!block)
        memory_exhaust(m);
    return block;
}

void *memory_try(struct memory *m, size_t size)
{
    return get_within(m, size, m->limit / 2);
}

void *memory_get_zeroed(struct memory *m, size_t size)
{
    void *block = memory_get(m, size);

    if (block)
        memset(block, 0, size);
    return block;
}

void *memory_resize(struct memory *m, void *old, size_t old_size, size_t new_size)
{
    void *block = memory_get(m, new_size);

    if (!block)
        return NULL;
    if (old) {
        memcpy(block, old, old_size < new_size ? old_size : new_size);
        memory_put(m, old, old_size);
    }
    return block;
}

void memory_put(struct memory *m, void *block, size_t size)
{
    if (!block)
        return;
    if (size == 0)
        size = 1;
    lock(m);
    m->used -= size;
    m->from.release(m->from.context, block, size);
    unlock(m);
}

bool memory_grow(struct memory *m, void **block, size_t *capacity, size_t wanted, size_t size)
{
    size_t more = *capacity + *capacity / 2 + 8;
    void *grown;

    if (wanted <= *capacity)
        return true;
    if (more < wanted)
        more = wanted;
    if (more > SIZE_MAX / size) {
        memory_exhaust(m);
        return false;
    }
    grown = memory_resize(m, *block, *capacity * size, more * size);
    if (!grown)
        return false;
    *block = grown;
    *capacity = more;
    return true;
}

/* ---- An allocator ---- */

static void *allocate_part(void *context, size_t size)
{
    return memory_get(context, size);
}

static void release_part(void *context, void *block, size_t size)
{
    memory_put(context, block, size);
}

struct hprof_allocator memory_allocator(struct memory *m)
{
    return (struct hprof_allocator){allocate_part, release_part, m};
}
