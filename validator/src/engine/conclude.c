/* The end of a check: severities, the verdict, the summary; and the callbacks. */
#include <stdio.h>
#include <string.h>

#include "engine/check.h"
#include "engine/engine.h"

/* A limit that should be enough for the whole dump; 0 if its size is unknown. Real dumps need less than a twenty-fifth of
 * their size, and none needs more than twice its size. If the limit was above the first figure, memory is assumed to grow in
 * proportion to the bytes read. */
static uint64_t estimate_memory(const struct engine *e)
{
    enum { LEAST = 8 << 20, INFLATED = 8 };
    uint64_t size = input_file_size(&e->in), position = input_file_position(&e->in);
    uint64_t whole = e->in.compressed ? INFLATED * size : size, usual = LEAST + whole / 25, most = LEAST + 2 * whole;
    double in_proportion;

    if (!size)
        return 0;
    if (e->run.options->max_memory < usual)
        return usual;
    in_proportion = position ? 1.5 * (double)e->run.memory.peak * (double)size / (double)position : 0;
    if (in_proportion < (double)most)
        return (uint64_t)in_proportion;
    return e->run.options->max_memory < most ? most : 2 * e->run.options->max_memory;
}

/* Says how far the check came with the allowed memory, and how much will be enough. */
static void show_limit(const struct engine *e, char *to, size_t size)
{
    uint64_t file = input_file_size(&e->in), megabytes = (e->run.summary->memory_needed >> 20) + 1;
    size_t n;

    n = (size_t)snprintf(to, size, "the memory limit of %llu bytes was met at offset 0x%llx",
                         (unsigned long long)e->run.options->max_memory, (unsigned long long)e->in.offset);
    if (file)
        snprintf(to + n, size - n, ", after %.0f %% of the file; about %lluM should do",
                 100 * (double)input_file_position(&e->in) / (double)file, (unsigned long long)megabytes);
    else
        snprintf(to + n, size - n, "; a dump needs about a twenty-fifth of its size");
}

/* Says what kept the dump from being checked to its end, if anything did. */
static void describe_failure(struct engine *e)
{
    struct hprof_summary *sum = e->run.summary;
    unsigned long long offset = e->in.offset;
    char reason[128] = "";

    if (e->run.stopped) {
        sum->status = HPROF_STOPPED;
        snprintf(sum->failure, sizeof sum->failure, "stopped by the caller at offset 0x%llx", offset);
    } else if (e->run.memory.exhausted) {
        sum->status = HPROF_LIMIT;
        if (e->run.options->max_memory) {
            sum->memory_needed = estimate_memory(e);
            show_limit(e, sum->failure, sizeof sum->failure);
        } else {
            snprintf(sum->failure, sizeof sum->failure, "memory ran out at offset 0x%llx", offset);
        }
    } else if (e->in.error) {
        sum->status = HPROF_IO;
        input_reason(&e->in, reason, sizeof reason);
        if (e->in.offset)
            snprintf(sum->failure, sizeof sum->failure, "cannot be read on from offset 0x%llx: %s", offset, reason);
        else
            snprintf(sum->failure, sizeof sum->failure, "cannot be read: %s", reason);
    }
}

/* Whether the dump is incomplete and has no other fault. Strict names what is missing and leaves the verdict to the severities. */
static void count_missing(struct engine *e, const struct severity_choice *choice, const struct verdict *verdict)
{
    static const enum rule rules[] = {RULE_REC_007, RULE_REC_016, RULE_HDR_001};
    struct hprof_summary *sum = e->run.summary;
    bool is_missing = false;
    uint64_t others = verdict->errors;
    const char *quirk;

    for (size_t shape = 0; shape < SHAPE_COUNT; shape++) {
        enum hprof_severity severity;

        if (!e->run.missing[shape])
            continue;
        severity = findings_severity(choice, RULE_REF_002, (enum finding_shape)shape, &quirk);
        if (severity == HPROF_OFF) /* a quirk of the profile is none less where its rule is left out */
            rule_severity(RULE_REF_002, (enum finding_shape)shape, choice->profile, &quirk);
        if (!quirk)
            sum->missing_objects += e->run.missing[shape];
        is_missing |= severity >= HPROF_WARNING && e->run.options->profile != PROFILE_STRICT;
    }
    is_missing |= heap_dump_is_empty(&e->run.sum) && e->run.options->profile != PROFILE_STRICT;
    sum->missing_undecided = e->run.undecided;
    is_missing |= e->run.undecided && e->run.options->profile != PROFILE_STRICT &&
                  findings_severity(choice, RULE_REF_002, SHAPE_ANY, &quirk) >= HPROF_WARNING;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        uint64_t total = rules[i] != RULE_HDR_001 || sum->is_part ? verdict->totals[rules[i]] : 0;

        if (total && findings_severity(choice, rules[i], SHAPE_ANY, &quirk) == HPROF_ERROR) {
            is_missing = true;
            others -= total;
        }
    }
    sum->incomplete = is_missing && !others && !e->run.memory.exhausted && !e->in.error;
}

