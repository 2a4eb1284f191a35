/* See repair.h. The first pass copies from the input. Later passes copy within the copy, which only becomes shorter. */
#include "repair/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/validate.h"
#include "findings/rules.h"

enum {
    PASSES_MAX = 200,
    /* The findings of each rule that one pass takes, and for which it needs memory: one for so many bytes of the copy, so that a
     * small dump takes little memory, and a large one few passes. */
    FINDINGS_LEAST = 1000,
    FINDINGS_MOST = 250000,
    BYTES_FOR_A_FINDING = 128
};

/* ---- The check of the copy ---- */

struct check {
    struct repair *repair;
    uint64_t errors;
    char first[200]; /* the first error, as a sentence */
};

/* The error is at the serial number. Only its first use is reported. */
static void note_missing_trace(struct repair *r, uint64_t offset)
{
    uint8_t serial[4];

    if (repair_read_copy(r, offset, serial, sizeof serial))
        keymap_put(&r->missing_traces, get_u4(serial), 0);
}

static void on_finding(void *context, const struct hprof_finding *f)
{
    struct check *check = context;
    struct repair *r = check->repair;

    if (f->severity != HPROF_ERROR)
        return;
    if (!check->errors++)
        snprintf(check->first, sizeof check->first,
                 "no valid copy can be made: %s at 0x%" PRIx64 ": expected %.50s; found %.50s", hprof_rule_at(f->rule)->id,
                 f->offset, f->expected, f->found);
    if (f->offset != HPROF_NO_OFFSET &&
        memory_grow(&r->memory, (void **)&r->offsets, &r->offset_capacity, r->offset_count + 1, sizeof *r->offsets))
        r->offsets[r->offset_count++] = f->offset;
    if (f->offset != HPROF_NO_OFFSET)
        missing_note(r, (enum rule)f->rule, f->offset);
    if (f->offset != HPROF_NO_OFFSET && f->rule == RULE_STK_012)
        note_missing_trace(r, f->offset);
    if (f->offset != HPROF_NO_OFFSET && (f->rule == RULE_OBJ_002 || f->rule == RULE_OBJ_003 || f->rule == RULE_CLS_010))
        keymap_put(&r->undefined_at, f->offset, 0);
}

