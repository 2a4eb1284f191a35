#include "oracle_read.h"

#include "oracle_doubt.h"
#include "oracle_failure.h"
#include "oracle_records.h"
#include "oracle_subrecords.h"

#include <string.h>

/* ---- SPEC.md 5: heap dumps --------------------------------------------------------------------------------------------- */

/* M.2: an empty heap dump record, if it is the last or the last but one. */
static uint64_t empty_heap_dump(const struct oracle *o)
{
    for (size_t i = 0; i < 2; i++) {
        uint64_t at = o->previous_at[i];
        if (at && is_heap_dump_record(u1(o->d, at)) && u4(o->d, at + LENGTH_AT) == 0)
            return at;
    }
    return 0;
}

static void fail_at(struct oracle *o, const struct failure *failure)
{
    uint64_t fault_at;
    struct oracle_finding finding = finding_of_failure(o->d, failure, &fault_at);
    note_failure(o, finding, fault_at);
    if (!failure->subrecord_at && may_be_heap_dump(o->d, failure->record_at))
        o->report->other_failure = strcmp(finding.rule, "REC-003") == 0
                                       ? (struct oracle_finding){"REC-002", failure->record_at + LENGTH_AT}
                                       : (struct oracle_finding){"REC-003", failure->record_at};
    else if (!failure->subrecord_at && o->d->size - failure->record_at > RECORD_HEADER_SIZE &&
             is_subrecord_tag(u1(o->d, failure->record_at + RECORD_HEADER_SIZE)))
        o->report->other_failure = (struct oracle_finding){"REC-002", failure->record_at + LENGTH_AT}; /* out of sight */
    o->report->failed_in_heap = failure->subrecord_at > 0;
    /* A later failure may show that the empty heap dump record is at fault. */
    if (failure->empty_at && failure->empty_at < fault_at) {
        o->report->read_until = failure->empty_at;
        o->report->sound_until = ORACLE_UNKNOWN;
    }
    /* Sub-records may follow the end of a HEAP_DUMP, and belong to it. */
    if (!failure->subrecord_at && o->previous_at[0] && is_heap_dump_record(u1(o->d, o->previous_at[0])) &&
        o->previous_at[0] < o->closed_until)
        o->closed_until = o->previous_at[0];
    /* Recovery may go back to what was read last: a wrong length there may have led to the failure. */
    if (failure->doubtful_from && failure->doubtful_from < o->report->read_until)
        o->report->read_until = failure->doubtful_from;
    uint64_t last = o->previous_at[0];
    bool is_definition = last && !is_heap_dump_record(u1(o->d, last)) && u1(o->d, last) != HEAP_DUMP_END;
    if (is_definition && (!failure->subrecord_at || u1(o->d, last) == UTF8) && last < o->report->read_until) {
        o->report->read_until = last;
        o->report->sound_until = ORACLE_UNKNOWN;
    }
    if (strcmp(finding.rule, "REC-005") == 0) /* M.4: the framing is well-formed up to a later failure */
        o->report->sound_until = ORACLE_UNKNOWN;
}

static void read_subrecords(struct oracle *o, uint64_t record_at, uint64_t end)
{
    uint64_t limit = end > o->d->size ? o->d->size : end; /* the complete sub-records of a truncated record are checked */
    uint64_t at = record_at + RECORD_HEADER_SIZE, previous_at = 0;
    uint64_t last[DOUBTFUL] = {0}, count = 0;
    struct extent e = {0};
    for (; at < limit; previous_at = at, at += e.size) {
        e = extent_of_subrecord(o->d, at, limit);
        if (e.kind != EXTENT_KNOWN || e.size > limit - at)
            break;
        if (may_be_overlong(o, at, e.size, limit)) {
            if (doubt_instance(o, at + e.size, limit)
                    .at) /* reading may fail there, and directly before it OBJ-006 is not reported */
                doubt(o, at);
            note_failure(o, (struct oracle_finding){"OBJ-006", at + 1 + 2 * o->d->id_size + 4}, at);
            o->report->failed_in_heap = true;
            o->report->sound_until = ORACLE_UNKNOWN;
            return;
        }
        doubt_long_instance(o, at);
        doubt_elements(o, at, e.size);
        last[count++ % DOUBTFUL] = at;
        read_subrecord[u1(o->d, at)](o, at + 1);
        o->report->subrecords[u1(o->d, at)]++;
    }
    if (at < end)
        fail_at(o, &(struct failure){.record_at = record_at,
                                     .empty_at = empty_heap_dump(o),
                                     .subrecord_at = at,
                                     .doubtful_from = count < DOUBTFUL ? last[0] : last[count % DOUBTFUL],
                                     .previous = doubt_instance(o, previous_at, limit),
                                     .here = doubt_instance(o, at, limit)});
    if (end > o->d->size && o->report->sound_until > record_at && o->report->sound_until != ORACLE_UNKNOWN)
        o->report->sound_until = record_at;
}

static void report_segments_of_1_0_1(struct oracle *o, uint64_t at)
{
    if (!o->d->segments_allowed && !o->segment_reported)
        report(o, "REC-005", at);
    o->segment_reported = true;
}

static void read_heap_dump_record(struct oracle *o, uint64_t body_at)
{
    uint64_t at = body_at - RECORD_HEADER_SIZE, tag = u1(o->d, at), length = u4(o->d, at + LENGTH_AT);
    if (!o->series_open) {
        o->heap++;
        *(uint64_t *)append(&o->heap_ends, sizeof(uint64_t)) = UINT64_MAX;
    } else if (tag == HEAP_DUMP && o->d->segments_allowed)
        report(o, "REC-006", at);
    if (tag == HEAP_DUMP_SEGMENT) {
        report_segments_of_1_0_1(o, at);
        o->series_open = true;
        o->last_segment_at = at;
    }
    if (length == 0)
        report(o, "REC-010", at);
    read_subrecords(o, at, body_at + length);
}

