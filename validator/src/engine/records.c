/* The records of a dump (SPEC.md 3.2, 3.3, 5): passes each record to its check. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/go_to_way.h"

/* ---- Heap dump records ---- */

static void old_version(struct engine *e)
{
    if (e->file.version == V101 && !e->framing.segment_reported) {
        e->framing.segment_reported = true;
        report(&e->ck, RULE_REC_005, e->position.record_at, "a record of version 1.0.1", "%s",
               hprof_record_name(e->position.record_tag));
    }
}

/* Checks the sub-records from here on, and ends the heap dump with them, unless it may go on. */
static void end_heap_record(struct engine *e, bool complete)
{
    e->framing.last_heap = e->position;
    if (!complete) {
        lose_part(e);
        report_truncated(e);
    } else if (e->position.record_tag == TAG_HEAP_DUMP && e->in.offset == stated_heap_end(&e->position)) {
        e->framing.heap_until = e->in.offset;
    }
    if (!e->heap.begun || e->heap.open || (e->resume.pending && e->resume.in_heap))
        return;
    e->heap.is_pending = true;
    /* Recovery may go back to a sub-record that crosses the end. */
    if (!e->framing.stopped && !e->cut.active && heap_dump_has_ended(e) && records_follow_here(e, 1))
        settle_heap_dump(e);
}

/* HEAP_DUMP and HEAP_DUMP_SEGMENT. */
static void check_heap_dump(struct engine *e)
{
    bool is_segment = e->position.record_tag == TAG_HEAP_DUMP_SEGMENT;
    bool within = !is_segment && e->heap.open && e->file.version != V101;

    settle_heap_dump(e);
    if (e->framing.stopped)
        return;
    if (!e->heap.open)
        jobs_begin_heap_dump(e);
    heap_index_add(&e->file.heap_index, e->position.record_at, is_segment);
    if (is_segment)
        old_version(e);
    else if (within)
        report(&e->ck, RULE_REC_006, e->position.record_at, "HEAP_DUMP_SEGMENT or HEAP_DUMP_END", "HEAP_DUMP");
    if (is_segment && !e->heap.open && e->position.record_at == e->framing.heap_until)
        e->framing.before_segments = e->framing.last_heap.record_at;
    if (!e->heap.open)
        begin_heap_dump(e);
    if (is_segment) {
        e->heap.open = true;
        e->heap.last_segment = e->position.record_at;
        e->heap.last_segment_number = e->position.record_number;
    }

    if (!e->position.record_length) {
        hold_empty(e);
        report(&e->ck, RULE_REC_010, e->position.record_at, "at least one sub-record", "none");
        e->position.heap_end = e->in.offset;
        end_heap_record(e, true);
    } else {
        end_heap_record(e, check_heap_record(e, e->position.record_length));
    }
}

/* SPEC.md 5.3 HEAP_DUMP_END */
static void check_heap_dump_end(struct engine *e)
{
    old_version(e);
    if (e->position.record_length)
        wrong_length(e, RULE_REC_008, "0 bytes", 0);
    if (e->framing.stopped || (e->resume.pending && e->resume.in_heap)) /* it goes on */
        return;
    settle_heap_dump(e);
    if (e->heap.open) {
        e->heap.open = false;
        end_heap_dump(e);
    } else if (e->file.version != V101 && !e->file.losses.heap_dump && !e->position.record_length) {
        report(&e->ck, RULE_REC_009, e->position.record_at, "a HEAP_DUMP_SEGMENT before it", "none");
    }
    e->framing.complete_until = e->in.offset;
}

/* ---- The other records ---- */

static void note_signs(struct engine *e)
{
    if (!e->file.signs.first_tag)
        e->file.signs.first_tag = e->position.record_tag;
    if (e->position.record_tag != TAG_LOAD_CLASS && e->position.record_tag != TAG_UTF8 && !e->file.signs.loads_ended) {
        e->file.signs.loads_ended = e->run.sum.record_counts[TAG_LOAD_CLASS] > 0;
        e->file.signs.loads_are_whole = !(e->file.losses.definitions & (MAY_DEFINE_STRINGS | MAY_DEFINE_CLASSES));
    }
}

