/* The consequences of a failure of plain reading (SPEC.md 9.2): one finding, where checking resumes, and what skipped bytes
 * may have defined. recovery.c makes the decisions. */
#include <inttypes.h>

#include "engine/checker.h"

/* ---- Jumps ---- */

void note_jump(struct checker *ck, uint64_t from, uint64_t to, bool failed)
{
    struct jump *jump;

    chunks_shrink(&ck->jumps, find_jump(ck, from)); /* an unfilled length is found out late */
    jump = chunks_add(&ck->jumps);
    if (jump)
        *jump = (struct jump){.from = from & NO_JUMP, .failed = failed, .to = to};
}

size_t find_jump(const struct checker *ck, uint64_t from)
{
    size_t low = 0, high = ck->jumps.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (((const struct jump *)chunks_at(&ck->jumps, middle))->from < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct jump jump_at(const struct checker *ck, size_t i)
{
    return i < ck->jumps.count ? *(const struct jump *)chunks_at(&ck->jumps, i) : (struct jump){.from = NO_JUMP};
}

bool failed_at(const struct checker *ck, uint64_t offset)
{
    struct jump jump = jump_at(ck, find_jump(ck, offset));

    return jump.from == offset && jump.failed;
}

/* ---- Skipping ---- */

bool records_follow_here(struct checker *ck, unsigned count)
{
    struct sight s = sight_beyond(ck, 0);

    return records_follow(&s, 0, count);
}

void skip_to_end(struct checker *ck, uint64_t from)
{
    note_jump(ck, from, UINT64_MAX, true);
    ck->framing.stopped = true;
    ck->sum.skipped += input_skip(&ck->in, UINT64_MAX);
    ck->framing.lost = MAY_DEFINE_ALL;
    ck->framing.truncated = true;
}

bool skip_body(struct checker *ck)
{
    uint64_t n = input_skip(&ck->in, ck->record_length);

    ck->sum.skipped += n;
    if (n == ck->record_length)
        return true;
    report_truncated(ck);
    return false;
}

/* ---- What may be missing ---- */

void lose_heap_end(struct checker *ck)
{
    ck->framing.heap_end_lost = ck->dump.end_lost = true;
}

/* Notes that skipped bytes may have held sub-records of this heap dump. */
static void lose_heap(struct checker *ck)
{
    ck->framing.heap_lost = true;
    ck->dump.lost |= ck->dump.open;
    lose_heap_end(ck);
}

/* The present record, whose length is wrong, is about to be skipped: its tag may be wrong instead. */
static void lose_record(struct checker *ck, const struct sight *body, uint64_t right)
{
    uint64_t declared = ck->record_length;

    if (declared > right && declared - right >= RECORD_HEADER_SIZE) { /* it may contain other records */
        ck->framing.lost = MAY_DEFINE_ALL;
        lose_heap(ck);
        return;
    }
    ck->framing.lost |= definitions_of_tag(ck->record_tag) | definitions_of_length(declared, ck->id_size);
    if (!declared)
        lose_heap_end(ck);
    if (declared && subrecords_follow(body, 0, declared)) {
        ck->framing.lost |= MAY_DEFINE_THREADS;
        lose_heap(ck);
    }
}

void settle_unknown(struct checker *ck)
{
    enum profile looks_like;
    const char *producer, *quirk;
    struct severity_choice choice;

    if (!ck->framing.unknown.may_define && !ck->framing.unknown.may_end_heap)
        return;
    choice = choose_severity(ck, &looks_like, &producer);
    if (findings_severity(&choice, RULE_REC_003, SHAPE_ANY, &quirk) != HPROF_ERROR)
        return;
    ck->framing.lost |= ck->framing.unknown.may_define;
    ck->framing.heap_end_lost |= ck->framing.unknown.may_end_heap;
}

/* ---- Records of unknown tag ---- */

/* Whether the declared length of the present record leads to another one, as far as recovery sees. */
static bool record_leads_on(struct checker *ck)
{
    struct sight body = sight_beyond(ck, ck->record_length);

    return ck->record_length <= body.size && records_follow(&body, ck->record_length, 1);
}

void hold_unknown(struct checker *ck)
{
    uint64_t at = ck->record_at;

    /* "JAVA PROFILE" by its first letter and its length: letters 6 to 9. */
    ck->framing.second_header |= ck->record_tag == 'J' && ck->record_length == 0x50524f46;
    if (ck->framing.unfilled.number && !record_leads_on(ck) && was_unfilled(ck))
        return;
    if (!skip_body(ck))
        return;
    if (!ck->framing.unknown.count++)
        ck->framing.unknown.from = at;
    ck->framing.unknown.may_define |= definitions_of_length(ck->record_length, ck->id_size);
    ck->framing.unknown.may_end_heap |= !ck->record_length;
    end_sound_part(ck, at);
    report(ck, RULE_REC_003, at, "the tag of a record", "0x%02x", ck->record_tag);
}

/* Records of unknown tag that lead nowhere are not records: their bytes follow from one wrong length or tag. */
static bool report_lost_framing(struct checker *ck)
{
    uint64_t since = ck->framing.unknown.from;

    if (!ck->framing.unknown.count)
        return false;
    findings_withdraw(&ck->findings, RULE_REC_003, SHAPE_ANY, since, ck->framing.unknown.count);
    ck->framing.unknown.count = 0;
    ck->framing.failed = true;
    if (!end_was_reported(ck))
        report_late(ck, RULE_REC_002, SHAPE_ANY, since + RECORD_LENGTH_AT, "record framing",
                    "a record that other records follow", "a length or tag that no record follows");
    return true;
}

bool release_unknown(struct checker *ck)
{
    if (ck->framing.unknown.count && !records_follow_here(ck, 1)) {
        report_lost_framing(ck);
        skip_to_end(ck, ck->record_at);
        return false;
    }
    ck->framing.unknown.count = 0;
    return true;
}

/* ---- The end came too early ---- */

bool end_was_reported(struct checker *ck)
{
    ck->framing.truncated |= ck->garbage_after;
    return ck->framing.truncated || ck->in.error || ck->memory.exhausted;
}

void report_truncated(struct checker *ck)
{
    if (ck->framing.stopped || was_unfilled(ck))
        return;
    end_sound_part(ck, ck->record_at);
    if (!report_lost_framing(ck) && !end_was_reported(ck))
        report(ck, RULE_REC_002, ck->record_at + RECORD_LENGTH_AT, "a record that ends within the file",
               "a length of %" PRIu64 " bytes, of which %" PRIu64 " are there", ck->record_length,
               ck->in.offset + (uint64_t)(ck->in.end - ck->in.at) - ck->record_at - RECORD_HEADER_SIZE);
    ck->framing.truncated = ck->framing.stopped = true;
}

void report_truncated_header(struct checker *ck, size_t n)
{
    if (ck->framing.stopped || was_unfilled(ck))
        return;
    end_sound_part(ck, ck->record_at);
    if (!report_lost_framing(ck) && !end_was_reported(ck))
        report_late(ck, RULE_REC_001, SHAPE_ANY, ck->record_at, "record header",
                    "a record header of 9 bytes, or the end of the file", "%zu bytes", n);
    ck->framing.truncated = ck->framing.stopped = true;
}

/* ---- A heap dump whose length was not filled in ---- */

void hold_empty(struct checker *ck)
{
    struct sight s = sight_beyond(ck, 0);

    ck->framing.unfilled.number = 0;
    if (subrecord_follows(&s)) {
        ck->framing.unfilled.at = ck->record_at;
        ck->framing.unfilled.number = ck->record_number;
        ck->framing.unfilled.records = 0;
    }
}

bool was_unfilled(struct checker *ck)
{
    uint64_t at = ck->framing.unfilled.at;

    if (!ck->framing.unfilled.number || ck->framing.stopped)
        return false;
    findings_withdraw(&ck->findings, RULE_REC_010, SHAPE_ANY, at, 1);
    ck->framing.unfilled.number = 0;
    end_sound_part(ck, at);
    if (!end_was_reported(ck))
        report_late(ck, RULE_REC_011, SHAPE_ANY, at + RECORD_LENGTH_AT, "heap dump",
                    "the length of the sub-records that follow", "0");
    ck->dump.lost = true;
    skip_to_end(ck, at);
    return true;
}

/* ---- A length that is not the one of the kind or count ---- */

void wrong_length(struct checker *ck, enum rule rule, const char *expected, uint64_t right)
{
    uint64_t at = ck->record_at, declared = ck->record_length;
    struct sight body = sight_beyond(ck, declared > right ? declared : right);
    enum resume resume = resume_after_record(&body, declared, right);

    if ((resume == RESUME_NOWHERE || resume == RESUME_UNSEEN) && was_unfilled(ck))
        return;
    if (resume == RESUME_AT_RIGHT && !begin_unit(ck, right))
        return;
    lose_record(ck, &body, right);
    end_sound_part(ck, at);
    if (resume == RESUME_NOWHERE && body.ended && declared > body.size) {
        skip_body(ck); /* past the end */
        return;
    }
    if (resume == RESUME_AT_RIGHT) {
        note_jump(ck, at, at + RECORD_HEADER_SIZE + right, true);
        ck->sum.skipped += input_skip(&ck->in, right);
    } else if (!skip_body(ck)) {
        return;
    }
    if (resume == RESUME_UNSEEN && !records_follow_here(ck, 1))
        resume = RESUME_NOWHERE;
    if (resume == RESUME_NOWHERE) {
        ck->framing.failed = true;
        report_late(ck, RULE_REC_002, SHAPE_ANY, at + RECORD_LENGTH_AT, "record framing", "a record that other records follow",
                    "a length or tag that no record follows");
        skip_to_end(ck, at);
    } else {
        report(ck, rule, at + RECORD_LENGTH_AT, expected, "%" PRIu64 " bytes", declared);
    }
}
