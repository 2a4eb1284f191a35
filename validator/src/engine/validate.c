/* The public entry points: set up the context, read the dump, run the final checks, and give findings their severities. */
#include <stdio.h>
#include <string.h>

#include "engine/checker.h"

enum { PROGRESS_STEP = 8 << 20 };

void hprof_options_init(struct hprof_options *options)
{
    *options = (struct hprof_options){.max_errors = 20, .threads = 1};
}

void show_progress(struct checker *ck)
{
    uint64_t read = input_file_position(&ck->in);

    /* Bitmaps of IDs may take a thirtieth of the bytes read, whatever the heap contains. */
    id_set_allow(&ck->dump.objects, (UINT64_C(8) << 20) + ck->in.offset / 30);
    id_set_allow(&ck->class_serials, UINT64_C(1) << 20);
    id_set_allow(&ck->unloaded_serials, UINT64_C(1) << 20);
    id_set_allow(&ck->rooted_threads, UINT64_C(1) << 20);
    if (ck->options->on_progress && read > ck->progress_shown && read - ck->progress_shown >= PROGRESS_STEP) {
        ck->progress_shown = read;
        ck->options->on_progress(ck->options->context, read, input_file_size(&ck->in));
    }
}

static void checker_init(struct checker *ck, const struct hprof_options *options)
{
    struct memory *m = &ck->memory;

    ck->options = options;
    memory_init(m, options->allocator, options->max_memory);
    ck->key = options->testing && options->testing->hash_seed ? hash_key_from(options->testing->hash_seed) : hash_key_draw();
    findings_init(&ck->findings, m, options->max_errors);
    id_set_init(&ck->class_serials, m, &ck->key, sizeof(uint32_t));
    id_set_init(&ck->unloaded_serials, m, &ck->key, sizeof(uint32_t));
    keymap_init(&ck->traces, m, &ck->key, sizeof(uint32_t), sizeof(uint32_t));
    keymap_init(&ck->threads, m, &ck->key, sizeof(uint32_t), sizeof(uint64_t));
    chunks_init(&ck->trace_list, m, trace_size());
    id_set_init(&ck->rooted_threads, m, &ck->key, sizeof(uint32_t));
    byte_log_init(&ck->frame_roots, m);
    chunks_init(&ck->jumps, m, sizeof(struct jump));
    heap_index_init(&ck->heap_index, m);
    ck->sum.version = ck->sum.producer = "";
    ck->sum.sound_until = UINT64_MAX;
}

/* Sets up what depends on the size of IDs. */
static void checker_begin(struct checker *ck)
{
    struct memory *m = &ck->memory;

    strings_init(&ck->strings, m, &ck->key, ck->id_size);
    keymap_init(&ck->frames, m, &ck->key, ck->id_size, sizeof(uint64_t));
    classes_init(&ck->classes, m, &ck->key, ck->id_size);
    id_set_init(&ck->dump.objects, m, &ck->key, ck->id_size);
    ck->segment = (struct segment){.meet = &meetings_in_order,
                                   .context = ck,
                                   .id_size = ck->id_size,
                                   .objects = &ck->dump.objects,
                                   .wide = &ck->dump.wide};
    pending_uses_init(&ck->string_uses, m, ck->id_size);
    pending_uses_init(&ck->frame_uses, m, ck->id_size);
    pending_uses_init(&ck->class_serial_uses, m, sizeof(uint32_t));
    pending_uses_init(&ck->trace_uses, m, sizeof(uint32_t));
    pending_uses_init(&ck->thread_uses, m, sizeof(uint32_t));
    pending_uses_init(&ck->class_uses, m, ck->id_size);
}

static void checker_clear(struct checker *ck)
{
    if (ck->id_size) {
        clear_heap_dump(ck);
        pending_uses_clear(&ck->string_uses);
        pending_uses_clear(&ck->frame_uses);
        pending_uses_clear(&ck->class_serial_uses);
        pending_uses_clear(&ck->trace_uses);
        pending_uses_clear(&ck->thread_uses);
        pending_uses_clear(&ck->class_uses);
    }
    jobs_clear(ck);
    drop_crossing(ck);
    hot_classes_clear(&ck->segment.hot, &ck->memory);
    classes_clear(&ck->classes);
    keymap_clear(&ck->dump.thread_roots);
    strings_clear(&ck->strings);
    id_set_clear(&ck->class_serials);
    id_set_clear(&ck->unloaded_serials);
    keymap_clear(&ck->frames);
    keymap_clear(&ck->traces);
    keymap_clear(&ck->threads);
    chunks_clear(&ck->trace_list);
    chunks_clear(&ck->jumps);
    id_set_clear(&ck->rooted_threads);
    byte_log_clear(&ck->frame_roots);
    heap_index_clear(&ck->heap_index);
    end_gzip(ck);
    input_close(&ck->in);
}

