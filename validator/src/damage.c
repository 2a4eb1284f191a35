/* What a fault of the framing means for the rest (SPEC.md 9.2): where judging goes on, what may have been lost with the skipped
 * bytes, and what is told of it: one finding, at the first fault. */
#include <inttypes.h>

#include "checker.h"
#include "subrecord.h"

/* ---- Where the framing was lost ---- */

/* A string that is no UTF-8, and behind it no record: its length is wrong, and what it is made of says nothing. */
static void retract_string(struct checker *ck)
{
    if (ck->doubtful_string) {
        unsound(ck, ck->doubtful_record);
        diag_retract(&ck->diag, RULE_STR_005, SHAPE_ANY, ck->doubtful_string, 1);
        ck->doubtful_string = 0;
    }
}

/* Records of unknown tag that lead to no sound record or end are no records: something in front went wrong, and the end of the
 * file within the last of them is all that is told. */
static void retract_strange(struct checker *ck)
{
    if (ck->strange) {
        unsound(ck, ck->strange_from);
        diag_retract(&ck->diag, RULE_REC_003, SHAPE_ANY, ck->strange_from, ck->strange);
        ck->strange = 0;
    }
}

/* Records of unknown tag, or a string that is no UTF-8, lead up to here, where no record is: the framing was lost with the first of
 * them, and that is where it is told. */
static uint64_t lost_since(struct checker *ck)
{
    uint64_t since = ck->record_at;

    if (ck->doubtful_record && ck->doubtful_record < since)
        since = ck->doubtful_record;
    if (ck->strange && ck->strange_from < since)
        since = ck->strange_from;
    return since;
}

/* The framing was lost with the record at an offset: that is told, and nothing of what follows from it. */
static void tell_lost(struct checker *ck, uint64_t since)
{
    retract_strange(ck);
    retract_string(ck);
    ck->doubtful_record = 0;
    unsound(ck, since);
    ck->framing_lost = true;
    if (!ck->truncated && !ck->in.error && !ck->memory.exhausted)
        report_late(ck, RULE_REC_002, SHAPE_ANY, since + RECORD_LENGTH_AT, "record framing", "a record, and others behind it",
                    "a length or tag from which no sound record follows");
}

bool tell_where_lost(struct checker *ck)
{
    uint64_t since = lost_since(ck);

    if (since < ck->record_at)
        tell_lost(ck, since);
    return since < ck->record_at;
}

bool end_was_told(struct checker *ck)
{
    ck->truncated |= ck->garbage_behind;
    return ck->truncated || ck->in.error || ck->memory.exhausted;
}

void tell_truncated(struct checker *ck)
{
    unsound(ck, ck->record_at);
    if (!tell_where_lost(ck) && !end_was_told(ck))
        report(ck, RULE_REC_002, ck->record_at + RECORD_LENGTH_AT, "a record that ends within the file",
               "a length of %" PRIu64 " bytes, of which %" PRIu64 " are there", ck->record_length,
               ck->in.offset + (uint64_t)(ck->in.end - ck->in.at) - ck->record_at - RECORD_HEADER_SIZE);
    ck->truncated = ck->stopped = true;
}

void tell_truncated_header(struct checker *ck, size_t n)
{
    unsound(ck, ck->record_at);
    if (!tell_where_lost(ck) && !end_was_told(ck))
        report_late(ck, RULE_REC_001, SHAPE_ANY, ck->record_at, "record header",
                    "a record header of 9 bytes, or the end of the file", "%zu bytes", n);
    ck->truncated = ck->stopped = true;
}

bool skip_body(struct checker *ck)
{
    uint64_t n = input_skip(&ck->in, ck->record_length);

    ck->sum.skipped += n;
    if (n == ck->record_length)
        return true;
    tell_truncated(ck);
    return false;
}