/* SPEC.md 3.3. Times wrap after 71 minutes, so a decrease by half the range or more is a wrap. */
static void check_time(struct engine *e, uint32_t time)
{
    if (time < e->framing.times[0] && e->framing.times[0] - time < UINT32_C(1) << 31)
        report(&e->ck, RULE_REC_004, e->position.record_at + RECORD_TIME_AT, "a time not before that of the record before it",
               "%" PRIu32 " us after %" PRIu32 " us", time, e->framing.times[0]);
    e->framing.times[1] = e->framing.times[0];
    e->framing.times[0] = time;
    e->framing.is_timed = true;
}

/* Checks a record of fixed length and moves past it. */
#define FIXED_RECORD(NAME, rule, check) \
    do { \
        if (e->position.record_length != SIZE_OF(NAME, e->file.id_size)) { \
            wrong_length(e, rule, expected_length(expected, SIZE_OF(NAME, e->file.id_size)), SIZE_OF(NAME, e->file.id_size)); \
        } else { \
            struct cursor c = window(&e->in, SIZE_OF(NAME, e->file.id_size)); \
            struct NAME r; \
            if (read_##NAME(&c, e->file.id_size, &r)) { \
                check; \
                input_advance(&e->in, SIZE_OF(NAME, e->file.id_size)); \
            } else { \
                report_truncated(e); \
            } \
        } \
    } while (0)

static const char *expected_length(char *to, uint64_t n)
{
    snprintf(to, NAME_SIZE, "%" PRIu64 " bytes", n);
    return to;
}

/* Checks a record whose length follows from the count in its fixed part. */
static void check_counted(struct engine *e, enum rule rule, bool (*check)(struct checker *ck))
{
    struct sight body = sight_beyond(e, 0);
    uint64_t least, right = right_length(e->position.record_tag, &body, &least);
    char expected[NAME_SIZE];

    if (right == e->position.record_length) {
        if (!check(&e->ck))
            report_truncated(e);
        return;
    }
    wrong_length(e, rule, expected_length(expected, right == LENGTH_ANY || e->position.record_length < least ? least : right),
                 right);
}

/* SPEC.md 4.1 UTF8 */
static void check_string(struct engine *e)
{
    uint64_t least = SIZE_OF(UTF8, e->file.id_size);

    if (e->position.record_length < least)
        wrong_length(e, RULE_STR_001, least == 8 ? "8 bytes at the least" : "4 bytes at the least", LENGTH_ANY);
    else if (!leave_too_long(e) && !check_utf8(&e->ck, e->position.record_length))
        report_truncated(e);
}

/* A record whose tag 1.0.1 does not define. Unless it is well-formed in 1.0.2, it may be a record of another tag. */
static bool is_of_no_version(struct engine *e)
{
    if (e->file.version != V101 || e->framing.segment_reported || !e->position.record_length)
        return false;
    return e->position.record_tag == TAG_HEAP_DUMP_END ||
           (e->position.record_tag == TAG_HEAP_DUMP_SEGMENT && look_at(&e->in, 1, UINT64_MAX) && !is_subrecord_tag(*e->in.at));
}

