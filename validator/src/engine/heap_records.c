/* Heap dumps (SPEC.md 5, 6.1): their beginning and end, and the sub-records of one heap dump record. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/checker.h"
#include "format/subrecord.h"

enum {
    HEAD_SIZE = 64 /* as many as the fixed part of any sub-record but CLASS_DUMP takes */
};

/* ---- A heap dump begins and ends ---- */

void begin_heap_dump(struct checker *ck)
{
    struct memory *m = &ck->memory;

    hot_classes_fit(&ck->segment.hot, m, &ck->key, ck->sum.record_counts[TAG_LOAD_CLASS]);
    classes_begin_dump(&ck->classes);
    ck->findings.dump = ck->classes.dump;
    ck->dump.begin = ck->record_at;
    input_keep(&ck->in, ck->dump.begin);
    ck->dump.lost = ck->framing.heap_lost;
    ck->dump.end_lost = false;
    ck->dump.wrong.held = false;
    memset(ck->segment.known_traces, 0, sizeof ck->segment.known_traces);
    ck->segment.dump = ck->classes.dump;
    ck->dump.array_class_is_dumped = false;
    ck->dump.last_array_class = ck->dump.last_frame_root = 0;
    ck->dump.next_stray = ck->dump.first_instance_count = 0;
    ck->dump.first_wanted = ck->findings.wanted.count;
    pending_uses_init(&ck->dump.object_uses, m, ck->id_size);
    pending_uses_init(&ck->dump.root_thread_uses, m, sizeof(uint32_t));
    keymap_init(&ck->dump.thread_roots, m, &ck->key, sizeof(uint32_t), sizeof(uint32_t));
    byte_log_init(&ck->dump.frame_roots, m);
    wide_classes_init(&ck->dump.wide, m, &ck->key);
    stretches_init(&ck->dump.stretches, m);
    if (!input_can_reread(&ck->in))
        ck->dump.stretches.due = UINT64_MAX;
    waiting_begin(ck);
}

void clear_heap_dump(struct checker *ck)
{
    id_set_clear(&ck->dump.objects);
    enter_stretch(ck, NULL);
    pending_uses_clear(&ck->dump.object_uses);
    pending_uses_clear(&ck->dump.root_thread_uses);
    byte_log_clear(&ck->dump.frame_roots);
    wide_classes_clear(&ck->dump.wide);
    stretches_clear(&ck->dump.stretches);
    ck->dump.stretch = NULL;
    waiting_clear(ck);
}

/* What is needed of a heap dump later on: noted when most of what it took has been given back. */
static void keep_of_heap_dump(struct checker *ck)
{
    keep_class_uses(ck);
    classes_end_dump(&ck->classes);
    keep_rooted_threads(ck);
    keymap_clear(&ck->dump.thread_roots);
}

void drop_heap_dump(struct checker *ck)
{
    clear_heap_dump(ck);
    classes_end_dump(&ck->classes);
    keymap_clear(&ck->dump.thread_roots);
    ck->dump.open = false;
}

void end_heap_dump(struct checker *ck)
{
    uint64_t record_number = ck->record_number;

    if (jobs_are_ahead(ck)) {
        jobs_fail(ck);
        return;
    }

    ck->classes.complete = true;
    ck->record_number = 0; /* findings from here on have no record */
    check_waiting(ck);
    finish_class_dumps(ck);
    finish_roots(ck);
    finish_objects(ck);
    find_offsets_in_dump(ck);
    clear_heap_dump(ck);
    keep_of_heap_dump(ck);
    ck->record_number = record_number;
}

void enter_stretch(struct checker *ck, struct stretch *stretch)
{
    ck->dump.stretch = stretch;
    ck->segment.defined = (struct recent_page){.pages = stretch ? &stretch->defined : NULL};
    ck->segment.referenced = (struct recent_page){.pages = stretch ? &stretch->referenced : NULL};
    ck->segment.element = (struct recent_page){.pages = stretch ? &stretch->elements : NULL};
}

