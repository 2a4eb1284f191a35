/* The records of a dump (SPEC.md 3.2, 3.3, 5): passes each record to its check. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/checker.h"

/* ---- Heap dump records ---- */

static void old_version(struct checker *ck)
{
    if (ck->version == V101 && !ck->framing.segment_reported) {
        ck->framing.segment_reported = true;
        report(ck, RULE_REC_005, ck->record_at, "a record of version 1.0.1", "%s", hprof_record_name(ck->record_tag));
    }
}

/* HEAP_DUMP and HEAP_DUMP_SEGMENT. */
static void walk_heap_dump(struct checker *ck)
{
    bool is_segment = ck->record_tag == TAG_HEAP_DUMP_SEGMENT;
    bool within = !is_segment && ck->dump.open && ck->version != V101;

    if (!ck->dump.open)
        jobs_begin_heap_dump(ck);
    heap_index_add(&ck->heap_index, ck->record_at, is_segment);
    if (is_segment)
        old_version(ck);
    else if (within)
        report(ck, RULE_REC_006, ck->record_at, "HEAP_DUMP_SEGMENT or HEAP_DUMP_END", "HEAP_DUMP");
    if (!ck->dump.open)
        begin_heap_dump(ck);
    if (is_segment) {
        ck->dump.open = true;
        ck->dump.last_segment = ck->record_at;
        ck->dump.last_segment_number = ck->record_number;
    }

    if (!ck->record_length) {
        hold_empty(ck);
        report(ck, RULE_REC_010, ck->record_at, "at least one sub-record", "none");
    } else if (!check_heap_record(ck, ck->record_length)) {
        ck->dump.lost = true;
        report_truncated(ck);
    }
    if (!ck->dump.open)
        end_heap_dump(ck);
}

/* SPEC.md 5.3 HEAP_DUMP_END */
static void check_heap_dump_end(struct checker *ck)
{
    old_version(ck);
    if (ck->record_length)
        wrong_length(ck, RULE_REC_008, "0 bytes", 0);
    if (ck->framing.stopped)
        return;
    if (ck->dump.open) {
        ck->dump.open = false;
        end_heap_dump(ck);
    } else if (ck->version != V101 && !ck->framing.heap_lost && !ck->record_length) {
        report(ck, RULE_REC_009, ck->record_at, "a HEAP_DUMP_SEGMENT before it", "none");
    }
    ck->framing.complete_until = ck->in.offset;
}

/* ---- The other records ---- */

static void note_signs(struct checker *ck, uint32_t time)
{
    if (!ck->signs.first_tag)
        ck->signs.first_tag = ck->record_tag;
    if (time)
        ck->signs.any_time = true;
}

/* SPEC.md 3.3. Times wrap after 71 minutes, so a decrease by half the range or more is a wrap. */
static void check_time(struct checker *ck, uint32_t time)
{
    if (time < ck->framing.last_time && ck->framing.last_time - time < UINT32_C(1) << 31)
        report(ck, RULE_REC_004, ck->record_at + RECORD_TIME_AT, "a time not before that of the record before it",
               "%" PRIu32 " us after %" PRIu32 " us", time, ck->framing.last_time);
    ck->framing.last_time = time;
}

/* Checks a record of fixed length and moves past it. */
#define FIXED_RECORD(NAME, rule, check) \
    do { \
        if (ck->record_length != SIZE_OF(NAME, ck->id_size)) { \
            wrong_length(ck, rule, expected_length(expected, SIZE_OF(NAME, ck->id_size)), SIZE_OF(NAME, ck->id_size)); \
        } else { \
            struct cursor c = window(ck, SIZE_OF(NAME, ck->id_size)); \
            struct NAME r; \
            if (read_##NAME(&c, ck->id_size, &r)) { \
                check; \
                input_advance(&ck->in, SIZE_OF(NAME, ck->id_size)); \
            } else { \
                report_truncated(ck); \
            } \
        } \
    } while (0)

static const char *expected_length(char *to, uint64_t n)
{
    snprintf(to, NAME_SIZE, "%" PRIu64 " bytes", n);
    return to;
}