static void check_by_tag(struct engine *e)
{
    char expected[NAME_SIZE];
    uint64_t at = e->in.offset;

    if (is_of_no_version(e)) {
        if (holds_subrecords(e)) {
            old_version(e);
            go_on_from(e, e->position.record_at, e->framing.skipped_before);
            return;
        }
        lose_definitions(e, definitions_of_length(e->position.record_length, e->file.id_size));
        if (skip_body(e))
            old_version(e);
        e->position.record_tag = 0; /* it is counted as one of unknown tag */
        return;
    }
    switch ((enum record_tag)e->position.record_tag) {
    case TAG_UTF8:
        check_string(e);
        return;
    case TAG_LOAD_CLASS:
        FIXED_RECORD(LOAD_CLASS, RULE_CLS_001, check_load_class(&e->ck, &r, at));
        return;
    case TAG_UNLOAD_CLASS:
        FIXED_RECORD(UNLOAD_CLASS, RULE_CLS_006, check_unload_class(&e->ck, &r, at));
        return;
    case TAG_FRAME:
        FIXED_RECORD(FRAME, RULE_STK_001, check_frame(&e->ck, &r, e->in.at, at));
        return;
    case TAG_TRACE:
        check_counted(e, RULE_STK_007, check_trace);
        return;
    case TAG_ALLOC_SITES:
        check_counted(e, RULE_PRF_001, check_alloc_sites);
        return;
    case TAG_HEAP_SUMMARY:
        FIXED_RECORD(HEAP_SUMMARY, RULE_PRF_006, check_heap_summary(&e->ck, &r, at));
        return;
    case TAG_START_THREAD:
        FIXED_RECORD(START_THREAD, RULE_THR_001, check_start_thread(&e->ck, &r, at));
        return;
    case TAG_END_THREAD:
        FIXED_RECORD(END_THREAD, RULE_THR_002, check_end_thread(&e->ck, &r, at));
        return;
    case TAG_CPU_SAMPLES:
        check_counted(e, RULE_PRF_007, check_cpu_samples);
        return;
    case TAG_CONTROL_SETTINGS:
        FIXED_RECORD(CONTROL_SETTINGS, RULE_PRF_009, check_control_settings(&e->ck, &r, at));
        return;
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
        check_heap_dump(e);
        return;
    case TAG_HEAP_DUMP_END:
        check_heap_dump_end(e);
        return;
    }
    hold_unknown(e);
}

static enum frame see_header(struct engine *e, struct walk_item *header)
{
    const uint8_t *known = jobs_header(e);

    if (!known)
        return next_record(&e->in, header);
    *header = walk_header(known);
    return FRAME_RIGHT;
}

/* A sub-record crossed the end of its record, and nothing continues it. Sub-records may begin within it: goes back to it, unless
 * empty segments were read after its record. False if checking goes on here instead. */
static bool go_back_to_crossing(struct engine *e)
{
    struct crossing_subrecord cut = e->cut;
    struct position before = e->position;
    uint64_t back = e->in.offset, skipped = e->run.sum.skipped, end = cut.record_end;

    settle_crossing(e, RULE_REC_015);
    if (back != end)
        return false;
    e->position = e->framing.last_heap;
    e->run.sum.skipped = cut.skipped_before;
    /* What is here may look like a record by chance. */
    if (!records_begin_here(e) && input_go_back(&e->in, cut.at) && subrecords_begin_here(e))
        end = UINT64_MAX;
    if (resume_in_record(e, cut.at, end, true)) {
        if (!e->resume.in_heap || e->position.heap_end != cut.record_end)
            lose_all(e);
        return true;
    }
    e->position = before;
    e->run.sum.skipped = skipped;
    if (e->in.offset < back)
        input_skip(&e->in, back - e->in.offset);
    else
        input_go_back(&e->in, back);
    return false;
}

/* Settles a sub-record that crossed the end of its record, if no segment continues it. False if checking does not go on with the
 * header here. */
static bool settle_cut_before(struct engine *e, const struct walk_item *header)
{
    struct crossing_subrecord cut = e->cut;
    uint64_t end = cut.record_end, last;
    bool is_segment =
        cut.record_tag == TAG_HEAP_DUMP_SEGMENT && header->head == RECORD_HEADER_SIZE && header->tag == TAG_HEAP_DUMP_SEGMENT;

    if (!cut.active || (is_segment && (cut.parts > 1 || !header->length || crossing_goes_on(e, header->length))))
        return true;
    if (is_segment || records_follow_here(e, 1))
        return !go_back_to_crossing(e);
    if (e->in.offset == end && input_can_go_back(&e->in, cut.at))
        go_on_from(e, cut.at, cut.skipped_before);
    else
        go_on_from(e, e->in.offset, e->run.sum.skipped);
    last = input_can_go_anywhere(&e->in) ? input_file_size(&e->in) : e->in.offset; /* reading may go on shortly before it */
    settle_crossing(e, last > end && last - end >= UINT64_C(1) << 32 ? RULE_REC_012 : RULE_REC_015);
    return false;
}

