/* See repair.h. The first pass copies from the input. Later passes copy within the copy, which only becomes shorter. */
#include "repair/repair_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/versioned.h"
#include "engine/validate.h"
#include "findings/rules.h"

enum {
    PASSES_MAX = 200,
    ROUNDS_MOST = 8, /* of lost objects, of stand-ins, and of wrong classes */
    /* The findings of each rule that one pass takes, and for which it needs memory: one for so many bytes of the copy, so that a
     * small dump takes little memory, and a large one few passes. */
    FINDINGS_LEAST = 1000,
    FINDINGS_MOST = 250000,
    BYTES_FOR_A_FINDING = 128
};

/* ---- The check of the copy ---- */

/* The error is at the serial number. Only its first use is reported. */
static void note_missing_trace(struct repair *r, uint64_t offset)
{
    uint8_t serial[4];

    if (copy_read(r, offset, serial, sizeof serial))
        keymap_put(&r->missing_traces, get_u4(serial), 0);
}

static void leave_out_error(struct repair *r, enum rule rule, uint64_t offset)
{
    missing_note(r, rule, offset);
    if (misfit_note(r, rule, offset))
        return;
    leave_out_at(r, offset);
    if (rule == RULE_STK_012)
        note_missing_trace(r, offset);
    if (rule == RULE_OBJ_002 || rule == RULE_OBJ_003 || rule == RULE_CLS_010 || rule == RULE_ROOT_003)
        keymap_put(&r->undefined_at, offset, 0);
    if (rule == RULE_OBJ_004 || rule == RULE_CLS_009)
        keymap_put(&r->twice_at, offset, 0);
}

/* Of the class 0 there is no stand-in. */
static bool is_class_zero(struct repair *r, const struct hprof_finding *f)
{
    uint8_t id[8];

    return f->rule == RULE_OBJ_003 && copy_read(r, f->offset, id, r->id_size) && !get_id(id, r->id_size);
}

/* What a finding says is missing gets a stand-in. Where its ID is that of an object, objects get another class. */
static bool gets_stand_in(struct check *check, const struct hprof_finding *f)
{
    struct repair *r = check->repair;
    bool is_no_class = strstr(f->found, IS_NO_CLASS);

    if (!r->may_stand_in || f->severity < HPROF_WARNING || !stand_ins_fit((enum rule)f->rule) || is_class_zero(r, f) ||
        (is_no_class && !misfit_note_no_class(r, (enum rule)f->rule, f->offset)))
        return false;
    check->errors += is_no_class;
    r->wants_stand_in = true;
    return true;
}

/* The superclass is an object: the class gets a stand-in, and its instances are kept. */
static bool is_damaged_class(const struct repair *r, const struct hprof_finding *f)
{
    return r->may_stand_in && f->rule == RULE_CLS_010 && strstr(f->found, IS_NO_CLASS);
}

/* VisualVM and MAT fail on a class that is dumped twice, although producers' profiles allow it. */
static bool readers_refuse(enum rule rule)
{
    return rule == RULE_CLS_009;
}

static int on_finding(void *context, const struct hprof_finding *f)
{
    struct check *check = context;
    struct repair *r = check->repair;
    enum rule rule = (enum rule)f->rule;
    bool is_refused = readers_refuse(rule);

    parts_note_duplicate(r, rule, f->offset, f->related_offset);
    parts_note_unloaded(r, rule, f->offset);
    if ((rule == RULE_ROOT_003 && thread_is_doubtful(r, f->offset)) || is_damaged_class(r, f)) {
        leave_out_at(r, f->offset);
        check->leaves_out_first = true;
        return 0;
    }
    check->has_doubts |= f->severity == HPROF_ERROR && (rule == RULE_OBJ_006 || rule == RULE_CLS_011);
    if (gets_stand_in(check, f))
        return 0;
    check->refused |= is_refused;
    if ((f->severity != HPROF_ERROR && !is_refused) || doubt_explains(r, rule))
        return 0;
    if (!check->errors++)
        snprintf(check->first, sizeof check->first,
                 "no valid copy can be made: %s at 0x%" PRIx64 ": expected %.50s; found %.50s", hprof_rule_at(f->rule)->id,
                 f->offset, f->expected, f->found);
    if (f->offset != HPROF_NO_OFFSET)
        leave_out_error(r, rule, doubt_choose(r, rule, f->offset, f->related_offset));
    return 0;
}

