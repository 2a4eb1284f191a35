/* See read_ahead.h. Blocks go round in a ring: the thread fills them, the caller copies them. A block ends where a fault was found,
 * and the fault goes with the next block: so it is reported when bytes after it are wanted, as without a thread. */
#include "input/read_ahead.h"

#include <pthread.h>
#include <string.h>

#include "base/workers.h"

enum { BLOCKS = USUAL_OR_SMALL(4, 2) };

struct block {
    uint8_t *bytes;
    size_t size;
    bool ended; /* nothing follows */
    struct read_ahead_state state;
    struct gzip_finding fault; /* found before the first byte; GZIP_VALID for none */
};

struct read_ahead {
    struct memory *memory;
    struct input_source *source;
    struct gunzip *gunzip;
    size_t block_size;
    struct gzip_listening listening; /* of the caller */
    struct workers *workers;         /* one thread */
    pthread_mutex_t lock, memory_lock;
    pthread_cond_t changed;

    /* Under the lock. */
    size_t filled; /* blocks that are full, from `next` on */
    bool stopping;

    /* The caller's. */
    struct block *next; /* to be taken from, */
    size_t taken;       /* bytes of it that were taken, */
    bool is_open;       /* once it was waited for */
    struct read_ahead_state state;

    struct block blocks[BLOCKS];
    uint8_t bytes[];
};

/* ---- The thread ---- */

static void keep_fault(void *context, const struct gzip_finding *fault)
{
    struct block *block = context;

    block->fault = *fault;
}

static void fill(struct read_ahead *a, struct block *block)
{
    block->fault.fault = GZIP_VALID;
    if (a->gunzip) {
        gunzip_listen(a->gunzip, (struct gzip_listening){keep_fault, block});
        block->size = gunzip_read(a->gunzip, block->bytes, a->block_size);
        block->ended = gunzip_ended(a->gunzip);
        block->state.member_start = gunzip_member_start(a->gunzip);
    } else {
        block->size = source_read(a->source, block->bytes, a->block_size);
        block->ended = block->size == 0;
    }
    block->state.error = a->source->error;
    block->state.position = a->source->position;
}

/* Waits for a block that is free. False to end. */
static bool wait_for_room(struct read_ahead *a)
{
    bool go_on;

    pthread_mutex_lock(&a->lock);
    while (a->filled == BLOCKS && !a->stopping)
        pthread_cond_wait(&a->changed, &a->lock);
    go_on = !a->stopping;
    pthread_mutex_unlock(&a->lock);
    return go_on;
}

static void run(void *context, unsigned number)
{
    struct read_ahead *a = context;
    bool ended = false;

    (void)number;
    for (size_t i = 0; !ended && wait_for_room(a); i = (i + 1) % BLOCKS) {
        fill(a, &a->blocks[i]);
        ended = a->blocks[i].ended;
        pthread_mutex_lock(&a->lock);
        a->filled++;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
}

/* ---- The caller ---- */

static void release(struct read_ahead *a)
{
    struct memory *memory = a->memory;

    if (a->gunzip) {
        gunzip_end_inflating_ahead(a->gunzip);
        gunzip_listen(a->gunzip, a->listening);
    }
    source_wake_end(a->source);
    memory->lock = NULL;
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->memory_lock);
    pthread_mutex_destroy(&a->lock);
    memory_put(memory, a, sizeof *a + BLOCKS * a->block_size);
}

struct read_ahead *read_ahead_start(struct memory *memory, struct input_source *source, struct gunzip *gunzip, size_t block,
                                    unsigned threads)
{
    struct read_ahead *a;

    if (gunzip && !gunzip_prepare_thread(gunzip))
        return NULL;
    a = memory_try(memory, sizeof *a + BLOCKS * block);
    if (!a)
        return NULL;
    if (!source_wake_begin(source)) {
        memory_put(memory, a, sizeof *a + BLOCKS * block);
        return NULL;
    }
    memset(a, 0, sizeof *a);
    a->memory = memory;
    a->source = source;
    a->gunzip = gunzip;
    a->block_size = block;
    a->next = a->blocks;
    for (size_t i = 0; i < BLOCKS; i++)
        a->blocks[i].bytes = a->bytes + i * block;
    pthread_mutex_init(&a->lock, NULL);
    pthread_mutex_init(&a->memory_lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    if (gunzip) {
        a->listening = gunzip_listen(gunzip, (struct gzip_listening){0});
        gunzip_inflate_ahead(gunzip, threads);
    }
    memory->lock = &a->memory_lock;
    a->workers = workers_start(memory, 1);
    if (a->workers) {
        workers_begin(a->workers, run, a);
        return a;
    }
    release(a);
    return NULL;
}

/* The next block, once it is filled. Its fault is reported first. */
static void open_block(struct read_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (!a->filled)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    a->is_open = true;
    a->taken = 0;
    a->state = a->next->state;
    if (a->next->fault.fault != GZIP_VALID && a->listening.on_fault)
        a->listening.on_fault(a->listening.context, &a->next->fault);
}

static void close_block(struct read_ahead *a)
{
    a->next = a->next == &a->blocks[BLOCKS - 1] ? a->blocks : a->next + 1;
    a->is_open = false;
    pthread_mutex_lock(&a->lock);
    a->filled--;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

size_t read_ahead_take(struct read_ahead *a, uint8_t *to, size_t room)
{
    size_t n;

    for (;;) {
        if (!a->is_open)
            open_block(a);
        n = a->next->size - a->taken;
        if (n || a->next->ended)
            break;
        close_block(a);
    }
    if (n > room)
        n = room;
    memcpy(to, a->next->bytes + a->taken, n);
    a->taken += n;
    if (a->taken == a->next->size && !a->next->ended)
        close_block(a);
    return n;
}

/* The member with the first fault that was not reported yet; 0 for none. */
static uint64_t first_unreported(const struct read_ahead *a)
{
    size_t i = (size_t)(a->next - a->blocks);

    for (size_t left = a->filled; left; left--, i = (i + 1) % BLOCKS)
        if (a->blocks[i].fault.fault != GZIP_VALID && !(a->is_open && &a->blocks[i] == a->next))
            return a->blocks[i].fault.member;
    return 0;
}

void read_ahead_stop(struct read_ahead *a)
{
    uint64_t unreported;

    source_wake(a->source);
    pthread_mutex_lock(&a->lock);
    a->stopping = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    workers_stop(a->workers, a->memory);
    unreported = first_unreported(a);
    if (unreported)
        gunzip_report_again(a->gunzip, unreported);
    release(a);
}

struct read_ahead_state read_ahead_state(const struct read_ahead *a)
{
    return a->state;
}
