/* See check.h. */
#include "engine/check.h"

#include "engine/engine.h"
#include "input/file_kind.h"
#include "reread/reread.h"

static void engine_init(struct engine *e, const struct hprof_options *options)
{
    struct run *run = &e->run;
    const struct hprof_testing *testing = options->testing;

    e->ck = (struct checker){run, &e->file, &e->heap, &e->position, &e->in};
    run->own_options = *options;
    run->options = &run->own_options;
    run->sizes = sizes_for(testing);
    memory_init(&run->memory, options->allocator, options->max_memory);
    run->key = testing && testing->hash_seed ? hash_key_from(testing->hash_seed) : hash_key_draw();
    findings_init(&run->findings, &run->memory, options->max_errors);
    findings_want(&run->findings, options->on_finding != NULL, true);
    run->sum.version = run->summary->producer = "";
    run->sum.sound_until = UINT64_MAX;
    file_init(&e->file, &run->memory, &run->key);
}

static void engine_clear(struct engine *e)
{
    memory_put(&e->run.memory, e->unfilled, sizeof *e->unfilled);
    heap_free(&e->ck);
    drop_crossing(e);
    file_clear(&e->file);
    end_gzip(e);
    input_close(&e->in);
}

/* Reads the header. False if nothing after it can be checked. */
static bool read_header(struct engine *e)
{
    if (!begin_unit(e, header_bytes(&e->ck)))
        return false;
    if (check_header(&e->ck, e->framing.truncated || e->garbage_after || e->in.error || e->run.memory.exhausted))
        return true;
    e->framing.stopped = true;
    e->run.sum.header_lost = dump_follows(e);
    return false;
}

/* What is no dump is not read on: a stream may never end. Returns the bytes of the dump that were read. A short file is read to its
 * end, where the faults of gzip are. */
static uint64_t end_without_header(struct engine *e)
{
    enum { ENOUGH = 1 << 16 };
    uint64_t bytes = e->in.offset + ENOUGH;
    size_t n = input_need(&e->in, ENOUGH);
    bool is_short = n < ENOUGH;

    if (!e->run.sum.header_lost && begins_with_zeros(e->in.at, n))
        e->run.sum.header_lost = dump_follows_zeros(e);
    e->lost_gzip = gzip_follows(e);
    e->run.sum.header_lost |= e->lost_gzip;
    if (!is_short)
        return bytes;
    input_skip(&e->in, UINT64_MAX);
    restore_checkpoint(e);
    return e->in.offset;
}

static void check_dump(struct engine *e)
{
    if (e->run.memory.exhausted || e->in.error)
        return;
    look_for_text(e);
    if (!read_header(e)) {
        e->run.sum.bytes = end_without_header(e);
        return;
    }
    file_begin(&e->file, &e->run.memory, &e->run.key);
    heap_init(&e->ck);
    jobs_init(e);
    check_records(e);
    jobs_clear(e);
    if (e->framing.stopped && !e->run.memory.exhausted)
        input_skip(&e->in, UINT64_MAX);
    restore_checkpoint(e);
    e->run.sum.bytes = e->in.offset;
    if (e->run.memory.exhausted || e->in.error)
        return;
    finish_strings(&e->ck);
    finish_stacks(&e->ck);
    finish_frame_roots(&e->ck);
    finish_classes(&e->ck);
    find_offsets_of_records(&e->ck);
}

struct engine *engine_new(const struct hprof_options *options, struct hprof_summary *summary, struct memory *own)
{
    struct engine *e = memory_get_zeroed(own, sizeof *e);

    if (!e)
        return NULL;
    e->run.summary = summary;
    engine_init(e, options);
    return e;
}

void engine_read(struct engine *e, struct input_source source)
{
    const struct hprof_options *options = e->run.options;

    /* engine_conclude() reports a failure in e->run.memory or e->in */
    (void)input_open(&e->in, source, options->testing ? options->testing->block : 0, &e->run.sizes, &e->run.memory,
                     on_gzip_fault, e);
    input_allow_going_back(&e->in);
    if (options->threads > 1)
        input_allow_threads(&e->in, options->threads);
    begin_gzip(e);
    check_dump(e);
    findings_end(&e->run.findings);
}

void engine_delete(struct engine *e, struct memory *own)
{
    engine_clear(e);
    findings_clear(&e->run.findings);
    memory_put(own, e, sizeof *e);
}
