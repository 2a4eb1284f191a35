/* The consequences of a failure of plain reading (RULES.md M.2): one finding, where checking resumes, and what skipped bytes
 * may have defined. recovery.c makes the decisions. */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/doubled.h"

/* ---- Skipping ---- */

bool records_follow_here(struct engine *e, unsigned count)
{
    struct sight s = sight_beyond(e, 0);

    return records_follow(&s, 0, count);
}

void skip_to_end(struct engine *e, uint64_t from)
{
    settle_heap_dump(e);
    jumps_note(&e->file.jumps, from, UINT64_MAX, UINT64_MAX, true);
    e->framing.stopped = true;
    input_skip(&e->in, UINT64_MAX);
    if (e->in.offset > from)
        e->run.sum.skipped += e->in.offset - from;
    lose_definitions(e, MAY_DEFINE_ALL);
    e->framing.gave_up = !e->framing.truncated;
    e->framing.truncated = true;
}

void go_on_from(struct engine *e, uint64_t from, uint64_t skipped_before)
{
    e->run.sum.skipped = skipped_before;
    if (!resume_anywhere(e, from))
        skip_to_end(e, from);
}

bool skip_body(struct engine *e)
{
    uint64_t n = input_skip(&e->in, e->position.record_length);

    e->run.sum.skipped += n;
    if (n == e->position.record_length)
        return true;
    report_truncated(e);
    return false;
}

enum { DOUBTED = 256 /* bytes: few records other than segments are as long */ };

/* Whether other items begin within the present record, were it of this length: then that is too long, even if it leads to a record,
 * as one length in thirty does by chance. The input stays where it is: what is doubted must stay within reach. */
static bool has_items_within(struct engine *e, uint64_t length)
{
    uint64_t here = e->in.offset, until;
    struct sight s;
    struct search search;
    struct way way;

    if (here < e->framing.searched_until)
        return false;
    s = length < e->run.sizes.sight ? sight_beyond(e, length) : look_far(e);
    until = length < s.size ? length : s.size;
    search = search_in(e, &s, UINT64_MAX);
    way = find_way(&search, 0, until < WAY_STEP ? until : WAY_STEP);
    e->framing.searched_until = here + way.at; /* time is linear */
    return way.kind != WAY_NONE;
}

/* The length or tag of the present record is wrong: it is passed where the way is found. */
static void leave_record(struct engine *e)
{
    uint64_t at = e->position.record_at;

    e->framing.failed = true;
    look_for_zeros(e, 0);
    report_late(&e->ck, RULE_REC_002, SHAPE_ANY, at + RECORD_LENGTH_AT, "record framing", "a record that other records follow",
                "one that breaks here: its length or tag is wrong");
    go_on_from(e, at, e->framing.skipped_before);
}

/* Whether the present record, a string, is none: it is not UTF-8, has zero bytes, as each record, and other items begin within it.
 * Where it leads to no record, that is found there. */
static bool is_no_string(struct engine *e)
{
    uint64_t length = e->position.record_length;
    size_t first = e->file.id_size, wanted = length < e->run.sizes.sight ? (size_t)length : e->run.sizes.sight;
    struct sight body = sight_of(e, wanted);

    if (may_be_text(&body, first, wanted) || utf8_valid(body.at + first, body.size - first) == body.size - first)
        return false;
    body = sight_beyond(e, length);
    return records_follow(&body, length, 1) && has_items_within(e, length);
}

bool leave_too_long(struct engine *e)
{
    if (!(e->position.record_length >= DOUBTED && holds_subrecords(e)) && !is_no_string(e))
        return false;
    end_sound_part(&e->run, e->position.record_at);
    leave_record(e);
    return true;
}

/* ---- Records of unknown tag ---- */

/* Whether the declared length of the present record leads to another one, as far as recovery sees. */
static bool record_leads_on(struct engine *e)
{
    struct sight body = sight_beyond(e, e->position.record_length);

    return e->position.record_length <= body.size && records_follow(&body, e->position.record_length, 1);
}