static void read_heap_dump_end(struct oracle *o, uint64_t body_at)
{
    uint64_t at = body_at - RECORD_HEADER_SIZE;
    report_segments_of_1_0_1(o, at);
    if (!o->series_open && o->d->segments_allowed)
        report(o, "REC-009", at);
    o->series_open = false;
}

/* ---- SPEC.md 3.2: records ---------------------------------------------------------------------------------------------- */

/* Whether the record at `at` can be read. Of a heap dump record only the header must be complete. */
static bool is_framed(const struct oracle *o, uint64_t at)
{
    uint64_t left = o->d->size - at;
    if (left < RECORD_HEADER_SIZE || !is_record_tag(u1(o->d, at)) || is_of_no_version(o->d, at, !o->segment_reported))
        return false;
    if (is_heap_dump_record(u1(o->d, at)))
        return true;
    return u4(o->d, at + LENGTH_AT) <= left - RECORD_HEADER_SIZE && has_right_length(o->d, at);
}

/* Reads the record at `at`. False if nothing after it can be read. */
static bool read_framed_record(struct oracle *o, uint64_t at)
{
    o->report->record_at = at;
    if (o->d->size - at >= RECORD_HEADER_SIZE)
        doubt_long_record(o, at);
    if (!is_framed(o, at)) {
        fail_at(o, &(struct failure){.record_at = at, .empty_at = empty_heap_dump(o), .first_segment = !o->segment_reported});
        return false;
    }
    uint64_t tag = u1(o->d, at), time = u4(o->d, at + 1), length = u4(o->d, at + LENGTH_AT), body_at = at + RECORD_HEADER_SIZE;
    if (time < o->previous_time && o->previous_time - time < 0x80000000) /* 3.3: else it has wrapped */
        report(o, "REC-004", at + 1);
    o->previous_time = time;
    if (is_heap_dump_record(tag))
        read_heap_dump_record(o, body_at);
    else if (tag == HEAP_DUMP_END)
        read_heap_dump_end(o, body_at);
    else
        read_record[tag](o, body_at);
    if (o->failed)
        return false;
    o->report->records[tag]++;
    o->previous_at[1] = o->previous_at[0];
    o->previous_at[0] = at;
    if (!o->series_open) {
        o->closed_until = body_at + length;
        if (o->heap)
            close_heap_dump(o, body_at + length);
    }
    return true;
}

static bool has_only_definitions(const struct oracle *o)
{
    for (size_t tag = 0; tag < 256; tag++)
        if (o->report->records[tag] && tag != UTF8 && tag != LOAD_CLASS && tag != FRAME && tag != TRACE)
            return false;
    return true;
}

static void read_records(struct oracle *o)
{
    uint64_t at = HEADER_SIZE;
    while (at < o->d->size) {
        if (!read_framed_record(o, at))
            return;
        at += RECORD_HEADER_SIZE + u4(o->d, at + LENGTH_AT);
    }
    if (o->series_open && o->d->segments_allowed) {
        report(o, "REC-007", o->last_segment_at);
        o->unclosed_heap = o->heap;
    }
    if (has_only_definitions(o)) /* 5.4 */
        report(o, "REC-016", o->previous_at[0]);
}

/* ---- SPEC.md 3.1: the header ------------------------------------------------------------------------------------------- */

/* Whether the dump begins with `magic` and a NUL, as far as it goes. */
static bool begins_with(const struct dump *d, const char *magic)
{
    size_t size = strlen(magic) + 1;
    return memcmp(d->bytes, magic, d->size < size ? (size_t)d->size : size) == 0;
}

/* Fills the rest of *d, which is that of *o. False if nothing after the header can be trusted. */
static bool read_header(struct oracle *o, struct dump *d)
{
    bool obsolete = begins_with(d, "JAVA PROFILE 1.0");
    d->android = begins_with(d, "JAVA PROFILE 1.0.3");
    d->segments_allowed = begins_with(d, "JAVA PROFILE 1.0.2") || d->android;
    if (!obsolete && !d->segments_allowed && !begins_with(d, "JAVA PROFILE 1.0.1"))
        note_failure(o, (struct oracle_finding){"HDR-001", 0}, 0);
    else if (obsolete && d->size > strlen("JAVA PROFILE 1.0"))
        note_failure(o, (struct oracle_finding){"HDR-002", 0}, 0);
    else if (d->size < HEADER_SIZE)
        note_failure(o, (struct oracle_finding){"HDR-005", 0}, 0);
    else if (u4(d, ID_SIZE_AT) != 4 && u4(d, ID_SIZE_AT) != 8)
        note_failure(o, (struct oracle_finding){"HDR-004", ID_SIZE_AT}, 0);
    if (o->failed)
        return false;

    d->id_size = u4(d, ID_SIZE_AT);
    if (d->android)
        report(o, "HDR-003", 0);
    if (u8(d, TIMESTAMP_AT) == 0)
        report(o, "HDR-006", TIMESTAMP_AT);
    else if (u8(d, TIMESTAMP_AT) >= 4102444800000)
        report(o, "HDR-007", TIMESTAMP_AT);
    return true;
}

void read_dump(struct oracle *o, struct dump *d)
{
    if (read_header(o, d))
        read_records(o);
}
