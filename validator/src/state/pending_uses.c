/* See pending_uses.h. */
#include "state/pending_uses.h"

#include "base/sizes.h"
#include "base/sort.h"
#include "format/native.h"

enum {
    ROLE_BITS = 4,
    PLACE_SIZE = 3,                                             /* bytes */
    SPAN_BITS = USUAL_OR_SMALL(PLACE_SIZE * 8 - ROLE_BITS, 10), /* a run covers 1 MiB of the dump */
    RUN_FIRST = 16,                                             /* uses that a new run has room for: most logs hold a handful */
    RUN_BLOCK = USUAL_OR_SMALL(4096, 64)                        /* uses that a run has room for at most: 44 KB */
};

/* A run holds `count` entries, each a key and a place; a place is a role and an offset from `base`. */
struct use_run {
    uint64_t base;
    uint32_t count;
    uint32_t capacity;
    uint32_t at; /* next to merge */
    uint8_t *entries;
};

struct use {
    uint64_t key;
    uint32_t place;
};

static size_t entry_size(const struct pending_uses *log)
{
    return log->key_size + PLACE_SIZE;
}

void pending_uses_init(struct pending_uses *log, struct memory *memory, unsigned key_size)
{
    *log = (struct pending_uses){.memory = memory, .key_size = key_size};
}

void pending_uses_clear(struct pending_uses *log)
{
    for (size_t i = 0; i < log->run_count; i++)
        memory_put(log->memory, log->runs[i].entries, log->runs[i].capacity * entry_size(log));
    memory_put(log->memory, log->runs, log->run_capacity * sizeof *log->runs);
    *log = (struct pending_uses){.memory = log->memory, .key_size = log->key_size};
}

