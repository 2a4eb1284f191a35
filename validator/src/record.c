/* The records of a dump (SPEC.md 3.2, 3.3, 5): their framing, and to whom each is handed. */
#include <inttypes.h>
#include <stdio.h>

#include "checker.h"
#include "subrecord.h"

/* ---- What may be a record ---- */

/* The least length of a record's body, and whether it is the only one. */
static uint64_t least_length(const struct checker *ck, unsigned tag, bool *exact)
{
    unsigned id = ck->id_size;

    *exact = true;
    switch (tag) {
    case TAG_LOAD_CLASS:
        return SIZE_OF(LOAD_CLASS, id);
    case TAG_UNLOAD_CLASS:
        return SIZE_OF(UNLOAD_CLASS, id);
    case TAG_FRAME:
        return SIZE_OF(FRAME, id);
    case TAG_HEAP_SUMMARY:
        return SIZE_OF(HEAP_SUMMARY, id);
    case TAG_START_THREAD:
        return SIZE_OF(START_THREAD, id);
    case TAG_END_THREAD:
        return SIZE_OF(END_THREAD, id);
    case TAG_CONTROL_SETTINGS:
        return SIZE_OF(CONTROL_SETTINGS, id);
    case TAG_HEAP_DUMP_END:
        return 0;
    default:
        break;
    }
    *exact = false;
    switch (tag) {
    case TAG_UTF8:
        return SIZE_OF(UTF8, id);
    case TAG_TRACE:
        return SIZE_OF(TRACE, id);
    case TAG_ALLOC_SITES:
        return SIZE_OF(ALLOC_SITES, id);
    case TAG_CPU_SAMPLES:
        return SIZE_OF(CPU_SAMPLES, id);
    default:
        return 0;
    }
}

/* Whether a record header at p, of which n bytes are there, may be one: a known tag, a length that fits it. */
static bool plausible_record(const struct checker *ck, const uint8_t *p, size_t n)
{
    uint64_t length, least;
    bool exact;

    if (n < RECORD_HEADER_SIZE || !hprof_record_name(*p))
        return false;
    length = get_u4(p + RECORD_LENGTH_AT);
    least = least_length(ck, *p, &exact);
    return exact ? length == least : length >= least;
}

/* How many records, up to `enough`, stand one after the other in the n bytes at p, as far as they can be seen. */
static unsigned count_plausible_records(const struct checker *ck, const uint8_t *p, size_t n, bool ended, unsigned enough)
{
    unsigned seen = 0;

    while (seen < enough) {
        uint64_t size;

        if (!n && ended)
            return enough;
        if (!plausible_record(ck, p, n))
            break;
        seen++;
        size = RECORD_HEADER_SIZE + (uint64_t)get_u4(p + RECORD_LENGTH_AT);
        if (size > n)
            break;
        p += size;
        n -= (size_t)size;
    }
    return seen;
}

bool empty_is_plausible(struct checker *ck)
{
    size_t n = look_at(ck, LOOK_SIZE, UINT64_MAX);
    unsigned records = count_plausible_records(ck, ck->in.at, n, n < LOOK_SIZE, 2);

    return records >= 2 || (records == 1 && !plausible_subrecords(ck->in.at, n, UINT64_MAX, ck->id_size, ck->version));
}

/* ---- Faults of the framing ---- */

/* A string that is no UTF-8, and behind it no record: its length is wrong, and what it is made of says nothing. */
static void retract_string(struct checker *ck)
{
    if (ck->doubtful_string) {
        unsound(ck, ck->doubtful_record);
        diag_retract(&ck->diag, RULE_STR_005, ck->doubtful_string, 1);
        ck->doubtful_string = 0;
    }
}

/* Records of unknown tag that lead to no sound record or end are no records: something in front went wrong, and the end of the
 * file within the last of them is all that is told. */