/* The bytes of the record that are checked at once: of a heap dump record the header, and if that says that it is empty, the
 * bytes after it. */
static uint64_t unit_size(const struct walk_item *header)
{
    if (header->head < RECORD_HEADER_SIZE)
        return header->head;
    if (is_heap_dump_record(header->tag))
        return header->length ? RECORD_HEADER_SIZE : 2 * RECORD_HEADER_SIZE;
    return header->size;
}

/* After an empty heap dump, a failure within this many records may mean that its length was never filled in. */
enum { UNFILLED_RECORDS = 2 };

static bool is_of_heap_dump(uint8_t tag)
{
    return is_heap_dump_record(tag) || tag == TAG_HEAP_DUMP_END;
}

/* Goes on with the sub-records of a heap dump record that was left. */
static void resume_heap_record(struct engine *e)
{
    mark(e, true);
    end_heap_record(e, check_subrecords(e));
}

/* Few dumps have such a record, and a checkpoint is larger than all else that a small dump takes. */
static void take_unfilled_checkpoint(struct engine *e)
{
    if (!e->unfilled)
        e->unfilled = memory_get(&e->run.memory, sizeof *e->unfilled);
    if (e->unfilled)
        take_checkpoint(e, e->unfilled);
}

/* False if that was the last one. */
static bool check_record(struct engine *e)
{
    struct walk_item header;
    enum frame frame;
    bool known, in_heap = e->resume.pending && e->resume.in_heap;

    e->resume.pending = false;
    if (in_heap) {
        resume_heap_record(e);
        return !e->framing.stopped;
    }
    show_progress(e);
    frame = see_header(e, &header);
    e->position.record_at = e->in.offset;
    add_mark(&e->records, e->in.offset);
    e->framing.skipped_before = e->run.sum.skipped;
    if (!begin_unit(e, unit_size(&header)))
        return false;
    if (!settle_cut_before(e, &header))
        return e->resume.pending;
    if (header.head == 0)
        return false;
    if (e->heap.is_pending && heap_dump_has_ended(e) && records_follow_here(e, 1))
        settle_heap_dump(e);
    if (e->framing.stopped)
        return false;
    e->position.record_tag = header.tag;
    if (frame == FRAME_TRUNCATED) {
        report_truncated_header(e, (size_t)header.head);
        return e->resume.pending;
    }
    e->position.record_number = e->run.sum.record_counts[e->position.record_tag] + 1;
    e->position.record_length = header.length;
    if ((e->heap.open || e->heap.is_pending) && !is_of_heap_dump(e->position.record_tag)) {
        if (!jobs_bar(e))
            return false;
        e->heap.records_within++;
    }
    known = is_record_tag(e->position.record_tag);
    if (known && !release_unknown(e))
        return e->resume.pending;
    input_go_on_at(&e->in, e->in.offset + header.head);
    e->framing.time = header.time;
    if (known)
        note_signs(e);
    check_by_tag(e);
    if (e->framing.stopped)
        return false;
    if (e->resume.pending && !(is_of_heap_dump(header.tag) && e->heap.begun))
        return true;
    if (known)
        check_time(e, header.time);
    e->file.signs.timed += known && header.time; /* once, even if the heap dump is rolled back */
    e->run.sum.record_counts[e->position.record_tag]++;
    e->framing.last_record = e->position.record_at;
    if (known)
        e->framing.last_definition = is_of_heap_dump(header.tag) ? 0 : e->position.record_at;
    if (e->framing.unfilled.number && e->position.record_at == e->framing.unfilled.at)
        take_unfilled_checkpoint(e);
    else if (e->framing.unfilled.number && ++e->framing.unfilled.records == UNFILLED_RECORDS)
        e->framing.unfilled.number = 0;
    return true;
}