/* The rest of this heap dump may define anything, so nothing is reported to be undefined. */
static void lose(struct checker *ck)
{
    ck->dump.lost = true;
    ck->framing.lost |= MAY_DEFINE_THREADS;
}

/* ---- Faults of the framing ---- */

/* Skips from a failure to the end of the heap dump record. False if the dump ends before. */
static bool skip_rest(struct checker *ck)
{
    uint64_t left = ck->heap_end - ck->in.offset, n;

    note_jump(ck, ck->in.offset, ck->heap_end, true);
    lose(ck);
    n = input_skip(&ck->in, left);
    ck->sum.skipped += n;
    return n == left;
}

/* SPEC.md 6.1, 6.3.3, 6.3.4, 6.7: a sub-record that cannot be there. */
static void report_malformed(struct checker *ck, enum measured why, uint64_t at, unsigned tag, unsigned bad,
                             const struct measure *m)
{
    enum rule rule = tag == SUB_PRIMITIVE_ARRAY_DUMP ? RULE_OBJ_008 : m->in_constant_pool ? RULE_CLS_014 : RULE_CLS_015;

    if (why == MEASURE_TAG)
        report(ck, RULE_REC_013, at, "the tag of a sub-record", "0x%02x", tag);
    else
        report(ck, rule, at + m->bad_at, rule == RULE_OBJ_008 ? "4 to 11" : "2 or 4 to 11", "%u", bad);
}

/* Checking resumes after the heap dump record, if a record follows there: else the length of the heap dump record is wrong too.
 * False if the dump ends within it: then that is the failure. */
static bool skip_malformed(struct checker *ck, enum measured why, const struct measure *m)
{
    uint64_t at = ck->in.offset;
    unsigned tag = *ck->in.at, bad = why == MEASURE_TYPE ? ck->in.at[m->bad_at] : 0;
    uint8_t first[HEAD_SIZE];
    size_t n = look_at(ck, HEAD_SIZE, ck->heap_end - at);

    memcpy(first, ck->in.at, n);
    end_sound_part(ck, at);
    ck->dump.malformed_segment = ck->record_at;
    if (at == ck->heap_end - ck->record_length) { /* no sub-record is well-formed, so its tag may be wrong */
        ck->framing.lost = MAY_DEFINE_ALL;
        if (ck->dump.begin == ck->record_at) {
            ck->dump.open = false;
            ck->framing.heap_lost = true;
        }
    }
    if (tag == TAG_HEAP_DUMP_END)
        lose_heap_end(ck);
    if (!skip_rest(ck))
        return false;
    ck->sub = first;
    ck->sub_size = n;
    report_malformed(ck, why, at, tag, bad, m);
    ck->sub = NULL;
    if (!records_follow_here(ck, 1))
        skip_to_end(ck, ck->heap_end);
    return true;
}

/* A sub-record that crosses the end of its heap dump record. The next record decides which rule it breaks (settle_crossing). */
static bool crossing_subrecord(struct checker *ck)
{
    uint64_t left = ck->heap_end - ck->in.offset;
    struct crossing_subrecord *cut = &ck->cut;

    drop_crossing(ck);
    *cut = (struct crossing_subrecord){.active = true,
                                       .record_tag = ck->record_tag,
                                       .record_at = ck->record_at,
                                       .number = ck->record_number,
                                       .at = ck->in.offset,
                                       .had = left,
                                       .passed = left,
                                       .record_end = ck->heap_end,
                                       .tag = *ck->in.at};
    cut->bytes_size = *ck->in.at == SUB_CLASS_DUMP || left < HEAD_SIZE ? (size_t)left : HEAD_SIZE;
    cut->bytes = memory_get(&ck->memory, cut->bytes_size);
    if (!cut->bytes || input_need(&ck->in, cut->bytes_size) < cut->bytes_size)
        return false;
    memcpy(cut->bytes, ck->in.at, cut->bytes_size);
    return skip_rest(ck);
}

void drop_crossing(struct checker *ck)
{
    memory_put(&ck->memory, ck->cut.bytes, ck->cut.bytes_size);
    ck->cut = (struct crossing_subrecord){0};
}