static void retract_strange(struct checker *ck)
{
    if (ck->strange) {
        unsound(ck, ck->strange_from);
        diag_retract(&ck->diag, RULE_REC_003, ck->strange_from, ck->strange);
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

/* Whether it was lost in front of here. */
static bool tell_where_lost(struct checker *ck)
{
    uint64_t since = lost_since(ck);

    if (since < ck->record_at)
        tell_lost(ck, since);
    return since < ck->record_at;
}

/* What follows is no gzip member, and the dump is not complete: that is one fault, and told. */
static bool end_was_told(struct checker *ck)
{
    ck->truncated |= ck->garbage_behind;
    return ck->truncated || ck->in.error || ck->memory.exhausted;
}

/* The dump ends within a record. What follows from that is not told again. */
static void truncated(struct checker *ck)
{
    unsound(ck, ck->record_at);
    if (!tell_where_lost(ck) && !end_was_told(ck))
        report(ck, RULE_REC_002, ck->record_at + RECORD_LENGTH_AT, "a record that ends within the file",
               "a length of %" PRIu64 " bytes, of which %" PRIu64 " are there", ck->record_length,
               ck->in.offset + (uint64_t)(ck->in.end - ck->in.at) - ck->record_at - RECORD_HEADER_SIZE);
    ck->truncated = ck->stopped = true;
}

/* The dump ends within the header of a record, of which n bytes are there. */
static void truncated_header(struct checker *ck, size_t n)
{
    unsound(ck, ck->record_at);
    if (!tell_where_lost(ck) && !end_was_told(ck))
        report_late(ck, RULE_REC_001, SHAPE_ANY, ck->record_at, "record header",
                    "a record header of 9 bytes, or the end of the file", "%zu bytes", n);
    ck->truncated = ck->stopped = true;
}

/* Goes behind the body of a record that is not judged. False if the dump ends before. */
static bool skip_body(struct checker *ck)
{
    uint64_t n = input_skip(&ck->in, ck->record_length);

    if (n == ck->record_length) {
        ck->sum.skipped += n;
        return true;
    }
    truncated(ck);
    return false;
}

/* How well judging can go on `length` bytes on: 2 for each record that stands there, 1 for the header of one that the dump ends
 * within. BEST where that is the end of the dump, or as far as can be seen. */
enum { BEST = 16 };
static unsigned leads_on(struct checker *ck, uint64_t length)
{
    size_t n = look_at(ck, LOOK_SIZE, UINT64_MAX);
    const uint8_t *p = ck->in.at + (length < n ? length : n);
    bool ended = n < LOOK_SIZE;
    unsigned seen = 0;

    if (length > n)
        return ended ? 0 : BEST;
    for (n -= (size_t)length; seen < BEST; seen += 2) {
        uint64_t size;

        if (n < RECORD_HEADER_SIZE && (!ended || !n))
            return BEST;
        if (!plausible_record(ck, p, n))
            return seen;
        size = RECORD_HEADER_SIZE + (uint64_t)get_u4(p + RECORD_LENGTH_AT);
        if (size > n)
            return ended ? seen + 1 : BEST;
        p += size;
        n -= (size_t)size;
    }
    return BEST;
}

/* Where the count of a record stands, and what each of what it counts takes; false for a record without one. */
static bool counted(unsigned tag, unsigned id, size_t *count_at, size_t *entry)
{
    switch (tag) {
    case TAG_TRACE:
        *count_at = OFFSET_OF(TRACE, frames, id);
        *entry = id;
        return true;
    case TAG_ALLOC_SITES:
        *count_at = OFFSET_OF(ALLOC_SITES, sites, id);
        *entry = SIZE_OF(SITE, id);
        return true;
    case TAG_CPU_SAMPLES:
        *count_at = OFFSET_OF(CPU_SAMPLES, traces, id);
        *entry = SIZE_OF(SAMPLE, id);
        return true;
    default:
        return false;
    }
}

/* The length that the record at hand must have: what its layout takes, and what its count says. UINT64_MAX if any will do. */
static uint64_t right_length(struct checker *ck, unsigned tag)
{
    size_t count_at, entry;
    bool exact;
    uint64_t least = least_length(ck, tag, &exact);

    if (counted(tag, ck->id_size, &count_at, &entry) && look_at(ck, (size_t)least, UINT64_MAX) == least)
        return least + (uint64_t)get_u4(ck->in.at + count_at) * entry;
    return exact ? least : UINT64_MAX;
}

/* The length by which judging goes on behind a record: the declared one or a better one. */
static uint64_t body_length(struct checker *ck, uint8_t tag, uint64_t declared)
{
    uint64_t right = hprof_record_name(tag) ? right_length(ck, tag) : UINT64_MAX;

    if (right == UINT64_MAX || right == declared || right > LOOK_SIZE)
        return declared;
    return leads_on(ck, right) > (declared > LOOK_SIZE ? 0 : leads_on(ck, declared)) ? right : declared;
}

bool pass_record(struct checker *ck, uint8_t tag, uint64_t declared)
{
    uint64_t length = body_length(ck, tag, declared), right = hprof_record_name(tag) ? right_length(ck, tag) : UINT64_MAX;
    bool exact, wrong = right == UINT64_MAX ? declared < least_length(ck, tag, &exact) : declared != right;

    return !(wrong && leads_on(ck, length) < 2) && input_skip(&ck->in, length) == length;
}

uint64_t skip_to_end(struct checker *ck)
{
    uint64_t n = input_skip(&ck->in, UINT64_MAX);

    ck->sum.skipped += n;
    ck->lost = LOST_ALL;
    ck->truncated = ck->stopped = true;
    return n;
}

bool sound_record_follows(struct checker *ck)
{
    return leads_on(ck, 0) >= 2;
}

/* The body of `length` bytes in front is about to be skipped: what a record of this length and these bytes may have defined, of
 * whatever kind it was meant to be. */
static void lose_record(struct checker *ck, uint64_t length)
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
        ck->heap_end_lost = true;
    if (length && plausible_subrecords(ck->in.at, n, length, id, ck->version)) {
        ck->lost |= LOST_THREADS;
        ck->heap_lost = ck->heap_end_lost = true;
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

/* A record whose length is not what it must be: its body is not judged, and what it may have held is not missed: by its tag, or, if
 * that is what is wrong, by its length. A length beyond the end of the file is that fault and not this one, unless the right length leads on. Where no length
 * does, the framing is lost, and so it was behind what was odd already. */
static void wrong_length(struct checker *ck, enum rule rule, const char *expected)
{
    uint64_t length = body_length(ck, ck->record_tag, ck->record_length);
    uint64_t right = right_length(ck, ck->record_tag);
    bool lost = leads_on(ck, length) < 2;

    if (length > right && length - right >= RECORD_HEADER_SIZE) { /* other records may be in it */
        ck->lost = LOST_ALL;
        ck->heap_lost = ck->heap_end_lost = true;
    } else if (ck->record_tag != TAG_HEAP_DUMP_END) {
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

/* ---- Heap dump records ---- */

/* SPEC.md 5.1, 5.2. Length 0: empty, or never filled in. */
static void check_empty_heap_dump(struct checker *ck)
{
    if (empty_is_plausible(ck)) {
        report(ck, RULE_REC_010, ck->record_at, "at least one sub-record", "none");
        return;
    }
    unsound(ck, ck->record_at);
    report(ck, RULE_REC_011, ck->record_at + RECORD_LENGTH_AT, "the length of the sub-records that follow", "0");
    ck->dump.lost = true;
    skip_to_end(ck);
}

static void old_version(struct checker *ck)
{
    if (ck->version == V101 && !ck->segment_told) {
        ck->segment_told = true;
        report(ck, RULE_REC_005, ck->record_at, "a record of version 1.0.1", "%s", hprof_record_name(ck->record_tag));
    }
}

/* HEAP_DUMP and HEAP_DUMP_SEGMENT. */
static void walk_heap_dump(struct checker *ck)
{
    bool is_segment = ck->record_tag == TAG_HEAP_DUMP_SEGMENT;
    bool within = !is_segment && ck->dump.open && ck->version != V101;

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

    if (!ck->record_length && within && empty_is_plausible(ck))
        ck->heap_end_lost = true; /* it stands for one */
    else if (!ck->record_length)
        check_empty_heap_dump(ck);
    else if (!walk_heap_record(ck, ck->record_length)) {
        ck->dump.lost = true;
        truncated(ck);
    }
    if (!ck->dump.open)
        end_heap_dump(ck);
}

/* SPEC.md 5.3 HEAP_DUMP_END */
static void check_heap_dump_end(struct checker *ck)
{
    old_version(ck);
    if (ck->record_length)
        wrong_length(ck, RULE_REC_008, "0 bytes");
    if (ck->stopped)
        return;
    if (ck->dump.open) {
        ck->dump.open = false;
        end_heap_dump(ck);
    } else if (ck->version != V101 && !ck->heap_lost) {
        report(ck, RULE_REC_009, ck->record_at, "a HEAP_DUMP_SEGMENT in front", "none");
    }
}

/* ---- The other records ---- */

static void note_signs(struct checker *ck, uint32_t time)
{
    if (!ck->signs.first_tag)
        ck->signs.first_tag = ck->record_tag;
    if (time)
        ck->signs.any_time = true;
}

/* SPEC.md 3.3. Times wrap after 71 minutes: a fall of half the range or more is that. */
static void check_time(struct checker *ck, uint32_t time)
{
    if (time < ck->last_time && ck->last_time - time < UINT32_C(1) << 31)
        report(ck, RULE_REC_004, ck->record_at + RECORD_TIME_AT, "a time not before that of the record in front",
               "%" PRIu32 " us after %" PRIu32 " us", time, ck->last_time);
    ck->last_time = time;
}

/* A record of fixed length: judged whole, then left behind. */
#define FIXED_RECORD(NAME, rule, check) \
    do { \
        if (ck->record_length != SIZE_OF(NAME, ck->id_size)) { \
            wrong_length(ck, rule, expected_length(expected, SIZE_OF(NAME, ck->id_size))); \
        } else { \
            struct cursor c = window(ck, SIZE_OF(NAME, ck->id_size)); \
            struct NAME r; \
            if (read_##NAME(&c, ck->id_size, &r)) { \
                check; \
                input_advance(&ck->in, SIZE_OF(NAME, ck->id_size)); \
            } else { \
                truncated(ck); \
            } \
        } \
    } while (0)

static const char *expected_length(char *to, uint64_t n)
{
    snprintf(to, NAME_SIZE, "%" PRIu64 " bytes", n);
    return to;
}

/* A record whose length follows from the count in its fixed part. */
static void check_counted(struct checker *ck, enum rule rule, bool (*check)(struct checker *ck))
{
    uint64_t right = right_length(ck, ck->record_tag);
    char expected[NAME_SIZE];
    bool exact;

    if (right == ck->record_length) {
        if (!check(ck))
            truncated(ck);
        return;
    }
    if (right == UINT64_MAX || ck->record_length < least_length(ck, ck->record_tag, &exact))
        right = least_length(ck, ck->record_tag, &exact);
    wrong_length(ck, rule, expected_length(expected, right));
}

/* SPEC.md 3.2: a record of another tag. */
static void check_unknown(struct checker *ck)
{
    lose_record(ck, ck->record_length);
    if (!skip_body(ck))
        return;
    if (!ck->strange++)
        ck->strange_from = ck->record_at;
    report(ck, RULE_REC_003, ck->record_at, "the tag of a record", "0x%02x", ck->record_tag);
}

static void walk_record(struct checker *ck)
{
    unsigned id = ck->id_size;
    char expected[NAME_SIZE];
    uint64_t at = ck->in.offset;

    switch ((enum record_tag)ck->record_tag) {
    case TAG_UTF8:
        if (ck->record_length < id)
            wrong_length(ck, RULE_STR_001, id == 8 ? "8 bytes at the least" : "4 bytes at the least");
        else if (!check_utf8(ck, ck->record_length))
            truncated(ck);
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
    check_unknown(ck);
}

/* What a sub-record that did not fit was, where a segment does not go on with it. False if nothing behind can be judged. */
static bool settle_cut_before(struct checker *ck, size_t n)
{
    uint64_t end = ck->cut.record_end;

    if (!ck->cut.active || (n >= RECORD_HEADER_SIZE && get_u1(ck->in.at) == TAG_HEAP_DUMP_SEGMENT))
        return true;
    if (sound_record_follows(ck)) {
        settle_cut(ck, RULE_REC_015);
        return true;
    }
    skip_to_end(ck);
    settle_cut(ck, ck->in.offset - end >= UINT64_C(1) << 32 ? RULE_REC_012 : RULE_REC_015);
    return false;
}

/* At a record header: whether what was odd in front was odd and no more, or the framing was lost there. */
static void settle_doubts(struct checker *ck)
{
    if (leads_on(ck, 0) >= (ck->strange ? 4 : 2))
        ck->strange = ck->doubtful_string = ck->doubtful_record = 0;
    else if (!hprof_record_name(ck->record_tag))
        retract_string(ck);
}

void walk_records(struct checker *ck)
{
    while (!ck->stopped && !ck->memory.exhausted) {
        size_t n = input_need(&ck->in, RECORD_HEADER_SIZE);
        uint32_t time;
        bool known;

        tell_progress(ck);
        if (ck->stopped)
            break;
        if (!settle_cut_before(ck, n))
            break;
        if (n == 0) {
            if (ck->strange && ck->doubtful_record)
                tell_where_lost(ck);
            break;
        }
        ck->record_at = ck->in.offset;
        ck->record_tag = get_u1(ck->in.at);
        if (n < RECORD_HEADER_SIZE) {
            truncated_header(ck, n);
            break;
        }
        ck->record_number = ck->sum.record_counts[ck->record_tag] + 1;
        time = get_u4(ck->in.at + RECORD_TIME_AT);
        ck->record_length = get_u4(ck->in.at + RECORD_LENGTH_AT);
        known = hprof_record_name(ck->record_tag) != NULL;
        if (ck->strange || ck->doubtful_record)
            settle_doubts(ck);
        input_advance(&ck->in, RECORD_HEADER_SIZE);
        if (known)
            note_signs(ck, time);
        walk_record(ck);
        if (ck->stopped)
            break;
        if (known)
            check_time(ck, time);
        ck->sum.record_counts[ck->record_tag]++;
    }

    ck->record_number = 0;
    if (ck->in.error || ck->memory.exhausted)
        ck->truncated = true;
    if (ck->truncated)
        ck->lost = LOST_ALL;
    forget_cut(ck);
    if (ck->dump.open) {
        ck->truncated |= ck->garbage_behind;
        ck->dump.lost |= ck->truncated;
        if (!ck->truncated && ck->version != V101 && !ck->heap_end_lost) {
            ck->record_tag = TAG_HEAP_DUMP_SEGMENT;
            ck->record_number = ck->dump.last_segment_number;
            report(ck, RULE_REC_007, ck->dump.last_segment, "a HEAP_DUMP_END behind it", "the end of the file");
        }
        ck->dump.open = false;
        end_heap_dump(ck);
    }
}