/* Records of unknown tag that lead nowhere are not records: their bytes follow from one wrong length or tag. */
static bool report_lost_framing(struct engine *e)
{
    uint64_t since = e->framing.unknown.from;

    if (!e->framing.unknown.count)
        return false;
    if (jobs_begin_again(e))
        return true;
    findings_withdraw(&e->run.findings, RULE_REC_003, SHAPE_ANY, since, UINT64_MAX, e->framing.unknown.count);
    e->framing.unknown.count = 0;
    e->framing.failed = true;
    if (!end_was_reported(e))
        report_late(&e->ck, RULE_REC_002, SHAPE_ANY, since + RECORD_LENGTH_AT, "record framing",
                    "a record that other records follow", "one that breaks here: its length or tag is wrong");
    return true;
}

static void lead_nowhere(struct engine *e)
{
    uint64_t since = e->framing.unknown.from;

    report_lost_framing(e);
    go_on_from(e, since, e->framing.unknown.skipped_before);
}

/* A record of unknown tag holds sub-records: it is a heap dump record, and they are read. Where others of unknown tag precede it,
 * it was reached by a wrong length. */
static bool was_heap_dump(struct engine *e)
{
    uint64_t at = e->position.record_at;

    if (!holds_subrecords(e))
        return false;
    if (e->framing.unknown.count) {
        lead_nowhere(e);
        return true;
    }
    end_sound_part(&e->run, at);
    report(&e->ck, RULE_REC_003, at, "the tag of a record", "0x%02x", e->position.record_tag);
    go_on_from(e, at, e->run.sum.skipped);
    return true;
}

/* Zeros are no records: an empty one of tag 0 leads on only if a record follows. */
static bool are_zeros(struct engine *e)
{
    return !e->position.record_tag && !e->position.record_length && !record_leads_on(e);
}

/* The present record, at an offset, is the first that may be none. */
static void note_unproven(const struct engine *e, struct unproven *u, uint64_t at)
{
    *u = (struct unproven){.from = at, .count = 1, .skipped_before = e->framing.skipped_before};
    memcpy(u->times, e->framing.times, sizeof u->times);
    u->is_timed = e->framing.is_timed;
}

void hold_unknown(struct engine *e)
{
    uint64_t at = e->position.record_at;
    bool is_record, is_too_long;

    /* "JAVA PROFILE" by its first letter and its length: letters 6 to 9. */
    if (e->position.record_tag == 'J' && e->position.record_length == 0x50524f46)
        e->framing.second_header = e->position.record_at;
    if (e->framing.unfilled.number && !record_leads_on(e) && was_unfilled(e))
        return;
    if (!e->position.record_tag)
        look_for_zeros(e, 0);
    is_record = !are_zeros(e);
    if (was_heap_dump(e))
        return;
    is_too_long = has_items_within(e, e->position.record_length);
    if (!is_too_long && !skip_body(e))
        return;
    if (!e->framing.unknown.count)
        note_unproven(e, &e->framing.unknown, at);
    else
        e->framing.unknown.count++;
    lose_unknown(e);
    end_sound_part(&e->run, at);
    report(&e->ck, RULE_REC_003, at, "the tag of a record", "0x%02x", e->position.record_tag);
    if (!is_record || is_too_long)
        lead_nowhere(e);
}

/* Those of unknown tag that are held, and the known one here, may be none, unless it begins a chain of records. A string that is
 * longer than real ones begins none. */
static void doubt_records(struct engine *e)
{
    struct framing *f = &e->framing;
    bool is_long = e->position.record_tag == TAG_UTF8 && e->position.record_length >= LONGEST_STRING;

    if (!f->unknown.count && !f->doubted.count && !is_long)
        return;
    if (records_begin_here(e)) {
        f->doubted.count = 0;
    } else if (!f->doubted.count) {
        f->doubted = f->unknown;
        if (!f->unknown.count)
            note_unproven(e, &f->doubted, e->position.record_at);
    }
}

