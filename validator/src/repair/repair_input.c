/* What a pass reads, how it is read, and why that failed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/validate.h"
#include "format/subrecord.h"
#include "repair/repair_copy.h"

bool repair_goes_on(struct repair *r)
{
    r->stopped = r->asked.on_progress &&
                 r->asked.on_progress(r->asked.context, input_file_position(&r->in), input_file_size(&r->in)) != 0;
    if (r->stopped)
        r->error = ECANCELED;
    return !r->stopped;
}

enum hprof_status repair_fail(struct repair *r, enum hprof_status status, const char *sentence)
{
    snprintf(r->result.failure, sizeof r->result.failure, "%s", sentence);
    return status;
}

void repair_count_fault(void *context, const struct gzip_finding *finding)
{
    struct repair *r = context;

    if (finding->fault != GZIP_ZEROS)
        r->result.gzip_faults++;
    if (finding->fault == GZIP_CHECKSUM || finding->fault == GZIP_SIZE)
        r->result.gzip_mismatches++;
    r->lacks_trailer = finding->fault == GZIP_TRUNCATED && finding->data_ended;
    if (finding->fault == GZIP_TRUNCATED)
        r->truncated = *finding;
    if (finding->fault == GZIP_CHECKSUM || finding->fault == GZIP_SIZE || finding->fault == GZIP_DATA)
        damage_note(r, finding);
}

enum hprof_status repair_failure(struct repair *r)
{
    char reason[100];

    if (r->stopped)
        return repair_fail(r, HPROF_STOPPED, "stopped by the caller");
    if (r->memory.exhausted)
        return repair_fail(r, HPROF_LIMIT, r->asked.max_memory ? "the memory limit was met" : "memory ran out");
    if (r->in.error) {
        input_reason(&r->in, reason, sizeof reason);
        return repair_fail(r, HPROF_IO, reason);
    }
    if (r->result.failure[0])
        return HPROF_INVALID;
    r->result.failed_on_copy = r->error != 0;
    return r->error ? repair_fail(r, HPROF_IO, strerror(r->error)) : HPROF_INVALID;
}

size_t repair_read(struct repair *r, struct input_source source, uint64_t offset, uint8_t *to, size_t size)
{
    size_t n = 0, more = 1;

    source_seek(&source, offset);
    while (n < size && (more = source_read(&source, to + n, size - n)) > 0)
        n += more;
    r->in.error = source.error;
    return n;
}

bool repair_open(struct repair *r, struct input_source from)
{
    input_close(&r->in);
    r->is_in_place = from.fd == r->to;
    if (!input_open(&r->in, from, 0, &usual_sizes, &r->memory, repair_count_fault, r))
        return false;
    r->in.error = r->in.source.error; /* of bytes after those in the window, too: the next pass might not meet it */
    return !r->in.error;
}

/* ---- The check that finds out how ---- */

/* What is left of the limit; 0 for no limit. */
static uint64_t memory_left(const struct repair *r)
{
    return !r->memory.limit ? 0 : r->memory.limit > r->memory.used ? r->memory.limit - r->memory.used : 1;
}

void repair_share_memory(struct repair *r, struct hprof_options *options, struct hprof_allocator *allocator)
{
    *allocator = memory_allocator(&r->memory);
    options->allocator = allocator;
    options->max_memory = memory_left(r);
    options->threads = r->asked.threads;
}

static int keep_reason(void *context, const struct hprof_summary *summary)
{
    struct check *check = context;

    repair_note_input(check->repair, summary);
    check->repair->has_segments = summary->record_counts[TAG_HEAP_DUMP_SEGMENT] > 0;
    if (summary->failure[0])
        snprintf(check->first, sizeof check->first, "%s", summary->failure);
    return 0;
}

/* A record of unknown tag is passed by its length, and what is copied from elsewhere defines objects twice. Other findings may be
 * due to something elsewhere or to the producer, or there is a jump. */
static int note_failure(void *context, const struct hprof_finding *f)
{
    const struct check *check = context;

    if (f->rule == RULE_REC_003 || f->rule == RULE_OBJ_004)
        unknown_note_failure(check->repair, f->offset);
    return 0;
}

enum hprof_status repair_follow(struct repair *r, struct input_source from)
{
    struct hprof_allocator allocator;
    struct check check = {.repair = r};
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    repair_share_memory(r, &options, &allocator);
    options.max_errors = FAILURES_MOST;
    options.on_finding = note_failure;
    options.on_summary = keep_reason;
    options.context = &check;
    jumps_clear(&r->jumps);
    unknown_clear(r);
    status = validate_with_jumps(from, &options, &r->jumps, WANT_REFERENCES | WANT_LOST);
    r->may_be_lost |= !r->jumps.none_lost;
    if (status == HPROF_LIMIT)
        memory_exhaust(&r->memory);
    if (status == HPROF_IO)
        return repair_fail(r, HPROF_IO, check.first);
    unknown_find(r);
    if (r->memory.exhausted || r->in.error || !repair_open(r, from))
        return repair_failure(r);
    return HPROF_VALID;
}

bool repair_measure_next(struct repair *r, struct measure *m)
{
    for (size_t want = 64;; want *= 4) {
        size_t there = input_need(&r->in, want);
        enum measured result = measure_subrecord(r->in.at, there, r->id_size, r->version, m);

        if (result != MEASURE_MORE || there < want || want >= LONGEST_SEEN)
            return result == MEASURED;
    }
}