void settle_doubts(struct checker *ck)
{
    if (leads_on(ck, 0) >= (ck->strange ? LEADS_TO_TWO : LEADS_TO_RECORD))
        ck->strange = ck->doubtful_string = ck->doubtful_record = 0;
    else if (!hprof_record_name(ck->record_tag))
        retract_string(ck);
}

/* ---- What is skipped ---- */

uint64_t skip_to_end(struct checker *ck)
{
    uint64_t n = input_skip(&ck->in, UINT64_MAX);

    ck->sum.skipped += n;
    ck->lost = LOST_ALL;
    ck->truncated = ck->stopped = true;
    return n;
}

void lose_heap_end(struct checker *ck)
{
    ck->heap_end_lost = ck->dump.end_lost = true;
}

void lose_record(struct checker *ck, uint64_t length)
{
    unsigned id = ck->id_size;
    size_t n = look_at(ck, LOOK_SIZE, length);

    if (length >= SIZE_OF(UTF8, id))
        ck->lost |= LOST_STRINGS;
    if (length == SIZE_OF(LOAD_CLASS, id))
        ck->lost |= LOST_CLASSES;
    if (length == SIZE_OF(FRAME, id))
        ck->lost |= LOST_FRAMES;
    if (length >= SIZE_OF(TRACE, id) && (length - SIZE_OF(TRACE, id)) % id == 0)
        ck->lost |= LOST_TRACES;
    if (length == SIZE_OF(START_THREAD, id) || length == SIZE_OF(END_THREAD, id))
        ck->lost |= LOST_THREADS;
    if (!length)
        lose_heap_end(ck);
    if (length && plausible_subrecords(ck->in.at, n, length, id, ck->version)) {
        ck->lost |= LOST_THREADS;
        ck->heap_lost = true;
        lose_heap_end(ck);
        ck->dump.lost |= ck->dump.open;
    }
}

/* What a record of this tag defines. */
static void lose_what_it_defines(struct checker *ck, unsigned tag)
{
    switch (tag) {
    case TAG_UTF8:
        ck->lost |= LOST_STRINGS;
        break;
    case TAG_LOAD_CLASS:
        ck->lost |= LOST_CLASSES;
        break;
    case TAG_FRAME:
        ck->lost |= LOST_FRAMES;
        break;
    case TAG_TRACE:
        ck->lost |= LOST_TRACES;
        break;
    case TAG_START_THREAD:
    case TAG_END_THREAD:
        ck->lost |= LOST_THREADS;
        break;
    default:
        break;
    }
}

/* A record whose length is not what it must be: its body is not judged, and what it may have held is not missed: by its tag, or,
 * if that is what is wrong, by its length. A length beyond the end of the file is that fault and not this one, unless the right
 * length leads on. Where no length does, the framing is lost, and so it was behind what was odd already. */
void wrong_length(struct checker *ck, enum rule rule, const char *expected)
{
    uint64_t length = body_length(ck, ck->record_tag, ck->record_length);
    uint64_t right = right_length(ck, ck->record_tag);
    bool lost = leads_on(ck, length) < LEADS_TO_RECORD;

    if (length > right && length - right >= RECORD_HEADER_SIZE) { /* other records may be in it */
        ck->lost = LOST_ALL;
        ck->heap_lost = true;
        ck->dump.lost |= ck->dump.open;
        lose_heap_end(ck);
    } else {
        lose_what_it_defines(ck, ck->record_tag);
        lose_record(ck, ck->record_length);
    }
    if (length == ck->record_length && !skip_body(ck))
        return;
    if (length != ck->record_length)
        ck->sum.skipped += input_skip(&ck->in, length);
    unsound(ck, ck->record_at);
    if (lost)
        tell_lost(ck, lost_since(ck));
    else if (!tell_where_lost(ck))
        report(ck, rule, ck->record_at + RECORD_LENGTH_AT, expected, "%" PRIu64 " bytes", ck->record_length);
    if (lost)
        skip_to_end(ck);
}