static uint32_t load_place(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static struct use get_use(const struct pending_uses *log, const struct use_run *run, uint32_t i)
{
    const uint8_t *p = run->entries + i * entry_size(log);
    struct use u = {.key = native_load(p, log->key_size)};

    u.place = load_place(p + log->key_size);
    return u;
}

static void put_use(const struct pending_uses *log, struct use_run *run, uint32_t i, struct use u)
{
    uint8_t *p = run->entries + i * entry_size(log);

    native_store(p, log->key_size, u.key);
    p += log->key_size;
    p[0] = (uint8_t)u.place;
    p[1] = (uint8_t)(u.place >> 8);
    p[2] = (uint8_t)(u.place >> 16);
}

static struct use_run *open_run(struct pending_uses *log, uint64_t offset)
{
    struct use_run *last = log->run_count ? &log->runs[log->run_count - 1] : NULL;
    void *table = log->runs;
    uint32_t capacity = RUN_FIRST;

    if (last && offset - last->base < UINT64_C(1) << SPAN_BITS) {
        if (last->count < last->capacity)
            return last;
        if (last->capacity < RUN_BLOCK) {
            uint8_t *grown;

            capacity = last->capacity * 4 < RUN_BLOCK ? last->capacity * 4 : RUN_BLOCK;
            grown = memory_resize(log->memory, last->entries, last->capacity * entry_size(log), capacity * entry_size(log));
            if (!grown)
                return NULL;
            last->entries = grown;
            last->capacity = capacity;
            return last;
        }
        capacity = RUN_BLOCK; /* a dense stretch: more uses are likely */
    }
    if (!memory_grow(log->memory, &table, &log->run_capacity, log->run_count + 1, sizeof *log->runs))
        return NULL;
    log->runs = table;
    last = &log->runs[log->run_count];
    *last = (struct use_run){.base = offset, .capacity = capacity};
    last->entries = memory_get(log->memory, capacity * entry_size(log));
    if (!last->entries)
        return NULL;
    log->run_count++;
    return last;
}

void pending_uses_add(struct pending_uses *log, uint64_t key, unsigned role, uint64_t offset)
{
    struct use_run *run;

    if (log->any && log->last_key == key && log->last_role == role && log->last_offset <= offset)
        return;
    run = open_run(log, offset);
    if (!run)
        return;
    put_use(log, run, run->count++, (struct use){key, role << SPAN_BITS | (uint32_t)(offset - run->base)});
    log->any = true;
    log->last_key = key;
    log->last_offset = offset;
    log->last_role = role;
}

static uint64_t offset_of(const struct use_run *run, struct use u)
{
    return run->base + (u.place & ((UINT32_C(1) << SPAN_BITS) - 1));
}

void pending_uses_discard(struct pending_uses *log, uint64_t from)
{
    log->any = false;
    while (log->run_count) {
        struct use_run *run = &log->runs[log->run_count - 1];

        while (run->count && offset_of(run, get_use(log, run, run->count - 1)) >= from)
            run->count--;
        if (run->count)
            return;
        memory_put(log->memory, run->entries, run->capacity * entry_size(log));
        log->run_count--;
    }
}

/* By key, then by place, which is by role and then by offset. */
static inline bool use_less(const uint8_t *a, const uint8_t *b, unsigned key_size)
{
    uint64_t x = native_load(a, key_size), y = native_load(b, key_size);

    return x != y ? x < y : load_place(a + key_size) < load_place(b + key_size);
}

static bool use_less_4(const void *a, const void *b)
{
    return use_less(a, b, 4);
}

static bool use_less_8(const void *a, const void *b)
{
    return use_less(a, b, 8);
}

static void sort_run(const struct pending_uses *log, struct use_run *run)
{
    if (log->key_size == 4)
        sort_in_place(run->entries, run->count, 4 + PLACE_SIZE, use_less_4);
    else
        sort_in_place(run->entries, run->count, 8 + PLACE_SIZE, use_less_8);
}

/* The runs are merged by a heap of their indices, ordered by the next use of each. */
static bool run_less(const struct pending_uses *log, uint32_t a, uint32_t b)
{
    struct use x = get_use(log, &log->runs[a], log->runs[a].at), y = get_use(log, &log->runs[b], log->runs[b].at);

    return x.key < y.key;
}

static void sift_down(const struct pending_uses *log, uint32_t *heap, uint32_t n, uint32_t hole)
{
    uint32_t moved = heap[hole], child;

    while ((child = 2 * hole + 1) < n) {
        if (child + 1 < n && run_less(log, heap[child + 1], heap[child]))
            child++;
        if (!run_less(log, heap[child], moved))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = moved;
}

void pending_uses_finish(struct pending_uses *log, void (*each)(void *context, uint64_t key, const uint64_t first[USE_ROLES]),
                         void *context)
{
    uint32_t n = (uint32_t)log->run_count;
    uint32_t *heap;
    bool open = false;
    uint64_t key = 0, first[USE_ROLES];

    if (!n)
        return;
    heap = memory_get(log->memory, n * sizeof *heap);
    if (!heap)
        return;
    for (uint32_t i = 0; i < n; i++) {
        sort_run(log, &log->runs[i]);
        log->runs[i].at = 0;
        heap[i] = i;
    }
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(log, heap, n, i);

    while (n) {
        struct use_run *run = &log->runs[heap[0]];
        struct use u = get_use(log, run, run->at);
        unsigned role = u.place >> SPAN_BITS;
        uint64_t offset = offset_of(run, u);

        if (!open || u.key != key) {
            if (open)
                each(context, key, first);
            open = true;
            key = u.key;
            for (unsigned i = 0; i < USE_ROLES; i++)
                first[i] = NEVER_USED;
        }
        if (offset < first[role])
            first[role] = offset;
        if (++run->at == run->count)
            heap[0] = heap[--n];
        if (n)
            sift_down(log, heap, n, 0);
    }
    each(context, key, first);
    memory_put(log->memory, heap, log->run_count * sizeof *heap);
    pending_uses_clear(log);
}

uint64_t uses_first(const uint64_t first[USE_ROLES], unsigned from, unsigned to, unsigned *role)
{
    uint64_t offset = NEVER_USED;

    for (unsigned i = from; i <= to; i++)
        if (first[i] < offset) {
            offset = first[i];
            *role = i;
        }
    return offset;
}