enum {
    LONGEST_CLASS_DUMP = 4 << 20, /* at most 3 times 65,535 entries of 17 bytes, and a little */
    SEGMENTS_JOINED = 16          /* each segment is measured again with the next, so their number is bounded */
};

/* The size of the sub-record whose first part is in ck->cut and whose second part begins the window; 0 if there is no such
 * sub-record. *more if a segment of this length is too short to know. */
static uint64_t measure_crossing(struct checker *ck, uint64_t length, bool *more)
{
    const struct crossing_subrecord *cut = &ck->cut;
    bool whole = cut->bytes_size == cut->passed; /* else the fixed part is there already */
    size_t ahead = whole ? look_at(ck, cut->tag == SUB_CLASS_DUMP ? LONGEST_CLASS_DUMP : SIGHT_SIZE, length) : 0;
    struct measure m = {0};
    uint8_t *joined = memory_get(&ck->memory, cut->bytes_size + ahead);
    enum measured result;

    *more = false;
    if (!joined)
        return 0;
    memcpy(joined, cut->bytes, cut->bytes_size);
    if (ahead)
        memcpy(joined + cut->bytes_size, ck->in.at, ahead);
    result = measure_subrecord(joined, cut->bytes_size + ahead, ck->id_size, ck->version, &m);
    memory_put(&ck->memory, joined, cut->bytes_size + ahead);
    *more = result == MEASURE_MORE && whole && ahead == length && cut->segments < SEGMENTS_JOINED;
    return result == MEASURED && m.size > cut->passed ? m.size : 0;
}

/* A segment that is too short to know the size belongs to the sub-record completely. False if memory ran out. */
static bool grow_crossing(struct checker *ck, size_t length)
{
    struct crossing_subrecord *cut = &ck->cut;
    uint8_t *joined = memory_resize(&ck->memory, cut->bytes, cut->bytes_size, cut->bytes_size + length);

    if (!joined)
        return false;
    cut->segments++;
    memcpy(joined + cut->bytes_size, ck->in.at, length);
    cut->bytes = joined;
    cut->bytes_size += length;
    cut->passed += length;
    ck->sum.skipped += length;
    note_jump(ck, ck->in.offset, ck->heap_end, true);
    input_advance(&ck->in, length);
    return true;
}

static void report_crossing(struct checker *ck, enum rule rule)
{
    const struct crossing_subrecord *cut = &ck->cut;
    const char *name = hprof_subrecord_name(cut->tag);
    char path[NAME_SIZE];

    snprintf(path, sizeof path, "%s #%" PRIu64 " > %s", hprof_record_name(cut->record_tag), cut->number, name ? name : "");
    end_sound_part(ck, rule == RULE_REC_012 ? cut->record_at : cut->at);
    if (rule == RULE_REC_012)
        report_late(ck, rule, SHAPE_ANY, cut->record_at + RECORD_LENGTH_AT, "HEAP_DUMP", "the length of the heap dump",
                    "a length that ends within a sub-record, followed by 4 GiB or more");
    else
        report_late(ck, rule, SHAPE_ANY, cut->at, path,
                    rule == RULE_REC_014 ? "a sub-record within one HEAP_DUMP_SEGMENT"
                                         : "a sub-record that ends within its record",
                    rule == RULE_REC_014 ? "one that the next segment goes on with; %" PRIu64 " bytes are in this one"
                                         : "one that is longer than the %" PRIu64 " bytes left",
                    cut->had);
}

void settle_crossing(struct checker *ck, enum rule rule)
{
    if (ck->cut.active)
        report_crossing(ck, rule);
    drop_crossing(ck);
}

/* At the start of a HEAP_DUMP_SEGMENT of `length` bytes: if it begins with the rest of a sub-record from the preceding
 * segment, moves past that. False if the dump ends before. */