static void on_summary(void *context, const struct hprof_summary *summary)
{
    struct check *check = context;

    check->repair->asked->bytes_out = summary->bytes;
    check->repair->asked->checked_profile = summary->profile;
    check->repair->asked->warnings = summary->warnings;
    check->repair->kindest = summary->kindest_profile;
    repair_note_copy(check->repair, summary);
    if (summary->failure)
        snprintf(check->first, sizeof check->first, "%s", summary->failure);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void clear_undefined(struct repair *r)
{
    keymap_clear(&r->undefined_at);
    keymap_clear(&r->missing_classes);
    keymap_init(&r->undefined_at, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&r->missing_classes, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
}

static void *allocate(void *context, size_t size)
{
    return memory_get(context, size);
}

static void release(void *context, void *block, size_t size)
{
    memory_put(context, block, size);
}

/* What is left of the limit; 0 for no limit. */
static uint64_t memory_left(const struct repair *r)
{
    return !r->memory.limit ? 0 : r->memory.limit > r->memory.used ? r->memory.limit - r->memory.used : 1;
}

static void note_jump(void *context, const struct jump *jump)
{
    struct check *check = context;
    struct repair *r = check->repair;

    if (memory_grow(&r->memory, (void **)&r->jumps, &r->jump_capacity, r->jump_count + 1, sizeof *r->jumps))
        r->jumps[r->jump_count++] = *jump;
}

/* The validator allocates from the memory of the repair, so that the limit is for both. */
static enum hprof_status check_copy(struct repair *r, struct check *check)
{
    const struct hprof_allocator allocator = {allocate, release, &r->memory};
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    options.profile = r->profile;
    options.max_errors = FINDINGS_LEAST + r->written / BYTES_FOR_A_FINDING;
    if (options.max_errors > FINDINGS_MOST)
        options.max_errors = FINDINGS_MOST;
    options.severities = r->asked->severities;
    options.allow_incomplete = true; /* what is lost stays lost */
    options.allocator = &allocator;
    options.max_memory = memory_left(r);
    options.on_finding = on_finding;
    options.allow_incomplete = true; /* what is missing cannot be brought back */
    options.on_summary = on_summary;
    options.context = check;
    r->offset_count = 0;
    clear_undefined(r);
    r->jump_count = 0;
    status = validate_with_jumps(r->to, &options, note_jump);
    if (r->offset_count)
        qsort(r->offsets, r->offset_count, sizeof *r->offsets, by_value);
    return status;
}

/* ---- What was left out ---- */

/* Names of the first pass may be from damaged members: the fault of a member is found after its records were read. */
static bool has_doubtful_names(const struct repair *r)
{
    return r->is_first_pass && r->damage.part_count > 0;
}

void left_class_name(const struct repair *r, const struct left_out *l, char to[NAME_ROOM])
{
    static const char *const types[] = {[4] = "boolean", "char", "float", "double", "byte", "short", "int", "long"};

    if (l->kind == LEFT_PRIMITIVE_ARRAY)
        snprintf(to, NAME_ROOM, "%s[]", l->key >= 4 && l->key < 12 ? types[l->key] : "?");
    else if (has_doubtful_names(r) || !names_class(&r->names, l->key, to))
        snprintf(to, NAME_ROOM, "class 0x%" PRIx64, l->key);
}

static void describe(const struct repair *r, const struct left_out *l, char *to, size_t size)
{
    const char *name;
    char class[NAME_ROOM];

    switch (l->kind) {
    case LEFT_RECORD:
        name = hprof_record_name((uint8_t)l->key);
        snprintf(to, size, "%s", name ? name : "record");
        break;
    case LEFT_SUBRECORD:
        name = hprof_subrecord_name((uint8_t)l->key);
        snprintf(to, size, "%s", name ? name : "bytes");
        break;
    case LEFT_CLASS:
    case LEFT_INSTANCE:
    case LEFT_OBJECT_ARRAY:
        left_class_name(r, l, class);
        snprintf(to, size, "%s %s",
                 l->kind == LEFT_CLASS      ? "CLASS_DUMP"
                 : l->kind == LEFT_INSTANCE ? "INSTANCE_DUMP"
                                            : "OBJECT_ARRAY_DUMP",
                 class);
        break;
    case LEFT_PRIMITIVE_ARRAY:
        left_class_name(r, l, class);
        snprintf(to, size, "PRIMITIVE_ARRAY_DUMP %s", class);
        break;
    case LEFT_GZIP_MEMBER:
        snprintf(to, size, "rest of gzip member %" PRIu64, l->key);
        break;
    case LEFT_DAMAGED:
        snprintf(to, size, "in damaged gzip members");
        break;
    case LEFT_BYTES:
    case LEFT_KINDS:
        snprintf(to, size, "bytes");
        break;
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct left_out *x = a, *y = b;

    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void report(struct repair *r)
{
    if (!r->asked->on_left_out || !r->left_count)
        return;
    qsort(r->left, r->left_count, sizeof *r->left, by_bytes);
    for (size_t i = 0; i < r->left_count; i++) {
        char what[NAME_ROOM + 40];
        struct hprof_left_out l = {.what = what, .count = r->left[i].count, .bytes = r->left[i].bytes};

        describe(r, &r->left[i], what, sizeof what);
        r->asked->on_left_out(r->asked->context, &l);
    }
}

/* ---- Passes ---- */

static const char no_memory[] = "memory ran out";

static enum hprof_status fail(struct repair *r, enum hprof_status status, const char *sentence)
{
    snprintf(r->asked->failure, sizeof r->asked->failure, "%s", sentence);
    return status;
}

static void count_fault(void *context, const struct gzip_finding *finding)
{
    struct repair *r = context;

    if (finding->fault != GZIP_ZEROS)
        r->asked->gzip_faults++;
    if (finding->fault == GZIP_CHECKSUM || finding->fault == GZIP_SIZE)
        r->asked->gzip_mismatches++;
    if (finding->fault == GZIP_CHECKSUM || finding->fault == GZIP_SIZE || finding->fault == GZIP_DATA)
        damage_note(r, finding->start, finding->end);
}

static enum hprof_status describe_failure(struct repair *r)
{
    char reason[100];

    if (r->memory.exhausted)
        return fail(r, HPROF_LIMIT, r->asked->max_memory ? "the memory limit was met" : no_memory);
    if (r->in.error) {
        input_reason(&r->in, reason, sizeof reason);
        return fail(r, HPROF_IO, reason);
    }
    if (r->asked->failure[0])
        return HPROF_INVALID;
    r->asked->failed_on_copy = r->error != 0;
    return r->error ? fail(r, HPROF_IO, strerror(r->error)) : HPROF_INVALID;
}

/* Opens what a pass reads. A file is read as it is; any other input was copied first, because it is read twice. */
static bool open_input(struct repair *r, int from)
{
    input_close(&r->in);
    return input_open(&r->in, source_of_fd(from), 0, &usual_sizes, &r->memory, count_fault, r);
}

static void keep_reason(void *context, const struct hprof_summary *summary)
{
    struct check *check = context;

    repair_note_input(check->repair, summary);
    if (summary->failure)
        snprintf(check->first, sizeof check->first, "%s", summary->failure);
}

/* Finds out how the input is read. HPROF_VALID, or why it cannot be copied. */
static enum hprof_status follow_input(struct repair *r, int from)
{
    const struct hprof_allocator allocator = {allocate, release, &r->memory};
    struct check check = {.repair = r};
    const uint64_t size = from == r->to ? 0 : input_file_size(&r->in);
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    options.max_errors = 1;
    options.allocator = &allocator;
    options.max_memory = memory_left(r);
    options.on_summary = keep_reason;
    options.context = &check;
    r->jump_count = 0;
    status = validate_with_jumps(from, &options, note_jump);
    if (status == HPROF_LIMIT)
        memory_exhaust(&r->memory);
    if (status == HPROF_IO)
        return fail(r, HPROF_IO, check.first);
    if (r->memory.exhausted || !open_input(r, from))
        return describe_failure(r);
    if (input_file_size(&r->in) >= size)
        return HPROF_VALID;
    r->in.error = ESTALE;
    return describe_failure(r);
}

/* "auto" means the profile by which the least is left out. Whether that is another than the last check has used. */
static bool takes_kinder_profile(struct repair *r)
{
    if (r->profile != hprof_profile_find("auto") || r->kindest == r->asked->checked_profile)
        return false;
    r->profile = r->kindest;
    return true;
}

/* Makes passes until the copy is valid or nothing more can be left out. */
static enum hprof_status run_passes(struct repair *r, int from)
{
    struct check check = {.repair = r};
    enum hprof_status status;

    if (r->in.compressed || !r->in.source.seekable) {
        input_allow_resume(&r->in);
        if (!repair_spool(r))
            return describe_failure(r);
        from = r->to;
    }
    status = undo_transfer(r, &from);
    if (status == HPROF_VALID)
        status = follow_input(r, from);
    if (status != HPROF_VALID)
        return status;
    if (!repair_copy(r))
        return describe_failure(r);
    r->asked->bytes_in = r->in.offset + r->lost;
    for (int pass = 1;; pass++) {
        check = (struct check){.repair = r};
        status = check_copy(r, &check);
        if (status == HPROF_INVALID && takes_kinder_profile(r)) {
            check = (struct check){.repair = r};
            status = check_copy(r, &check);
        }
        if (status == HPROF_LIMIT)
            memory_exhaust(&r->memory);
        if (r->memory.exhausted || r->error)
            return describe_failure(r);
        if (status != HPROF_INVALID)
            return status == HPROF_VALID ? status : fail(r, status, check.first);
        if (pass == PASSES_MAX)
            return fail(r, HPROF_INVALID, check.first);
        r->is_first_pass = false;
        r->takes_names = pass == 1 && r->damage.part_count > 0;
        if (!open_input(r, r->to) || !repair_copy(r))
            return describe_failure(r);
        if (!r->has_changed)
            return fail(r, HPROF_INVALID, check.first);
    }
}

static enum hprof_status run(struct repair *r, int from)
{
    enum { BUFFER_SIZE = 1 << 20 };
    enum hprof_status status;

    r->buffer = memory_get(&r->memory, BUFFER_SIZE);
    keymap_init(&r->missing_traces, &r->memory, &r->key, sizeof(uint32_t), sizeof(uint64_t));
    clear_undefined(r);
    missing_init(r);
    for (int i = 0; i < LEFT_KINDS; i++)
        keymap_init(&r->left_index[i], &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    r->is_first_pass = r->takes_names = true;
    if (!r->buffer || !input_open(&r->in, source_of_fd(from), 0, &usual_sizes, &r->memory, count_fault, r)) {
        status = describe_failure(r);
    } else {
        status = run_passes(r, from);
    }
    if (status == HPROF_VALID)
        report(r);
    if (status == HPROF_VALID)
        repair_report_losses(r);
    input_close(&r->in);
    if (r->has_names)
        names_clear(&r->names);
    for (int i = 0; i < LEFT_KINDS; i++)
        keymap_clear(&r->left_index[i]);
    keymap_clear(&r->missing_traces);
    keymap_clear(&r->undefined_at);
    keymap_clear(&r->missing_classes);
    missing_clear(r);
    damage_clear(r);
    memory_put(&r->memory, r->left, r->left_capacity * sizeof *r->left);
    memory_put(&r->memory, r->jumps, r->jump_capacity * sizeof *r->jumps);
    memory_put(&r->memory, r->offsets, r->offset_capacity * sizeof *r->offsets);
    memory_put(&r->memory, r->buffer, BUFFER_SIZE);
    return status;
}

enum hprof_status hprof_repair_fd(int from, int to, struct hprof_repair *asked)
{
    struct memory own;
    struct repair *r;
    enum hprof_status status;

    if (!asked)
        return HPROF_USAGE;
    asked->bytes_in = asked->bytes_out = asked->left_out = asked->lengths_mended = asked->gzip_faults = 0;
    asked->gzip_mismatches = asked->gzip_resumed = asked->gzip_unknown = 0;
    asked->traces_cleared = asked->joined = asked->headers_made = asked->warnings = 0;
    asked->other_dump = 0;
    asked->is_ended = asked->gzip_ended_early = false;
    asked->failure[0] = '\0';
    asked->text_before = asked->undone = 0;
    asked->failed_on_copy = false;
    asked->missing_objects = asked->classes_without_name = 0;
    memory_init(&own, asked->allocator, 0);
    r = memory_get_zeroed(&own, sizeof *r);
    if (!r) {
        snprintf(asked->failure, sizeof asked->failure, "%s", no_memory);
        return HPROF_LIMIT;
    }
    r->asked = asked;
    r->to = to;
    r->profile = asked->profile;
    r->key = hash_key_draw();
    memory_init(&r->memory, asked->allocator, asked->max_memory);
    status = run(r, from);
    memory_put(&own, r, sizeof *r);
    return status;
}