static int on_summary(void *context, const struct hprof_summary *summary)
{
    struct check *check = context;

    check->repair->result.bytes_out = summary->bytes;
    check->repair->result.checked_profile = summary->profile;
    check->repair->result.warnings = summary->warnings;
    check->repair->result.incomplete = summary->incomplete;
    repair_note_copy(check->repair, summary);
    if (summary->failure[0])
        snprintf(check->first, sizeof check->first, "%s", summary->failure);
    return 0;
}

static void clear_undefined(struct repair *r)
{
    keymap_clear(&r->undefined_at);
    keymap_clear(&r->twice_at);
    keymap_clear(&r->missing_classes);
    keymap_clear(&r->missing_threads);
    keymap_init(&r->twice_at, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&r->undefined_at, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&r->missing_classes, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&r->missing_threads, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
}

/* Of what is missing nothing is left out, unless the caller makes that an error. */
static bool wants_references(const struct repair *r)
{
    return r->asked.severities && r->asked.severities[RULE_REF_002] != HPROF_UNCHANGED;
}

static enum hprof_status check_copy(struct repair *r, struct check *check)
{
    struct hprof_allocator allocator;
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    repair_share_memory(r, &options, &allocator);
    options.profile = r->profile;
    options.max_errors = FINDINGS_LEAST + r->written / BYTES_FOR_A_FINDING;
    if (options.max_errors > FINDINGS_MOST)
        options.max_errors = FINDINGS_MOST;
    options.severities = r->asked.severities;
    options.on_finding = on_finding;
    options.allow_incomplete = true; /* what is missing cannot be brought back */
    options.on_summary = on_summary;
    options.context = check;
    r->offset_count = 0;
    clear_undefined(r);
    misfits_forget(r);
    jumps_clear(&r->jumps);
    status = validate_with_jumps(source_of_fd(r->to), &options, &r->jumps,
                                 (wants_references(r) ? WANT_REFERENCES : 0) | (r->may_be_lost ? WANT_LOST : 0));
    r->may_be_lost &= !r->jumps.none_lost;
    return status;
}

/* ---- Passes ---- */

/* The first pass: the input, and the parts that follow it. */
static enum hprof_status copy_all_files(struct repair *r, struct input_source from)
{
    bool has_parts = r->asked.part_count > 0;
    enum hprof_status status;

    status = turn_around(r, &from);
    if (status == HPROF_VALID)
        status = find_dump(r, &from);
    if (status == HPROF_VALID && has_parts) {
        if (!parts_cut_overlap(r))
            return repair_failure(r);
        from = source_of_fd(r->to); /* which is shorter */
    }
    if (status == HPROF_VALID)
        status = make_header(r, &from);
    if (status == HPROF_VALID)
        status = repair_follow(r, from);
    if (status != HPROF_VALID)
        return status;
    if (!repair_copy(r))
        return repair_failure(r);
    r->result.bytes_in = r->in.offset;
    if (has_parts && (r->asked.parts_are_sure || r->is_series || !r->heap_dump))
        status = parts_join(r);
    r->result.bytes_in += r->lost;
    if (status == HPROF_VALID && !repair_copy_end(r))
        return repair_failure(r);
    return status;
}

/* The next pass reads the copy. If it has stand-ins to put in, what is there makes room for them. */
static bool copy_again(struct repair *r)
{
    const struct stand_ins *s = &r->stand_ins;

    r->pass++;
    r->base = s->definitions_size + s->subrecords_size + RECORD_HEADER_SIZE * s->dump_count;
    r->stand_ins.next_dump = 0;
    r->is_first_pass = false;
    doubt_leave_out(r);
    sort_numbers(r->offsets, r->offset_count);
    if (r->base) {
        input_close(&r->in);
        if (!copy_shift(r, r->base))
            return false;
    }
    bool is_copied = lseek(r->to, (off_t)r->base, SEEK_SET) >= 0 && repair_open(r, source_of_fd(r->to)) && repair_copy(r) &&
                     repair_copy_end(r);
    doubt_end_pass(r);
    r->has_changed |= r->base > 0;
    r->base = 0;
    stand_ins_clear(r);
    lseek(r->to, 0, SEEK_SET);
    return is_copied;
}

static bool has_stand_ins(const struct repair *r)
{
    return r->stand_ins.definitions_size || r->stand_ins.subrecords_size;
}

/* Whether stand-ins are made for what the copy lacks. *failed if that cannot be found out. */
static bool makes_stand_ins(struct repair *r, bool *failed)
{
    if (!r->may_stand_in || (!r->wants_stand_in && (r->stand_ins.rounds || (!r->result.left_out && !r->result.parts_joined) ||
                                                    !stand_ins_are_missing(r))))
        return false;
    *failed = !repair_open(r, source_of_fd(r->to)) || !stand_ins_make(r);
    r->may_stand_in = has_stand_ins(r);
    return true;
}

static void forget_errors(struct repair *r)
{
    r->offset_count = 0;
    clear_undefined(r);
    missing_clear(r);
    missing_init(r);
    keymap_clear(&r->missing_traces);
    keymap_init(&r->missing_traces, &r->memory, &r->key, sizeof(uint32_t), sizeof(uint64_t));
}

/* Instances have another size than their class says, or a chain of superclasses does not end: the next pass leaves out the classes
 * that are wrong, and nothing else, and puts in stand-ins where sizes say which these are. *failed if that cannot be found out. */
static void leave_out_wrong_classes(struct repair *r, struct check *check, bool *failed)
{
    const size_t before = r->offset_count;
    size_t found;

    r->doubts_found = false;
    *failed = !repair_open(r, source_of_fd(r->to)) || !doubt_find_classes(r);
    if (*failed || !r->doubts_found)
        return;
    found = r->offset_count - before;
    memmove(r->offsets, r->offsets + before, found * sizeof *r->offsets);
    forget_errors(r);
    r->offset_count = found;
    check->leaves_out_first = true;
}

/* Makes passes until the copy is valid or nothing more can be left out. */
static enum hprof_status run_passes(struct repair *r, struct input_source from)
{
    struct check check = {.repair = r};
    enum hprof_status status = copy_all_files(r, from);
    bool is_made, stands_in, finds_more, failed = false;
    int rounds = 0, doubts = 0; /* of lost objects, and of wrong classes */

    if (status != HPROF_VALID)
        return status;
    for (int pass = 1;; pass++) {
        check = (struct check){.repair = r};
        r->wants_stand_in = false;
        status = check_copy(r, &check);
        if (status == HPROF_LIMIT)
            memory_exhaust(&r->memory);
        if (r->memory.exhausted || r->error)
            return repair_failure(r);
        if (r->result.refused_part)
            return HPROF_INVALID;
        if (status != HPROF_VALID && status != HPROF_INVALID)
            return repair_fail(r, status, check.first);
        r->file_count = 0; /* where they end in the copy is known no longer */
        finds_more = r->jumps.list.count && rounds++ < ROUNDS_MOST;
        if (!finds_more && check.has_doubts && !check.leaves_out_first && r->may_stand_in && doubts++ < ROUNDS_MOST)
            leave_out_wrong_classes(r, &check, &failed);
        if (failed)
            return repair_failure(r);
        is_made = !finds_more && !check.leaves_out_first && makes_stand_ins(r, &failed);
        if (failed)
            return repair_failure(r);
        stands_in = is_made && has_stand_ins(r);
        if (status == HPROF_VALID && !check.refused && !check.leaves_out_first && !stands_in && !r->jumps.list.count)
            return status;
        if (finds_more || stands_in)
            forget_errors(r); /* fewer are left once nothing is missing, and the producer is known better */
        if (is_made && !stands_in && !check.errors)
            continue; /* what is missing has no stand-in: it is left out */
        if (pass == PASSES_MAX)
            return repair_fail(r, HPROF_INVALID, check.first);
        r->takes_names = pass == 1 && r->damage.part_count > 0;
        if (!copy_again(r))
            return repair_failure(r);
        if (!r->has_changed)
            return status == HPROF_VALID ? status : repair_fail(r, HPROF_INVALID, check.first);
        r->may_stand_in = !r->asked.no_stand_ins && r->stand_ins.rounds < ROUNDS_MOST; /* what was left out may be missed */
    }
}

static enum hprof_status run(struct repair *r, struct input_source from)
{
    enum hprof_status status;

    r->buffer = memory_get(&r->memory, COPY_BUFFER);
    keymap_init(&r->missing_traces, &r->memory, &r->key, sizeof(uint32_t), sizeof(uint64_t));
    clear_undefined(r);
    jumps_init(&r->jumps, &r->memory);
    misfits_init(r);
    keymap_init(&r->doubted_classes, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&r->stood_in, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    keymap_init(&r->dumped_classes, &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    missing_init(r);
    r->needs_classes = !r->asked.severities || r->asked.severities[RULE_OBJ_002] == HPROF_UNCHANGED ||
                       r->asked.severities[RULE_OBJ_002] == HPROF_ERROR;
    r->may_stand_in = !r->asked.no_stand_ins;
    for (int i = 0; i < LEFT_KINDS; i++)
        keymap_init(&r->left_index[i], &r->memory, &r->key, sizeof(uint64_t), sizeof(uint64_t));
    r->is_first_pass = r->takes_names = true;
    if (!r->buffer || !repair_open(r, from)) {
        status = repair_failure(r);
    } else {
        status = run_passes(r, from);
    }
    if (status == HPROF_VALID)
        repair_report_left(r);
    if (status == HPROF_VALID)
        repair_report_losses(r);
    if (r->stopped)
        status = repair_failure(r);
    input_close(&r->in);
    if (r->has_names)
        names_clear(&r->names);
    for (int i = 0; i < LEFT_KINDS; i++)
        keymap_clear(&r->left_index[i]);
    keymap_clear(&r->missing_traces);
    keymap_clear(&r->undefined_at);
    keymap_clear(&r->twice_at);
    keymap_clear(&r->missing_classes);
    keymap_clear(&r->missing_threads);
    keymap_clear(&r->dumped_classes);
    threads_clear(r);
    keymap_clear(&r->stood_in);
    keymap_clear(&r->doubted_classes);
    misfits_clear(r);
    missing_clear(r);
    damage_clear(r);
    unknown_clear(r);
    stand_ins_clear(r);
    if (r->ends)
        memory_put(&r->memory, r->ends, (r->asked.part_count + 1) * sizeof *r->ends);
    if (r->are_in_file)
        memory_put(&r->memory, r->are_in_file, r->asked.part_count * sizeof *r->are_in_file);
    memory_put(&r->memory, r->left, r->left_capacity * sizeof *r->left);
    jumps_clear(&r->jumps);
    memory_put(&r->memory, r->offsets, r->offset_capacity * sizeof *r->offsets);
    memory_put(&r->memory, r->doubts, r->doubt_capacity * sizeof *r->doubts);
    memory_put(&r->memory, r->buffer, COPY_BUFFER);
    return status;
}

static enum hprof_status refuse(struct hprof_repair_result *result, enum hprof_status status, const char *reason)
{
    struct hprof_repair_result own = {0};

    snprintf(own.failure, sizeof own.failure, "%s", reason);
    give_versioned(result, &own, sizeof own);
    return status;
}

static enum hprof_status repair_input(struct input_source from, const char *unusable, int to, const struct hprof_repair *asked,
                                      struct hprof_repair_result *result)
{
    struct hprof_repair options;
    const char *reason = asked ? take_versioned(&options, sizeof options, asked) : "it is not said what to do";
    struct memory own;
    struct repair *r;
    enum hprof_status status;

    if (!reason)
        reason = unusable;
    if (reason)
        return refuse(result, HPROF_USAGE, reason);
    memory_init(&own, options.allocator, 0);
    r = memory_get_zeroed(&own, sizeof *r);
    if (!r)
        return refuse(result, HPROF_LIMIT, "memory ran out");
    r->asked = options;
    r->to = to;
    r->profile = options.profile;
    r->key = hash_key_draw();
    memory_init(&r->memory, options.allocator, options.max_memory);
    status = run(r, from);
    give_versioned(result, &r->result, sizeof r->result);
    memory_put(&own, r, sizeof *r);
    return status;
}

enum hprof_status hprof_repair_fd(int from, int to, const struct hprof_repair *repair, struct hprof_repair_result *result)
{
    return repair_input(source_of_fd(from), NULL, to, repair, result);
}

enum hprof_status hprof_repair_source(const struct hprof_source *from, int to, const struct hprof_repair *repair,
                                      struct hprof_repair_result *result)
{
    struct input_source source;
    const char *reason = source_of_callbacks(from, &source);

    return repair_input(source, reason, to, repair, result);
}