static void check_dump(struct checker *ck)
{
    if (ck->memory.exhausted || ck->in.error)
        return;
    look_for_text(ck);
    if (!check_header(ck)) {
        input_skip(&ck->in, UINT64_MAX);
        restore_checkpoint(ck);
        ck->sum.bytes = ck->in.offset;
        return;
    }
    checker_begin(ck);
    jobs_init(ck);
    check_records(ck);
    if (ck->framing.stopped && !ck->memory.exhausted)
        input_skip(&ck->in, UINT64_MAX);
    restore_checkpoint(ck);
    ck->sum.bytes = ck->in.offset;
    if (ck->memory.exhausted || ck->in.error)
        return;
    finish_strings(ck);
    finish_stacks(ck);
    finish_frame_roots(ck);
    finish_classes(ck);
    find_offsets_of_records(ck);
}

/* A limit that should be enough for the whole dump; 0 if its size is unknown. Real dumps need less than a twenty-fifth of
 * their size, and none needs more than twice its size. If the limit was above the first figure, memory is assumed to grow in
 * proportion to the bytes read. */
static uint64_t estimate_memory(const struct checker *ck)
{
    enum { LEAST = 8 << 20, INFLATED = 8 };
    uint64_t size = input_file_size(&ck->in), position = input_file_position(&ck->in);
    uint64_t whole = ck->in.compressed ? INFLATED * size : size, usual = LEAST + whole / 25, most = LEAST + 2 * whole;
    double in_proportion;

    if (!size)
        return 0;
    if (ck->options->max_memory < usual)
        return usual;
    in_proportion = position ? 1.5 * (double)ck->memory.peak * (double)size / (double)position : 0;
    if (in_proportion < (double)most)
        return (uint64_t)in_proportion;
    return ck->options->max_memory < most ? most : 2 * ck->options->max_memory;
}

/* Says how far the check came with the allowed memory, and how much will be enough. */
static void show_limit(const struct checker *ck, char *to, size_t size)
{
    uint64_t file = input_file_size(&ck->in), megabytes = (ck->sum.memory_needed >> 20) + 1;
    size_t n;

    n = (size_t)snprintf(to, size, "the memory limit of %llu bytes was met at offset 0x%llx",
                         (unsigned long long)ck->options->max_memory, (unsigned long long)ck->in.offset);
    if (file)
        snprintf(to + n, size - n, ", after %.0f %% of the file; about %lluM should do",
                 100 * (double)input_file_position(&ck->in) / (double)file, (unsigned long long)megabytes);
    else
        snprintf(to + n, size - n, "; a dump needs about a twenty-fifth of its size");
}

/* Says what kept the dump from being checked to its end, if anything did. */
static void describe_failure(struct checker *ck)
{
    struct hprof_summary *sum = &ck->sum;
    char reason[128] = "";

    if (ck->memory.exhausted) {
        sum->status = HPROF_LIMIT;
        if (ck->options->max_memory) {
            sum->memory_needed = estimate_memory(ck);
            show_limit(ck, ck->failure, sizeof ck->failure);
        } else {
            snprintf(ck->failure, sizeof ck->failure, "memory ran out at offset 0x%llx", (unsigned long long)ck->in.offset);
        }
        sum->failure = ck->failure;
    } else if (ck->in.error) {
        sum->status = HPROF_IO;
        input_reason(&ck->in, reason, sizeof reason);
        if (ck->in.offset)
            snprintf(ck->failure, sizeof ck->failure, "cannot be read on from offset 0x%llx: %s",
                     (unsigned long long)ck->in.offset, reason);
        else
            snprintf(ck->failure, sizeof ck->failure, "cannot be read: %s", reason);
        sum->failure = ck->failure;
    }
}

struct severity_choice choose_severity(const struct checker *ck, enum profile *looks_like, const char **producer)
{
    struct severity_choice choice = {
        .profile = (enum profile)ck->options->profile, .changed = ck->options->severities, .werror = ck->options->werror};

    *looks_like = guess_producer(ck, producer);
    if (choice.profile == PROFILE_AUTO)
        choice.profile = *looks_like;
    return choice;
}

/* Computes severities, totals and the likely producer. */
static struct severity_choice conclude(struct checker *ck)
{
    enum profile looks_like;
    struct severity_choice choice = choose_severity(ck, &looks_like, &ck->sum.producer);
    struct hprof_summary *sum = &ck->sum;
    struct verdict verdict;

    findings_verdict(&ck->findings, &choice, &verdict);
    if (ck->options->baseline) {
        for (size_t rule = 0; rule < RULE_COUNT; rule++)
            ck->in_baseline[rule] = verdict.totals[rule] <= ck->options->baseline[rule];
        choice.in_baseline = ck->in_baseline;
        findings_verdict(&ck->findings, &choice, &verdict);
    }
    memcpy(ck->totals, verdict.totals, sizeof ck->totals);
    sum->totals = ck->totals;
    sum->profile = choice.profile;
    sum->errors = verdict.errors;
    sum->warnings = verdict.warnings;
    sum->notes = verdict.notes;
    sum->status = verdict.errors ? HPROF_INVALID : HPROF_VALID;
    sum->producer_profile = looks_like;
    sum->quirks = ck->quirks;
    if (looks_like != PROFILE_STRICT) {
        struct severity_choice other = choice;
        struct quirk_count quirks;

        other.profile = looks_like;
        other.in_baseline = NULL;
        findings_count_quirks(&ck->findings, &choice, &other, &quirks);
        memcpy(ck->quirks, quirks.totals, sizeof ck->quirks);
        sum->quirk_errors = quirks.errors;
        sum->quirk_warnings = quirks.warnings;
        if (verdict.errors && quirks.errors == verdict.errors)
            sum->accepted_by = hprof_profile_at(looks_like)->name;
    }