/* Checks a record whose length follows from the count in its fixed part. */
static void check_counted(struct checker *ck, enum rule rule, bool (*check)(struct checker *ck))
{
    struct sight body = sight_beyond(ck, 0);
    uint64_t least, right = right_length(ck->record_tag, &body, &least);
    char expected[NAME_SIZE];

    if (right == ck->record_length) {
        if (!check(ck))
            report_truncated(ck);
        return;
    }
    wrong_length(ck, rule, expected_length(expected, right == LENGTH_ANY || ck->record_length < least ? least : right), right);
}

/* SPEC.md 4.1 UTF8 */
static void walk_string(struct checker *ck)
{
    uint64_t least = SIZE_OF(UTF8, ck->id_size);

    if (ck->record_length < least)
        wrong_length(ck, RULE_STR_001, least == 8 ? "8 bytes at the least" : "4 bytes at the least", LENGTH_ANY);
    else if (!check_utf8(ck, ck->record_length))
        report_truncated(ck);
}

/* A record whose tag 1.0.1 does not define. Unless it is well-formed in 1.0.2, it may be a record of another tag. */
static bool is_of_no_version(struct checker *ck)
{
    if (ck->version != V101 || ck->framing.segment_reported || !ck->record_length)
        return false;
    return ck->record_tag == TAG_HEAP_DUMP_END ||
           (ck->record_tag == TAG_HEAP_DUMP_SEGMENT && look_at(ck, 1, UINT64_MAX) && !hprof_subrecord_name(get_u1(ck->in.at)));
}

static void walk_record(struct checker *ck)
{
    char expected[NAME_SIZE];
    uint64_t at = ck->in.offset;

    if (is_of_no_version(ck)) {
        ck->framing.lost |= definitions_of_length(ck->record_length, ck->id_size);
        if (skip_body(ck))
            old_version(ck);
        return;
    }
    switch ((enum record_tag)ck->record_tag) {
    case TAG_UTF8:
        walk_string(ck);
        return;
    case TAG_LOAD_CLASS:
        FIXED_RECORD(LOAD_CLASS, RULE_CLS_001, check_load_class(ck, &r, at));
        return;
    case TAG_UNLOAD_CLASS:
        FIXED_RECORD(UNLOAD_CLASS, RULE_CLS_006, check_unload_class(ck, &r, at));
        return;
    case TAG_FRAME:
        FIXED_RECORD(FRAME, RULE_STK_001, check_frame(ck, &r, ck->in.at, at));
        return;
    case TAG_TRACE:
        check_counted(ck, RULE_STK_007, check_trace);
        return;
    case TAG_ALLOC_SITES:
        check_counted(ck, RULE_PRF_001, check_alloc_sites);
        return;
    case TAG_HEAP_SUMMARY:
        FIXED_RECORD(HEAP_SUMMARY, RULE_PRF_006, (void)r);
        return;
    case TAG_START_THREAD:
        FIXED_RECORD(START_THREAD, RULE_THR_001, check_start_thread(ck, &r, at));
        return;
    case TAG_END_THREAD:
        FIXED_RECORD(END_THREAD, RULE_THR_002, check_end_thread(ck, &r, at));
        return;
    case TAG_CPU_SAMPLES:
        check_counted(ck, RULE_PRF_007, check_cpu_samples);
        return;
    case TAG_CONTROL_SETTINGS:
        FIXED_RECORD(CONTROL_SETTINGS, RULE_PRF_009, check_control_settings(ck, &r, at));
        return;
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
        walk_heap_dump(ck);
        return;
    case TAG_HEAP_DUMP_END:
        check_heap_dump_end(ck);
        return;
    }
    hold_unknown(ck);
}

/* Settles a sub-record that crossed the end of its record, if no segment continues it. False if nothing after it can be
 * checked. */
static bool settle_cut_before(struct checker *ck, const uint8_t *header, size_t n)
{
    uint64_t end = ck->cut.record_end;

    if (!ck->cut.active ||
        (ck->cut.record_tag == TAG_HEAP_DUMP_SEGMENT && n >= RECORD_HEADER_SIZE && get_u1(header) == TAG_HEAP_DUMP_SEGMENT))
        return true;
    if (records_follow_here(ck, 1)) {
        settle_crossing(ck, RULE_REC_015);
        return true;
    }
    skip_to_end(ck, end);
    settle_crossing(ck, ck->in.offset - end >= UINT64_C(1) << 32 ? RULE_REC_012 : RULE_REC_015);
    return false;
}