/* What was counted becomes part of the summary. */
static void summarize_counts(struct engine *e)
{
    struct hprof_summary *sum = e->run.summary;
    const struct counts *counts = &e->run.sum;

    sum->version = counts->version;
    sum->id_size = counts->id_size;
    sum->timestamp = counts->timestamp;
    sum->bytes = counts->bytes;
    sum->sound_until = counts->sound_until < counts->bytes ? counts->sound_until : counts->bytes;
    sum->skipped = counts->skipped;
    sum->is_part = counts->is_part;
    sum->header_lost = counts->header_lost;
    sum->found_lost = counts->found_lost;
    sum->references = counts->references;
    memcpy(sum->record_counts, counts->record_counts, sizeof sum->record_counts);
    memcpy(sum->subrecord_counts, counts->subrecord_counts, sizeof sum->subrecord_counts);
    sum->classes = sum->subrecord_counts[SUB_CLASS_DUMP];
    sum->instances = sum->subrecord_counts[SUB_INSTANCE_DUMP];
    sum->object_arrays = sum->subrecord_counts[SUB_OBJECT_ARRAY_DUMP];
    sum->primitive_arrays = sum->subrecord_counts[SUB_PRIMITIVE_ARRAY_DUMP] + sum->subrecord_counts[SUB_PRIMITIVE_ARRAY_NODATA];
    sum->loaded_classes = e->file.classes.loaded.count;
    sum->strings = sum->record_counts[TAG_UTF8];
}

/* The profile in which the dump has the fewest errors: the one that is used, if no other has fewer. */
static size_t find_kindest(const struct engine *e, const struct severity_choice *choice, uint64_t errors)
{
    struct severity_choice other = *choice;
    size_t kindest = choice->profile;
    struct verdict verdict;

    for (size_t profile = 0; errors && profile < PROFILE_COUNT; profile++) {
        if (profile == PROFILE_AUTO)
            continue;
        other.profile = (enum profile)profile;
        findings_verdict(&e->run.findings, &other, NULL, &verdict);
        if (verdict.errors < errors) {
            kindest = profile;
            errors = verdict.errors;
        }
    }
    return kindest;
}

/* Computes severities, totals and the likely producer. */
static struct severity_choice conclude(struct engine *e)
{
    struct producer producer = guess_producer(&e->run, &e->file);
    struct severity_choice choice = choose_severity(e, producer);
    struct hprof_summary *sum = e->run.summary;
    struct verdict verdict;

    _Static_assert((size_t)RULE_COUNT <= (size_t)HPROF_RULE_ROOM, "each rule has its numbers in the summary");
    summarize_counts(e);

    findings_verdict(&e->run.findings, &choice, NULL, &verdict);
    if (e->run.options->baseline) {
        for (size_t rule = 0; rule < RULE_COUNT; rule++)
            e->run.in_baseline[rule] = verdict.totals[rule] <= e->run.options->baseline[rule];
        choice.in_baseline = e->run.in_baseline;
        findings_verdict(&e->run.findings, &choice, NULL, &verdict);
    }
    count_missing(e, &choice, &verdict);
    memcpy(sum->totals, verdict.totals, sizeof verdict.totals);
    memcpy(sum->quirk_notes, verdict.quirk_notes, sizeof verdict.quirk_notes);
    sum->profile = choice.profile;
    sum->kindest_profile = find_kindest(e, &choice, verdict.errors);
    sum->header_lost |= e->id_size_is_wrong && verdict.errors;
    sum->errors = verdict.errors;
    sum->warnings = verdict.warnings;
    sum->notes = verdict.notes;
    sum->status = verdict.errors || sum->incomplete ? HPROF_INVALID : HPROF_VALID;
    if (sum->incomplete && e->run.options->allow_incomplete)
        sum->status = HPROF_VALID;
    sum->producer = producer.name;
    sum->producer_profile = producer.profile;
    if (producer.profile != PROFILE_STRICT) {
        struct severity_choice other = choice;
        struct verdict quirks;

        other.profile = producer.profile;
        other.in_baseline = NULL;
        findings_verdict(&e->run.findings, &choice, &other, &quirks);
        memcpy(sum->quirks, quirks.totals, sizeof quirks.totals);
        sum->quirk_errors = quirks.errors;
        sum->quirk_warnings = quirks.warnings;
        if (verdict.errors && quirks.errors == verdict.errors)
            sum->accepted_by = hprof_profile_at(producer.profile)->name;
    }

    sum->compressed = e->in.compressed || e->lost_gzip;
    /* The second look may leave the file anywhere. */
    sum->file_bytes = input_file_size(&e->in);
    if (sum->file_bytes < input_file_position(&e->in))
        sum->file_bytes = input_file_position(&e->in);
    describe_failure(e);
    conclude_transfer(e);
    sum->transfer = e->run.sum.transfer;
    sum->hint = choose_hint(e);
    return choice;
}

/* The last progress is all bytes, wherever the second look left the file. */
static void end_progress(struct engine *e)
{
    const struct hprof_summary *sum = e->run.summary;
    bool whole = sum->status == HPROF_VALID || sum->status == HPROF_INVALID;

    if (e->run.options->on_progress && !e->run.stopped)
        stop_if(e, e->run.options->on_progress(e->run.options->context, whole ? sum->file_bytes : input_file_position(&e->in),
                                               input_file_size(&e->in)));
}

enum hprof_status engine_conclude(struct engine *e)
{
    const struct hprof_options *options = e->run.options;
    struct hprof_summary *sum = e->run.summary;
    struct severity_choice choice;

    findings_end(&e->run.findings);
    /* Findings from before memory ran out are still shown, with the memory that the rest has released. */
    e->run.memory.limit = 0;
    if (options->on_finding)
        findings_prepare(&e->run.findings);
    choice = conclude(e);
    end_progress(e);
    if (options->on_summary && !e->run.stopped)
        stop_if(e, options->on_summary(options->context, sum));
    if (options->on_finding && !e->run.stopped)
        stop_if(e, findings_show(&e->run.findings, &choice, options->max_errors, options->on_finding, options->context));
    describe_failure(e);
    return sum->status;
}