    sum->compressed = ck->in.compressed;
    /* The second look may leave the file anywhere. */
    sum->file_bytes = input_file_size(&ck->in);
    if (sum->file_bytes < input_file_position(&ck->in))
        sum->file_bytes = input_file_position(&ck->in);
    if (sum->sound_until > sum->bytes)
        sum->sound_until = sum->bytes;
    sum->classes = sum->subrecord_counts[SUB_CLASS_DUMP];
    sum->instances = sum->subrecord_counts[SUB_INSTANCE_DUMP];
    sum->object_arrays = sum->subrecord_counts[SUB_OBJECT_ARRAY_DUMP];
    sum->primitive_arrays = sum->subrecord_counts[SUB_PRIMITIVE_ARRAY_DUMP] + sum->subrecord_counts[SUB_PRIMITIVE_ARRAY_NODATA];
    sum->strings = sum->record_counts[TAG_UTF8];
    describe_failure(ck);
    sum->hint = choose_hint(ck);
    return choice;
}

/* The last progress is all bytes, wherever the second look left the file. */
static void end_progress(struct checker *ck)
{
    bool whole = ck->sum.status == HPROF_VALID || ck->sum.status == HPROF_INVALID;

    if (ck->options->on_progress)
        ck->options->on_progress(ck->options->context, whole ? ck->sum.file_bytes : input_file_position(&ck->in),
                                 input_file_size(&ck->in));
}

static enum hprof_status run(struct checker *ck)
{
    const struct hprof_options *options = ck->options;
    struct severity_choice choice;

    check_dump(ck);
    findings_end(&ck->findings);
    /* Findings from before memory ran out are still shown, with the memory that the rest has released. */
    ck->memory.limit = 0;
    if (options->on_finding)
        findings_prepare(&ck->findings);
    choice = conclude(ck);
    end_progress(ck);
    if (options->on_summary)
        options->on_summary(options->context, &ck->sum);
    if (options->on_finding)
        findings_show(&ck->findings, &choice, options->max_errors, options->on_finding, options->context);
    return ck->sum.status;
}

static bool options_make_sense(const struct hprof_options *options)
{
    const struct hprof_allocator *allocator = options->allocator;

    for (size_t rule = 0; options->severities && rule < RULE_COUNT; rule++)
        if (options->severities[rule] > HPROF_ERROR && options->severities[rule] != HPROF_UNCHANGED)
            return false;
    if (options->testing && options->testing->block == 1)
        return false;
    return options->profile < PROFILE_COUNT && (!allocator || (allocator->allocate && allocator->release));
}

/* A descriptor, or memory if `bytes` is not NULL. */
static bool open_input(struct checker *ck, int fd, const void *bytes, size_t size, bool as_pipe)
{
    size_t block = ck->options->testing ? ck->options->testing->block : 0;
    struct input_source source;

    if (block) {
        source = bytes ? source_of_memory(bytes, size, as_pipe) : source_of_fd(fd);
        return input_open_source(&ck->in, source, block, &ck->memory, on_gzip_fault, ck);
    }
    if (bytes)
        return input_open_memory(&ck->in, bytes, size, as_pipe, &ck->memory, on_gzip_fault, ck);
    return input_open_fd(&ck->in, fd, &ck->memory, on_gzip_fault, ck);
}

/* The context takes about 100 KB, so it comes from the caller's allocator, not from the stack. */
static enum hprof_status validate(int fd, const void *bytes, size_t size, bool as_pipe, const struct hprof_options *options)
{
    struct memory own;
    struct checker *ck;
    enum hprof_status status;

    if (!options_make_sense(options))
        return HPROF_USAGE;
    memory_init(&own, options->allocator, 0);
    ck = memory_get_zeroed(&own, sizeof *ck);
    if (!ck)
        return HPROF_LIMIT;
    checker_init(ck, options);
    (void)open_input(ck, fd, bytes, size, as_pipe); /* run() reports the failure in ck->memory or ck->in */
    if (options->threads > 1)
        input_allow_thread(&ck->in);
    begin_gzip(ck);
    status = run(ck);
    checker_clear(ck);
    findings_clear(&ck->findings);
    memory_put(&own, ck, sizeof *ck);
    return status;
}

enum hprof_status hprof_validate_fd(int fd, const struct hprof_options *options)
{
    return validate(fd, NULL, 0, false, options);
}

enum hprof_status hprof_validate_memory(const void *bytes, size_t size, bool as_pipe, const struct hprof_options *options)
{
    return validate(-1, bytes ? bytes : "", bytes ? size : 0, as_pipe, options);
}