bool release_unknown(struct engine *e)
{
    if (e->framing.unknown.count && !records_follow_here(e, 1)) {
        lead_nowhere(e);
        return false;
    }
    doubt_records(e);
    e->framing.unknown.count = 0;
    return true;
}

/* ---- The end came too early ---- */

bool end_was_reported(struct engine *e)
{
    e->framing.truncated |= e->garbage_after;
    return e->framing.truncated || e->in.error || e->run.memory.exhausted;
}

/* The sub-records that are being read follow a failure, and belong to no record by its length. */
static bool is_beyond_record(const struct engine *e)
{
    return is_heap_dump_record(e->position.record_tag) && e->position.heap_end == UINT64_MAX;
}

const struct overlong *overlong_record(const struct engine *e)
{
    for (unsigned i = 0; i < e->framing.overlong_count; i++)
        if (e->framing.overlong[i].end > e->in.offset)
            return &e->framing.overlong[i];
    return NULL;
}

void report_truncated(struct engine *e)
{
    bool was_known = !e->framing.unknown.count;
    uint64_t from = was_known ? e->position.record_at : e->framing.unknown.from, skipped = e->run.sum.skipped;

    if (e->framing.stopped || was_unfilled(e))
        return;
    if (!is_beyond_record(e))
        end_sound_part(&e->run, e->position.record_at);
    if (is_heap_dump_record(e->position.record_tag) && !e->framing.within_subrecord)
        note_gap(e, e->position.record_at, stated_heap_end(&e->position));
    if ((overlong_record(e) || is_beyond_record(e)) && !end_was_reported(e))
        e->framing.gave_up = true; /* report_overlong() says it, or an earlier finding */
    else if (!report_lost_framing(e) && !end_was_reported(e))
        report(&e->ck, RULE_REC_002, e->position.record_at + RECORD_LENGTH_AT, "a record that ends within the file",
               "one that ends %" PRIu64 " bytes after the end of the file",
               e->position.record_at + RECORD_HEADER_SIZE + e->position.record_length - e->in.offset -
                   (uint64_t)(e->in.end - e->in.at));
    e->run.sum.skipped = was_known ? e->framing.skipped_before : e->framing.unknown.skipped_before;
    if (e->framing.last_heap.record_at != e->position.record_at && resume_anywhere(e, from)) /* no sub-records were read */
        return;
    e->run.sum.skipped = skipped;
    e->framing.truncated = e->framing.stopped = true;
}

void report_truncated_header(struct engine *e, size_t n)
{
    if (e->framing.stopped || was_unfilled(e))
        return;
    end_sound_part(&e->run, e->position.record_at);
    if (overlong_record(e) && !end_was_reported(e))
        e->framing.gave_up = true;
    else if (!report_lost_framing(e) && !end_was_reported(e))
        report_late(&e->ck, RULE_REC_001, SHAPE_ANY, e->position.record_at, "record header",
                    "a record header of 9 bytes, or the end of the file", "%zu bytes", n);
    if (e->phantoms.end == e->position.record_at && resume_anywhere(e, e->position.record_at))
        return;
    e->framing.truncated = e->framing.stopped = true;
}

/* ---- A heap dump whose length was not filled in ---- */

void hold_empty(struct engine *e)
{
    struct sight s = sight_beyond(e, 0);

    e->framing.unfilled.number = 0;
    if (subrecord_follows(&s)) {
        e->framing.unfilled.at = e->position.record_at;
        e->framing.unfilled.number = e->position.record_number;
        e->framing.unfilled.records = 0;
    }
}

static void withdraw_empty(struct engine *e, uint64_t at)
{
    findings_withdraw(&e->run.findings, RULE_REC_010, SHAPE_ANY, at, at + 1, 1);
}

