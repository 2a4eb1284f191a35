/* Whether the ID of a missing object follows the tag of an object or a class anywhere in the heap dump. If not, no missing object
 * is lost within another sub-record, and none need be sought: the dump never had it. */
#include <stdatomic.h>

#include "base/workers.h"
#include "engine/engine.h"
#include "engine/job.h"
#include "engine/jobs.h"
#include "format/tags.h"

enum {
    MISSING_MOST = 8, /* each is looked for on its own, in less time than all that may hold lost objects take */
    CHUNK = 1 << 16,  /* on the stack of a thread */
    BLOCK = 512
};

struct missing_search {
    const struct input *in;
    uint64_t from, end;
    unsigned id_size;
    uint64_t ids[MISSING_MOST];
    uint64_t count;            /* may be more than there is room for */
    atomic_uint_fast64_t next; /* the next chunk */
    atomic_bool is_found;
};

static void add_missing(void *context, uint64_t id, unsigned flags)
{
    struct missing_search *s = context;

    (void)flags;
    if (s->count < MISSING_MOST)
        s->ids[s->count] = id;
    s->count++;
}

/* Whether two bytes follow each other somewhere in n + 1 bytes. Compilers make vectors of it. */
static bool has_pair(const uint8_t *p, size_t n, uint8_t first, uint8_t second)
{
    uint8_t found = 0;

    for (size_t i = 0; i < n; i++)
        found |= (uint8_t)(p[i] == first) & (uint8_t)(p[i + 1] == second);
    return found;
}

/* Whether the ID follows the tag of an object or a class that is one of n bytes. IDs differ most in their last bytes. */
static bool block_has(const uint8_t *p, size_t n, uint64_t id, unsigned id_size)
{
    if (!has_pair(p + id_size - 1, n, (uint8_t)(id >> 8), (uint8_t)id))
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_object_tag(p[i]) && get_id(p + i + 1, id_size) == id)
            return true;
    return false;
}

static bool chunk_has_missing(const struct missing_search *s, const uint8_t *p, size_t n)
{
    for (size_t at = 0; at < n; at += BLOCK)
        for (uint64_t i = 0; i < s->count; i++)
            if (block_has(p + at, n - at < BLOCK ? n - at : BLOCK, s->ids[i], s->id_size))
                return true;
    return false;
}

static void search_chunks(void *context, unsigned number)
{
    struct missing_search *s = context;
    uint8_t bytes[CHUNK + 8];

    (void)number;
    while (!s->is_found) {
        uint64_t at = s->from + atomic_fetch_add(&s->next, 1) * CHUNK, left;
        size_t n;

        if (at >= s->end)
            return;
        left = s->end - at;
        n = input_read_at(s->in, at, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes);
        if (n > s->id_size && chunk_has_missing(s, bytes, n - s->id_size < CHUNK ? n - s->id_size : CHUNK))
            s->is_found = true;
    }
}

bool missing_may_be_dumped(struct engine *e, uint64_t from, uint64_t end)
{
    struct workers *workers = e->jobs ? e->jobs->workers : NULL;
    struct missing_search s = {.in = &e->in, .from = from, .end = end, .id_size = e->file.id_size};

    if (!input_can_go_anywhere(&e->in))
        return true;
    id_set_sweep(&e->heap.objects, add_missing, &s);
    if (s.count > MISSING_MOST || s.count < e->run.missing[SHAPE_ANY])
        return true;
    if (workers)
        workers_begin(workers, search_chunks, &s);
    search_chunks(&s, 0);
    if (workers)
        workers_wait(workers);
    return s.is_found;
}
