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
    BEYOND = 8,       /* the ID after the last byte */
    BLOCK = 512
};

struct missing_search {
    const struct input *in;
    uint64_t from, end;
    unsigned id_size;
    uint8_t *buffers; /* of each thread, of a chunk and BEYOND bytes */
    uint64_t chunk;   /* bytes that a thread searches at once */
    uint64_t ids[MISSING_MOST];
    uint64_t count;            /* may be more than there is room for */
    atomic_uint_fast64_t next; /* the next chunk */
    atomic_bool is_found;
    atomic_int error; /* of a read */
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
    uint8_t *bytes = s->buffers + number * (size_t)(s->chunk + BEYOND);

    while (!s->is_found && !s->error) {
        const uint64_t at = s->from + atomic_fetch_add(&s->next, 1) * s->chunk, left = s->end - at;
        const size_t n = (size_t)(left < s->chunk + BEYOND ? left : s->chunk + BEYOND);
        int error;

        if (at >= s->end)
            return;
        error = input_read_there(s->in, at, bytes, n);
        if (error)
            s->error = error;
        else if (n > s->id_size && chunk_has_missing(s, bytes, n - s->id_size < s->chunk ? n - s->id_size : (size_t)s->chunk))
            s->is_found = true;
    }
}

/* On all threads. */
static void search_file(struct engine *e, struct missing_search *s)
{
    struct workers *workers = e->jobs->workers;

    workers_begin(workers, search_chunks, s);
    search_chunks(s, 0);
    workers_wait(workers);
    if (s->error)
        input_stop(&e->in, s->error);
}

/* In the order of the dump, by the input. */
static void search_input(struct engine *e, struct missing_search *s)
{
    struct input *in = &e->in;
    const uint64_t back = in->offset;

    s->is_found = !input_seek(in, s->from);
    while (!s->is_found && in->offset < s->end && input_need(in, BLOCK + BEYOND) > s->id_size) {
        const uint64_t left = s->end - in->offset, there = (uint64_t)(in->end - in->at);
        const size_t n = (size_t)(left < there ? left : there);

        if (n <= s->id_size)
            break;
        s->is_found = chunk_has_missing(s, in->at, n - s->id_size);
        input_advance(in, n - s->id_size);
    }
    input_seek(in, back);
}

bool missing_may_be_dumped(struct engine *e, uint64_t from, uint64_t end)
{
    struct workers *workers = input_can_go_anywhere(&e->in) && e->jobs ? e->jobs->workers : NULL;
    const size_t size = workers ? (workers_count(workers) + 1) * (size_t)(e->run.sizes.job_read + BEYOND) : 0;
    struct missing_search s = {
        .in = &e->in, .from = from, .end = end, .id_size = e->file.id_size, .chunk = e->run.sizes.job_read};

    id_set_sweep(&e->heap.objects, add_missing, &s);
    if (s.count > MISSING_MOST || s.count < e->run.missing[SHAPE_ANY])
        return true;
    s.buffers = workers ? memory_try(&e->run.memory, size) : NULL;
    if (s.buffers)
        search_file(e, &s);
    else
        search_input(e, &s);
    memory_put(&e->run.memory, s.buffers, size);
    return s.is_found;
}