static bool skip_crossing_part(struct checker *ck, uint64_t length)
{
    struct sight s = sight_beyond(ck, 0);
    bool starts_well = subrecords_follow(&s, 0, length), more = false;
    uint64_t size, rest, skipped;

    if (!begin_unit(ck, s.size < length ? s.size : length))
        return false;
    size = ck->cut.size ? ck->cut.size : measure_crossing(ck, length, &more);
    rest = size ? size - ck->cut.passed : 0;
    if (!starts_well && more)
        return grow_crossing(ck, (size_t)length);
    s = sight_beyond(ck, 0);
    if (starts_well || !rest || (rest < s.size && rest < length && !subrecords_follow(&s, rest, length - rest))) {
        settle_crossing(ck, RULE_REC_015);
        return true;
    }
    if (!begin_unit(ck, rest < length ? rest : length))
        return false;
    if (rest > length) { /* it continues in the segment after this one */
        ck->cut.size = size;
        ck->cut.passed += length;
        rest = length;
    } else {
        settle_crossing(ck, RULE_REC_014);
    }
    note_jump(ck, ck->in.offset, ck->in.offset + rest, true);
    skipped = input_skip(&ck->in, rest);
    ck->sum.skipped += skipped;
    if (skipped < rest)
        settle_crossing(ck, RULE_REC_014);
    return skipped == rest;
}

/* ---- The sub-records of one heap dump record ---- */

/* SPEC.md 6.8 HEAP_DUMP_INFO */
static void check_heap_info(struct checker *ck, const uint8_t *p, uint64_t at)
{
    use_name(ck, get_id(p + OFFSET_OF(HEAP_DUMP_INFO, name, ck->id_size), ck->id_size), NAME_OF_HEAP,
             at + OFFSET_OF(HEAP_DUMP_INFO, name, ck->id_size));
}

static void check_nodata(struct checker *ck, const uint8_t *p, uint64_t at)
{
    define_object(ck, get_id(p, ck->id_size), false, at);
    use_trace(ck, get_u4(p + OFFSET_OF(PRIMITIVE_ARRAY_NODATA, trace_serial, ck->id_size)), TRACE_OF_PRIMITIVE_ARRAY,
              at + OFFSET_OF(PRIMITIVE_ARRAY_NODATA, trace_serial, ck->id_size));
    if (!type_is_primitive(p[OFFSET_OF(PRIMITIVE_ARRAY_NODATA, type, ck->id_size)]))
        report(ck, RULE_OBJ_008, at + OFFSET_OF(PRIMITIVE_ARRAY_NODATA, type, ck->id_size), "4 to 11", "%u",
               p[OFFSET_OF(PRIMITIVE_ARRAY_NODATA, type, ck->id_size)]);
}

/* Checks a sub-record that is neither an instance nor an array; all its bytes are in the window. */
static void check_small(struct checker *ck, uint64_t size)
{
    const uint8_t *p = ck->in.at + 1;
    uint64_t at = ck->in.offset + 1;

    switch (*ck->in.at) {
    case SUB_CLASS_DUMP:
        check_class_dump(ck, p, (size_t)size - 1, at);
        break;
    case SUB_HEAP_DUMP_INFO:
        check_heap_info(ck, p, at);
        break;
    case SUB_PRIMITIVE_ARRAY_NODATA:
        check_nodata(ck, p, at);
        break;
    default:
        check_root(ck, *ck->in.at, p, at);
        break;
    }
}

enum measured measure_next(struct checker *ck, uint64_t left, struct measure *m, bool *ended)
{
    size_t wanted = HEAD_SIZE;

    for (;;) {
        size_t n = look_at(ck, wanted, left);
        enum measured result = measure_subrecord(ck->in.at, n, ck->id_size, ck->version, m);

        *ended = n < wanted && n < left;
        if (result != MEASURE_MORE || n == left || *ended)
            return result;
        wanted *= 2;
    }
}

/* The instance in the window does not have the size of its class, and plain reading fails after its declared size, but not
 * after that of its class: so the length of the instance is wrong. */
