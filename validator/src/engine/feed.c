/* Checks that are fed: the engine asks for bytes as it does everywhere, on a stack of its own, and waits there until the caller
 * hands them out. */
#include <string.h>

#include "base/coroutine.h"
#include "base/versioned.h"
#include "engine/check.h"

enum { STACK_SIZE = 128 << 10 /* bytes; a check takes a quarter of it */ };

struct hprof_feeder {
    struct memory own;
    struct hprof_options options;
    struct hprof_summary summary;
    enum hprof_status status; /* HPROF_USAGE or HPROF_LIMIT if the check cannot begin; */
    const char *refused;      /* and why; else NULL */
    struct engine *engine;
    void *stack;
    struct coroutine check;
    /* What the check waits for. */
    uint8_t *to;
    size_t wanted, got;
    bool ended; /* no more will come */
};

/* The source of the check. */
static int64_t wait_for_bytes(void *context, void *to, size_t size)
{
    struct hprof_feeder *f = context;

    f->to = to;
    f->wanted = size;
    f->got = 0;
    if (!f->ended)
        coroutine_wait(&f->check);
    return (int64_t)f->got;
}

static void check(void *context)
{
    struct hprof_source callbacks;
    struct input_source source;

    hprof_source_init(&callbacks);
    callbacks.read = wait_for_bytes;
    callbacks.context = context;
    (void)source_of_callbacks(&callbacks, &source); /* which has no fault */
    engine_read(((struct hprof_feeder *)context)->engine, source);
}

/* Goes on to where the check waits for bytes. */
static void begin(struct hprof_feeder *f)
{
    f->status = HPROF_LIMIT;
    f->refused = no_memory_to_begin;
    f->engine = engine_new(&f->options, &f->summary, &f->own);
    f->stack = f->engine ? memory_get(&f->own, STACK_SIZE) : NULL;
    if (!f->stack)
        return;
    f->status = HPROF_USAGE;
    f->refused = "this system has no makecontext(), so a check cannot be fed";
    if (!coroutine_init(&f->check, f->stack, STACK_SIZE, check, f))
        return;
    f->refused = NULL;
    coroutine_go_on(&f->check);
}

struct hprof_feeder *hprof_feeder_open(const struct hprof_options *options)
{
    struct hprof_options taken = {0}; /* and so they stay if they cannot be used: there are no callbacks then */
    const char *refused = take_options(&taken, options);
    struct memory own;
    struct hprof_feeder *f;

    if (!refused)
        refused = why_refused(&taken, NULL);
    memory_init(&own, refused ? NULL : taken.allocator, 0);
    f = memory_get_zeroed(&own, sizeof *f);
    if (!f)
        return NULL;
    f->own = own;
    f->summary.struct_size = sizeof f->summary;
    f->options = taken;
    f->status = HPROF_USAGE;
    f->refused = refused;
    if (!refused)
        begin(f);
    return f;
}

static bool wants_more(const struct hprof_feeder *f)
{
    return f && !f->refused && !f->check.ended;
}

bool hprof_feed(struct hprof_feeder *f, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    while (wants_more(f) && size > 0) {
        size_t n = f->wanted - f->got < size ? f->wanted - f->got : size;

        memcpy(f->to + f->got, from, n);
        from += n;
        size -= n;
        f->got += n;
        if (f->got == f->wanted)
            coroutine_go_on(&f->check);
    }
    return wants_more(f);
}

enum hprof_status hprof_finish(struct hprof_feeder *f, struct hprof_summary *summary)
{
    struct memory own;
    enum hprof_status status;

    if (!f)
        return refuse_check(NULL, summary, HPROF_LIMIT, no_memory_to_begin);
    f->ended = true;
    if (wants_more(f))
        coroutine_go_on(&f->check);
    if (!f->refused && !is_versioned(summary)) {
        f->status = HPROF_USAGE;
        f->refused = not_initialised;
    }
    if (f->refused) {
        status = refuse_check(&f->options, summary, f->status, f->refused);
    } else {
        status = engine_conclude(f->engine);
        give_summary(summary, &f->summary);
    }
    own = f->own;
    if (f->engine)
        engine_delete(f->engine, &own);
    memory_put(&own, f->stack, STACK_SIZE);
    memory_put(&own, f, sizeof *f);
    return status;
}