/* SPEC.md 5.4. Skipped bytes may have been any record. */
static void check_only_definitions(struct engine *e)
{
    const uint64_t *counts = e->run.sum.record_counts;

    if (count_besides_definitions(counts) || e->file.losses.definitions || e->framing.stopped)
        return;
    e->position.record_number = e->framing.last_record ? counts[e->position.record_tag] : 0;
    report(&e->ck, RULE_REC_016, e->framing.last_record, "a record other than UTF8, LOAD_CLASS, FRAME and TRACE after it",
           "the end of the file");
}

/* The length of a heap dump record with a malformed sub-record leads beyond the end of the dump: that is the fault. */
static void report_overlong(struct engine *e)
{
    const struct overlong *o = overlong_record(e);

    if (!o || (!e->framing.gave_up && end_was_reported(e)) || e->garbage_after || e->in.error || e->run.memory.exhausted)
        return;
    e->position = o->position;
    end_sound_part(&e->run, o->unfilled ? o->unfilled : o->record_at);
    if (o->rule != RULE_COUNT)
        findings_withdraw(&e->run.findings, o->rule, SHAPE_ANY, o->finding, o->finding + 1, 1);
    if (o->unfilled)
        report_unfilled(e, o->unfilled);
    else
        report(&e->ck, RULE_REC_002, o->record_at + RECORD_LENGTH_AT, "a record that ends within the file",
               "a length of %" PRIu64 " bytes, of which %" PRIu64 " are there", o->position.record_length,
               e->in.offset - o->record_at - RECORD_HEADER_SIZE);
    e->framing.truncated = true;
    e->position.record_number = 0;
}

/* Dumps of old producers have no HEAP_DUMP_END. Their last record ends where the data of the gzip file does. */
static void note_complete_data(struct engine *e)
{
    const uint64_t *counts = e->run.sum.record_counts;
    bool has_heap = counts[TAG_HEAP_DUMP] || counts[TAG_HEAP_DUMP_SEGMENT], lacks_end = e->heap.open && e->file.version != V101;

    if (e->framing.lacks_trailer && !e->framing.stopped && has_heap && !lacks_end)
        e->framing.complete_until = e->in.offset;
}

static void finish_records(struct engine *e)
{
    e->position.record_number = 0;
    if (e->in.error || e->run.memory.exhausted)
        e->framing.truncated = true;
    if (e->framing.truncated)
        lose_definitions(e, MAY_DEFINE_ALL);
    report_overlong(e);
    settle_unknown(e);
    drop_crossing(e);
    settle_heap_dump(e);
    note_complete_data(e);
    check_only_definitions(e);
    if (e->heap.open) {
        if (end_was_reported(e))
            lose_part(e);
        if (!e->framing.truncated && e->file.version != V101 && !e->file.losses.heap_dump_end &&
            e->file.losses.heap.malformed_segment != e->heap.last_segment) {
            e->position.record_tag = TAG_HEAP_DUMP_SEGMENT;
            e->position.record_number = e->heap.last_segment_number;
            report(&e->ck, RULE_REC_007, e->heap.last_segment, "a HEAP_DUMP_END after it", "the end of the file");
            lose(e); /* more segments may have followed */
        }
        e->heap.open = false;
        end_heap_dump(e);
    }
}

void check_records(struct engine *e)
{
    bool again;

    do {
        while (!e->framing.stopped && !e->run.memory.exhausted && check_record(e))
            continue;
        again = jobs_roll_back(e);
        if (!again) {
            finish_records(e);
            again = jobs_roll_back(e);
        }
    } while (again);
}