/* The bytes of the record at p that are checked at once: of a heap dump record the header, and if that says that it is
 * empty, the bytes after it. */
static uint64_t unit_size(const uint8_t *p)
{
    uint64_t length = get_u4(p + RECORD_LENGTH_AT);

    if (*p == TAG_HEAP_DUMP || *p == TAG_HEAP_DUMP_SEGMENT)
        return length ? RECORD_HEADER_SIZE : 2 * RECORD_HEADER_SIZE;
    return RECORD_HEADER_SIZE + length;
}

/* After an empty heap dump, a failure within this many records may mean that its length was never filled in. */
enum { UNFILLED_RECORDS = 2 };

/* Reads the header of the next record. Returns how many of its bytes exist. */
static size_t see_header(struct checker *ck, uint8_t header[RECORD_HEADER_SIZE])
{
    const uint8_t *known = jobs_header(ck);
    size_t n = known ? RECORD_HEADER_SIZE : look_at(ck, RECORD_HEADER_SIZE, RECORD_HEADER_SIZE);

    if (n)
        memcpy(header, known ? known : ck->in.at, n);
    return n;
}

static bool is_of_heap_dump(uint8_t tag)
{
    return tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT || tag == TAG_HEAP_DUMP_END;
}

/* False if that was the last one. */
static bool check_record(struct checker *ck)
{
    uint8_t header[RECORD_HEADER_SIZE];
    size_t n = see_header(ck, header);
    uint32_t time;
    bool known;

    show_progress(ck);
    ck->record_at = ck->in.offset;
    if (!begin_unit(ck, n < RECORD_HEADER_SIZE ? n : unit_size(header)) || !settle_cut_before(ck, header, n) || n == 0)
        return false;
    ck->record_tag = get_u1(header);
    if (n < RECORD_HEADER_SIZE) {
        report_truncated_header(ck, n);
        return false;
    }
    ck->record_number = ck->sum.record_counts[ck->record_tag] + 1;
    time = get_u4(header + RECORD_TIME_AT);
    ck->record_length = get_u4(header + RECORD_LENGTH_AT);
    if (ck->dump.open && !is_of_heap_dump(ck->record_tag) && !jobs_bar(ck))
        return false;
    known = hprof_record_name(ck->record_tag) != NULL;
    if (known && !release_unknown(ck))
        return false;
    input_go_on_at(&ck->in, ck->in.offset + RECORD_HEADER_SIZE);
    if (known)
        note_signs(ck, time);
    walk_record(ck);
    if (ck->framing.stopped)
        return false;
    if (known)
        check_time(ck, time);
    ck->sum.record_counts[ck->record_tag]++;
    if (ck->framing.unfilled.number && ck->record_at != ck->framing.unfilled.at &&
        ++ck->framing.unfilled.records == UNFILLED_RECORDS)
        ck->framing.unfilled.number = 0;
    return true;
}

void check_records(struct checker *ck)
{
    do
        while (!ck->framing.stopped && !ck->memory.exhausted && check_record(ck))
            continue;
    while (jobs_roll_back(ck));

    ck->record_number = 0;
    if (ck->in.error || ck->memory.exhausted)
        ck->framing.truncated = true;
    if (ck->framing.truncated)
        ck->framing.lost = MAY_DEFINE_ALL;
    settle_unknown(ck);
    drop_crossing(ck);
    if (ck->dump.open) {
        ck->dump.lost |= end_was_reported(ck);
        if (!ck->framing.truncated && ck->version != V101 && !ck->framing.heap_end_lost &&
            ck->dump.malformed_segment != ck->dump.last_segment) {
            ck->record_tag = TAG_HEAP_DUMP_SEGMENT;
            ck->record_number = ck->dump.last_segment_number;
            report(ck, RULE_REC_007, ck->dump.last_segment, "a HEAP_DUMP_END after it", "the end of the file");
        }
        ck->dump.open = false;
        end_heap_dump(ck);
    }
}