static bool resume_after_instance(struct checker *ck, uint64_t declared, uint64_t left)
{
    uint64_t by_class = size_by_class(ck, ck->in.at);
    struct sight s;

    if (!by_class || by_class > SIGHT_SIZE || (declared > SIGHT_SIZE && declared <= left))
        return false;
    s = sight_beyond(ck, declared <= left ? (declared > by_class ? declared : by_class) : by_class);
    if (!resume_by_class(&s, declared, by_class, left))
        return false;
    if (!begin_unit(ck, by_class))
        return true;
    end_sound_part(ck, ck->in.offset);
    note_jump(ck, ck->in.offset, ck->in.offset + by_class, false);
    check_wrong_instance(ck);
    input_advance(&ck->in, (size_t)by_class);
    ck->sum.subrecord_counts[SUB_INSTANCE_DUMP]++;
    return true;
}

/* Checks one sub-record of any size. False if the dump ends within it. */
static bool check_next(struct checker *ck)
{
    uint64_t left = ck->heap_end - ck->in.offset;
    struct measure m = {0};
    bool ended, complete;
    enum measured result = measure_next(ck, left, &m, &ended);
    uint8_t tag = *ck->in.at;

    if (!begin_unit(ck, result == MEASURED ? m.size : left))
        return false;
    if (result == MEASURE_MORE && ended)
        return false; /* the dump ends within it */
    if (result == MEASURED && tag == SUB_INSTANCE_DUMP && resume_after_instance(ck, m.size, left))
        return true;
    if (result == MEASURE_TAG || result == MEASURE_TYPE) {
        ck->dump.wrong.held = false;
        return skip_malformed(ck, result, &m);
    }
    if (result == MEASURE_MORE || m.size > left) {
        ck->dump.wrong.held = false;
        return crossing_subrecord(ck);
    }
    report_wrong_instance(ck);
    ck->sub = ck->in.at;
    ck->sub_size = (size_t)(ck->in.end - ck->in.at) < left ? (size_t)(ck->in.end - ck->in.at) : (size_t)left;
    switch (tag) {
    case SUB_INSTANCE_DUMP:
        complete = check_instance(ck);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        complete = check_object_array(ck);
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        complete = check_primitive_array(ck);
        break;
    default:
        complete = input_need(&ck->in, (size_t)m.size) >= m.size;
        if (complete) {
            ck->sub = ck->in.at;
            ck->sub_size = (size_t)m.size;
            check_small(ck, m.size);
            input_advance(&ck->in, (size_t)m.size);
        }
        break;
    }
    ck->sub = NULL;
    if (complete)
        ck->sum.subrecord_counts[tag]++;
    return complete;
}

/* Checks the plain sub-records at the start of the window, of which n bytes belong to the heap dump record, in the fast
 * loop. */
static void check_plain(struct checker *ck, size_t n)
{
    size_t walked;

    ck->segment.counts = (struct object_counts){0};
    walked = check_plain_objects(&ck->segment, ck->in.at, n, ck->in.offset);
    add_counts(ck, &ck->segment.counts);
    if (walked)
        report_wrong_instance(ck);
    input_advance(&ck->in, walked);
    show_progress(ck);
}

bool check_heap_record(struct checker *ck, uint64_t length)
{
    ck->heap_end = ck->in.offset + length;
    if (ck->cut.active && !skip_crossing_part(ck, length))
        return false;
    while (ck->in.offset < ck->heap_end && !ck->framing.stopped) {
        uint64_t limit = next_checkpoint(ck), end = ck->heap_end < limit ? ck->heap_end : limit;
        size_t n = (size_t)(ck->in.end - ck->in.at);

        if (jobs_take_over(ck))
            continue;
        if (end > jobs_border(ck))
            end = jobs_border(ck);
        if (ck->in.offset >= ck->dump.stretches.due)
            enter_stretch(ck, stretches_begin(&ck->dump.stretches, ck->in.offset, ck->heap_end));
        if (end > ck->dump.stretches.due)
            end = ck->dump.stretches.due;
        check_plain(ck, n < end - ck->in.offset ? n : (size_t)(end - ck->in.offset));
        if (ck->in.offset == ck->heap_end)
            break;
        if (!input_need(&ck->in, 1) || ck->memory.exhausted || ck->framing.stopped || !check_next(ck))
            return false;
    }
    report_wrong_instance(ck);
    return true;
}