void report_unfilled(struct engine *e, uint64_t at)
{
    withdraw_empty(e, at);
    report_late(&e->ck, RULE_REC_011, SHAPE_ANY, at + RECORD_LENGTH_AT, "heap dump",
                "the length of the sub-records that follow", "0");
}

bool was_unfilled(struct engine *e)
{
    uint64_t at = e->framing.unfilled.at, skipped = e->framing.skipped_before;
    uint64_t failed_at = e->position.record_at;
    bool is_back;

    if (e->framing.unknown.count) {
        failed_at = e->framing.unknown.from;
        skipped = e->framing.unknown.skipped_before;
    }
    if (!e->framing.unfilled.number || e->framing.stopped)
        return false;
    if (jobs_begin_again(e)) /* what is withdrawn does not come back */
        return true;
    is_back = resume_unfilled(e, failed_at);
    if (e->framing.unknown.count) { /* they led nowhere */
        findings_withdraw(&e->run.findings, RULE_REC_003, SHAPE_ANY, failed_at, UINT64_MAX, e->framing.unknown.count);
        findings_end(&e->run.findings);
        e->framing.unknown.count = 0;
    }
    e->framing.unfilled.number = 0;
    end_sound_part(&e->run, at);
    if (end_was_reported(e))
        withdraw_empty(e, at);
    else
        report_unfilled(e, at);
    findings_end(&e->run.findings);
    lose_part(e);
    if (!is_back && is_heap_dump_record(e->position.record_tag) && e->in.offset > failed_at + RECORD_HEADER_SIZE)
        go_on_from(e, e->in.offset, e->run.sum.skipped); /* its sub-records were read */
    else if (!is_back)
        go_on_from(e, failed_at, skipped);
    return true;
}

/* ---- A length that is not the one of the kind or count ---- */

void wrong_length(struct engine *e, enum rule rule, const char *expected, uint64_t right)
{
    uint64_t at = e->position.record_at, declared = e->position.record_length;
    bool is_anew = begins_anew_before(e, at);
    struct sight body = sight_beyond(e, declared > right ? declared : right);
    enum resume resume = resume_after_record(&body, declared, right);
    uint64_t length = resume == RESUME_AT_RIGHT ? right : declared;

    if ((resume == RESUME_NOWHERE || resume == RESUME_UNSEEN) && was_unfilled(e))
        return;
    if (resume == RESUME_AT_RIGHT && !begin_unit(e, right))
        return;
    lose_record(e, &body, right);
    end_sound_part(&e->run, at);
    if (is_anew) {
        leave_record(e);
        return;
    }
    if (resume == RESUME_NOWHERE && body.ended && declared > body.size) {
        skip_body(e); /* past the end */
        return;
    }
    if (resume == RESUME_AT_DECLARED && holds_subrecords(e)) { /* it is a heap dump record, of which the tag is damaged */
        report(&e->ck, rule, at + RECORD_LENGTH_AT, expected, "%" PRIu64 " bytes", declared);
        go_on_from(e, at, e->framing.skipped_before);
        return;
    }
    if ((resume == RESUME_UNSEEN && holds_subrecords(e)) ||
        (resume != RESUME_NOWHERE && length >= DOUBTED && has_items_within(e, length))) {
        resume = RESUME_NOWHERE;
    } else if (resume == RESUME_AT_RIGHT) {
        jumps_note(&e->file.jumps, at, at + RECORD_HEADER_SIZE + right, 0, true);
        e->run.sum.skipped += input_skip(&e->in, right);
    } else if (!skip_body(e)) {
        return;
    }
    if (resume == RESUME_UNSEEN && !records_follow_here(e, 1))
        resume = RESUME_NOWHERE;
    if (resume == RESUME_NOWHERE) {
        leave_record(e);
    } else {
        report(&e->ck, rule, at + RECORD_LENGTH_AT, expected, "%" PRIu64 " bytes", declared);
    }
}
