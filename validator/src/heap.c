/* Heap dumps (SPEC.md 5, 6.1): their beginning and end, and the walk over the sub-records of one heap dump record. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checker.h"

enum {
    HEAD_SIZE = 64 /* as many as the fixed part of any sub-record but CLASS_DUMP takes */
};

/* ---- A heap dump begins and ends ---- */

void begin_heap_dump(struct checker *ck)
{
    struct memory *m = &ck->memory;

    fit_hot_classes(ck, ck->sum.record_counts[TAG_LOAD_CLASS]);
    classes_begin_dump(&ck->classes);
    ck->diag.dump = ck->classes.dump;
    ck->dump.begin = ck->record_at;
    input_keep(&ck->in, ck->dump.begin);
    ck->dump.lost = ck->heap_lost;
    ck->dump.looked_ahead = ck->dump.end_lost = false;
    ck->dump.class_end = 0;
    memset(ck->dump.known_traces, 0, sizeof ck->dump.known_traces);
    ck->dump.array_class_is_dumped = false;
    ck->dump.last_array_class = ck->dump.last_waiting = ck->dump.last_frame_root = 0;
    ck->dump.last_waiting_record = ck->dump.next_stray = ck->dump.namer_count = 0;
    ck->dump.first_place = ck->diag.places.count;
    uselog_init(&ck->dump.object_uses, m, ck->id_size);
    uselog_init(&ck->dump.root_thread_uses, m, sizeof(uint32_t));
    keymap_init(&ck->dump.thread_roots, m, &ck->key, sizeof(uint32_t), sizeof(uint32_t));
    bytelog_init(&ck->dump.frame_roots, m);
    begin_wide_classes(ck);
    stretches_init(&ck->dump.stretches, m);
    if (!input_can_reread(&ck->in))
        ck->dump.stretches.due = UINT64_MAX;
    bytelog_init(&ck->dump.deferred, m);
}

void clear_heap_dump(struct checker *ck)
{
    idset_clear(&ck->dump.objects);
    ck->dump.near_defined = ck->dump.near_referenced = ck->dump.near_element = (struct id_near){0};
    uselog_clear(&ck->dump.object_uses);
    uselog_clear(&ck->dump.root_thread_uses);
    bytelog_clear(&ck->dump.frame_roots);
    clear_wide_classes(ck);
    stretches_clear(&ck->dump.stretches);
    ck->dump.stretch = NULL;
    bytelog_clear(&ck->dump.deferred);
}

/* What is needed of a heap dump later on: noted when most of what it took has been given back. */
static void keep_of_heap_dump(struct checker *ck)
{
    keep_class_uses(ck);
    classes_end_dump(&ck->classes);
    keep_rooted_threads(ck);
    keymap_clear(&ck->dump.thread_roots);
}

void end_heap_dump(struct checker *ck)
{
    uint64_t record_number = ck->record_number;

    mark_border(ck, 0);
    ck->classes.complete = true;
    ck->record_number = 0; /* what is found now has no record at hand */
    finish_deferred(ck);
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
    ck->dump.near_defined = (struct id_near){.pages = stretch ? &stretch->defined : NULL};
    ck->dump.near_referenced = (struct id_near){.pages = stretch ? &stretch->referenced : NULL};
    ck->dump.near_element = (struct id_near){.pages = stretch ? &stretch->elements : NULL};
}

void note_detour(struct checker *ck, uint64_t from, uint64_t record_end, bool is_defined)
{
    if (ck->dump.stretch && ck->look == LOOK_JUDGE && !ck->stopped && ck->in.offset <= record_end)
        stretches_note_detour(&ck->dump.stretches, &(struct detour){from, ck->in.offset, record_end, is_defined});
}

/* What the rest of this heap dump may have defined is never missing. */
static void lose(struct checker *ck)
{
    ck->dump.lost = true;
    ck->lost |= LOST_THREADS;
}

/* ---- Faults of the framing ---- */

/* Skips the rest of the heap dump record. False if the dump ends before. */
static bool skip_rest(struct checker *ck)
{
    uint64_t left = ck->heap_end - ck->in.offset, n;

    if (ck->look == LOOK_JUDGE)
        lose(ck);
    n = input_skip(&ck->in, left);
    if (ck->look == LOOK_JUDGE)
        ck->sum.skipped += n;
    return n == left;
}

/* The same behind a broken sub-record. Unless a record or the end follows, the length of the heap dump record is what is wrong,
 * or hid it: then it says false and nothing behind is judged. */
static bool skip_broken(struct checker *ck)
{
    if (!skip_rest(ck))
        return false;
    if (sound_record_follows(ck))
        return true;
    if (ck->look == LOOK_JUDGE)
        skip_to_end(ck);
    return false;
}

/* The sub-records just in front of a fault may have been where it went wrong. */
static void distrust_last(struct checker *ck)
{
    uint64_t at = ck->in.offset, begin = ck->record_at + RECORD_HEADER_SIZE;
    uint64_t from = at - begin > NEAR_SIZE ? at - NEAR_SIZE : begin;

    if (ck->dump.class_end >= from)
        classes_break(&ck->classes, ck->dump.last_layout);
    if (ck->look == LOOK_JUDGE) {
        distrust_instance(ck);
        doubt_findings(ck, from, at);
    }
}

static void trust_last(struct checker *ck)
{
    ck->dump.doubtful_length = ck->dump.doubtful_waiting = 0;
}

static bool broken_subrecord(struct checker *ck, enum measured why, const struct measure *m)
{
    uint64_t at = ck->in.offset;
    unsigned tag = *ck->in.at, bad = why == MEASURE_TYPE ? ck->in.at[m->bad_at] : 0;
    enum rule rule = why == MEASURE_TAG                ? RULE_REC_013
                     : tag == SUB_PRIMITIVE_ARRAY_DUMP ? RULE_OBJ_008
                     : m->in_constant_pool             ? RULE_CLS_014
                                                       : RULE_CLS_015;
    bool at_start = at == ck->heap_end - ck->record_length;

    distrust_last(ck);
    if (ck->look != LOOK_JUDGE)
        return skip_broken(ck);
    unsound(ck, at);
    ck->dump.broken_segment = ck->record_at;
    if (at_start) { /* nothing of it was sound: it may be a record of another tag */
        ck->lost = LOST_ALL;
        if (ck->dump.begin == ck->record_at) {
            ck->dump.open = false;
            ck->heap_lost = true;
        }
    }
    if (tag == TAG_HEAP_DUMP_END)
        lose_heap_end(ck);
    if (at_start && tell_where_lost(ck)) {
        skip_to_end(ck);
        return true;
    }
    if (why == MEASURE_TAG)
        report(ck, rule, at, "the tag of a sub-record", "0x%02x", tag);
    else
        report(ck, rule, at + m->bad_at, rule == RULE_OBJ_008 ? "4 to 11" : "2 or 4 to 11", "%u", bad);
    if (skip_broken(ck) || ck->stopped)
        return true;
    /* The length of the record is wrong, or the dump is cut: that is what will be said. */
    diag_retract(&ck->diag, rule, SHAPE_ANY, why == MEASURE_TAG ? at : at + m->bad_at, 1);
    return false;
}

/* A sub-record that goes on behind the end of its heap dump record. What that means, the next record tells (settle_cut). */
static bool cut_subrecord(struct checker *ck)
{
    uint64_t left = ck->heap_end - ck->in.offset;
    struct cut_subrecord *cut = &ck->cut;

    distrust_last(ck);
    forget_cut(ck);
    *cut = (struct cut_subrecord){.active = true,
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

void forget_cut(struct checker *ck)
{
    memory_put(&ck->memory, ck->cut.bytes, ck->cut.bytes_size);
    ck->cut = (struct cut_subrecord){0};
}

enum {
    LONGEST_CLASS_DUMP = 4 << 20, /* 3 times 65,535 entries of 17 bytes at the most, and a little */
    SEGMENTS_JOINED = 16          /* each is looked at again with the next: not for ever */
};

/* How long the sub-record is whose first part is in ck->cut and whose other part begins the window; 0 if that cannot be. *more if
 * a segment of so many bytes is too short to tell. */
static uint64_t measure_cut(struct checker *ck, uint64_t length, bool *more)
{
    const struct cut_subrecord *cut = &ck->cut;
    bool whole = cut->bytes_size == cut->passed; /* else the fixed part is there already */
    size_t ahead = whole ? look_at(ck, cut->tag == SUB_CLASS_DUMP ? LONGEST_CLASS_DUMP : LOOK_SIZE, length) : 0;
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

/* A segment that is too short to tell how long the sub-record is belongs to it whole. False when memory ran out. */
static bool grow_cut(struct checker *ck, size_t length)
{
    struct cut_subrecord *cut = &ck->cut;
    uint8_t *joined = memory_resize(&ck->memory, cut->bytes, cut->bytes_size, cut->bytes_size + length);

    if (!joined)
        return false;
    cut->segments++;
    memcpy(joined + cut->bytes_size, ck->in.at, length);
    cut->bytes = joined;
    cut->bytes_size += length;
    cut->passed += length;
    if (ck->look == LOOK_JUDGE)
        ck->sum.skipped += length;
    input_advance(&ck->in, length);
    return true;
}

static void report_cut(struct checker *ck, enum rule rule)
{
    const struct cut_subrecord *cut = &ck->cut;
    const char *name = hprof_subrecord_name(cut->tag);
    char path[NAME_SIZE];

    snprintf(path, sizeof path, "%s #%" PRIu64 " > %s", hprof_record_name(cut->record_tag), cut->number, name ? name : "");
    if (ck->look == LOOK_JUDGE) {
        unsound(ck, rule == RULE_REC_012 ? cut->record_at : cut->at);
        if (rule == RULE_REC_012)
            report_late(ck, rule, SHAPE_ANY, cut->record_at + RECORD_LENGTH_AT, "HEAP_DUMP", "the length of the heap dump",
                        "a length that ends within a sub-record, with 4 GiB or more behind it");
        else
            report_late(ck, rule, SHAPE_ANY, cut->at, path,
                        rule == RULE_REC_014 ? "a sub-record within one HEAP_DUMP_SEGMENT"
                                             : "a sub-record that ends within its record",
                        rule == RULE_REC_014 ? "one that the next segment goes on with; %" PRIu64 " bytes are in this one"
                                             : "one that is longer than the %" PRIu64 " bytes left",
                        cut->had);
    }
}

void settle_cut(struct checker *ck, enum rule rule)
{
    if (ck->cut.active)
        report_cut(ck, rule);
    forget_cut(ck);
}

/* At the start of a HEAP_DUMP_SEGMENT of so many bytes: goes behind the rest of a sub-record that the segment before began, if
 * that is what it begins with. False if the dump ends before. */
static bool skip_cut_part(struct checker *ck, uint64_t length)
{
    size_t n = look_at(ck, LOOK_SIZE, length);
    uint64_t size, rest, skipped;
    bool starts_sound = plausible_subrecords(ck->in.at, n, length, ck->id_size, ck->version), more = false;

    if (ck->look == LOOK_JUDGE)
        mark_border(ck, n);
    size = ck->cut.size ? ck->cut.size : measure_cut(ck, length, &more);
    rest = size ? size - ck->cut.passed : 0;
    n = look_at(ck, LOOK_SIZE, length);
    if (!starts_sound && more)
        return grow_cut(ck, (size_t)length);
    if (starts_sound || !rest ||
        (rest < n && !plausible_subrecords(ck->in.at + rest, n - (size_t)rest, length - rest, ck->id_size, ck->version))) {
        settle_cut(ck, RULE_REC_015);
        return true;
    }
    if (rest > length) { /* and on into the segment behind this one */
        ck->cut.size = size;
        ck->cut.passed += length;
        rest = length;
    } else {
        settle_cut(ck, RULE_REC_014);
    }
    skipped = input_skip(&ck->in, rest);
    if (ck->look == LOOK_JUDGE)
        ck->sum.skipped += skipped;
    return skipped == rest;
}

bool resync(struct checker *ck, uint64_t wrong, uint64_t right, uint64_t left)
{
    size_t n = look_at(ck, LOOK_SIZE, left);

    bool right_fits = right < n && right <= left &&
                      plausible_subrecords(ck->in.at + right, n - (size_t)right, left - right, ck->id_size, ck->version);

    /* What is declared holds, unless it leads astray or too far to see and the other does not. */
    if (wrong >= n ? !right_fits
                   : plausible_subrecords(ck->in.at + wrong, n - (size_t)wrong, left - wrong, ck->id_size, ck->version))
        return input_skip(&ck->in, wrong) == wrong;
    if (ck->look == LOOK_JUDGE)
        unsound(ck, ck->in.offset);
    return right_fits ? input_skip(&ck->in, right) == right : skip_rest(ck);
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

/* A sub-record other than instances and arrays: all its bytes are in the window. Of a CLASS_DUMP that leads astray the counts may
 * be wrong: the class is known, and what it says is not judged. */
static void check_small(struct checker *ck, uint64_t size, bool astray)
{
    const uint8_t *p = ck->in.at + 1;
    uint64_t at = ck->in.offset + 1;

    switch (*ck->in.at) {
    case SUB_CLASS_DUMP:
        check_class_dump(ck, p, (size_t)size - 1, at, astray);
        break;
    case SUB_HEAP_DUMP_INFO:
        if (ck->look == LOOK_JUDGE)
            check_heap_info(ck, p, at);
        break;
    case SUB_PRIMITIVE_ARRAY_NODATA:
        if (ck->look == LOOK_JUDGE)
            check_nodata(ck, p, at);
        break;
    default:
        if (ck->look == LOOK_JUDGE)
            check_root(ck, *ck->in.at, p, at);
        break;
    }
}

/* Whether something else than sub-records stands behind the one in the window. */
static bool leads_astray(struct checker *ck, uint64_t size, uint64_t left)
{
    size_t n = look_at(ck, (size_t)size + LOOK_SIZE, left);

    return n > size && !plausible_subrecords(ck->in.at + size, n - (size_t)size, left - size, ck->id_size, ck->version);
}

/* Whether the length that its class asks for leads to sub-records, of an INSTANCE_DUMP that goes on behind the end of its heap dump
 * record. */
static bool class_leads_on(struct checker *ck, uint64_t left)
{
    uint64_t right;

    return *ck->in.at == SUB_INSTANCE_DUMP && instance_is_misled(ck, ck->in.at, &right) && right < left &&
           !leads_astray(ck, right, left);
}

enum measured measure_next(struct checker *ck, uint64_t left, struct measure *m, bool *ended)
{
    size_t wanted = HEAD_SIZE;

    for (;;) {
        size_t n = input_need(&ck->in, wanted < left ? wanted : (size_t)left);
        enum measured result;

        if (n > left)
            n = (size_t)left;
        result = measure_subrecord(ck->in.at, n, ck->id_size, ck->version, m);
        *ended = n < wanted && n < left;
        if (result != MEASURE_MORE || n == left || *ended)
            return result;
        wanted = n * 2;
    }
}

/* One sub-record, however long. False if the dump ends within it. */
static bool walk_one(struct checker *ck)
{
    uint64_t at = ck->in.offset, left = ck->heap_end - at;
    struct measure m = {0};
    bool ended, complete, astray;
    enum measured result = measure_next(ck, left, &m, &ended);
    uint8_t tag = *ck->in.at;

    if (ck->look == LOOK_JUDGE)
        mark_border(ck, result == MEASURED ? m.size : left);
    if ((result == MEASURE_MORE && ended) || (result == MEASURED && m.size > ck->gzip.sound_until - ck->in.offset))
        return false; /* the dump ends within it, or what is sound of a gzip file */
    if (result == MEASURE_MORE || (result == MEASURED && m.size > left && !class_leads_on(ck, left))) {
        complete = cut_subrecord(ck);
        note_detour(ck, at, ck->heap_end, false);
        return complete;
    }
    ck->sub = ck->in.at;
    ck->sub_size = (size_t)(ck->in.end - ck->in.at) < left ? (size_t)(ck->in.end - ck->in.at) : (size_t)left;
    if (result != MEASURED) {
        complete = broken_subrecord(ck, result, &m);
        note_detour(ck, at, ck->heap_end, false);
        ck->sub = NULL;
        return complete;
    }
    trust_last(ck);
    if (ck->look == LOOK_CLASSES && tag != SUB_CLASS_DUMP) {
        uint64_t right;

        ck->sub = NULL;
        if (tag == SUB_INSTANCE_DUMP && instance_is_misled(ck, ck->in.at, &right))
            return resync(ck, m.size, right, left);
        return input_skip(&ck->in, m.size) == m.size;
    }
    switch (tag) {
    case SUB_INSTANCE_DUMP:
        complete = check_instance(ck, left);
        break;
    case SUB_OBJECT_ARRAY_DUMP:
        complete = check_object_array(ck);
        break;
    case SUB_PRIMITIVE_ARRAY_DUMP:
        complete = check_primitive_array(ck);
        break;
    default:
        astray = tag == SUB_CLASS_DUMP && ck->look == LOOK_JUDGE && leads_astray(ck, m.size, left);
        complete = input_need(&ck->in, (size_t)m.size) >= m.size;
        if (complete) {
            ck->sub = ck->in.at;
            ck->sub_size = (size_t)m.size;
            check_small(ck, m.size, astray);
            input_advance(&ck->in, (size_t)m.size);
        }
        break;
    }
    ck->sub = NULL;
    if (complete && ck->in.offset != at + m.size)
        note_detour(ck, at, ck->heap_end, true);
    if (complete && ck->look == LOOK_JUDGE)
        ck->sum.subrecord_counts[tag]++;
    return complete;
}

/* How many of the n bytes at p are whole instances and arrays, one after the other. */
static size_t pass_objects(const uint8_t *const start, size_t n, const unsigned id_size)
{
    const uint8_t *p = start, *const end = start + n;

    while (p < end && *p >= SUB_INSTANCE_DUMP && *p <= SUB_PRIMITIVE_ARRAY_DUMP) {
        struct measure m;

        if (measure_subrecord(p, (size_t)(end - p), id_size, V101, &m) != MEASURED || m.size > (size_t)(end - p))
            break;
        p += m.size;
    }
    return (size_t)(p - start);
}

/* The plain sub-records at the start of the window, of which n bytes belong to the heap dump record: as fast as each look at them
 * can go. */
static void walk_many(struct checker *ck, size_t n)
{
    size_t walked = 0;

    if (ck->look == LOOK_JUDGE && ck->dump.hot.slots) {
        walked = walk_objects(ck, ck->in.at, n, ck->in.offset);
        if (walked)
            trust_last(ck);
        tell_progress(ck);
    } else if (ck->look == LOOK_CLASSES && !ck->classes.any_in_turn) {
        walked = pass_objects(ck->in.at, n, ck->id_size);
        if (walked)
            trust_last(ck);
    }
    input_advance(&ck->in, walked);
}

bool walk_heap_record(struct checker *ck, uint64_t length)
{
    uint64_t begin = ck->in.offset;

    ck->heap_end = begin + length;
    ck->heap_records += ck->look == LOOK_JUDGE;
    trust_last(ck);
    if (ck->cut.active && !skip_cut_part(ck, length))
        return false;
    if (ck->in.offset != begin)
        note_detour(ck, begin, ck->heap_end, false);
    while (ck->in.offset < ck->heap_end && !ck->stopped) {
        uint64_t border = next_border(ck), end = ck->heap_end < border ? ck->heap_end : border;
        size_t n = (size_t)(ck->in.end - ck->in.at);

        if (is_disowned(ck))
            return false;
        if (ck->look == LOOK_JUDGE) {
            if (ck->in.offset >= ck->dump.stretches.due)
                enter_stretch(ck, stretches_begin(&ck->dump.stretches, ck->in.offset, ck->heap_end));
            if (end > ck->dump.stretches.due)
                end = ck->dump.stretches.due;
        }
        walk_many(ck, n < end - ck->in.offset ? n : (size_t)(end - ck->in.offset));
        if (ck->in.offset == ck->heap_end)
            break;
        if (!input_need(&ck->in, 1) || ck->memory.exhausted || ck->stopped || !walk_one(ck))
            return false;
    }
    return true;
}

/* ---- Walks that do not judge ---- */

/* Walks the heap dump records from here, a border between sub-records or records, to an offset or to the end of the heap dump. */
static void walk_records_silently(struct checker *ck, uint64_t end)
{
    if (ck->in.offset < ck->heap_end && !walk_heap_record(ck, ck->heap_end - ck->in.offset))
        return;
    while (ck->in.offset < end && input_need(&ck->in, RECORD_HEADER_SIZE) >= RECORD_HEADER_SIZE) {
        unsigned tag = get_u1(ck->in.at);
        uint64_t length = get_u4(ck->in.at + RECORD_LENGTH_AT);

        ck->record_tag = (uint8_t)tag;
        ck->record_at = ck->in.offset;
        if (tag == TAG_HEAP_DUMP_END)
            return;
        if (ck->cut.active && tag != TAG_HEAP_DUMP_SEGMENT) {
            if (!sound_record_follows(ck))
                return;
            forget_cut(ck);
        }
        input_advance(&ck->in, RECORD_HEADER_SIZE);
        if (tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT) {
            if (!length && !empty_is_plausible(ck))
                return;
            if (!walk_heap_record(ck, length))
                return;
        } else if (!pass_record(ck, (uint8_t)tag, length)) {
            return;
        }
    }
}

void look_ahead(struct checker *ck)
{
    uint64_t back = ck->in.offset, heap_end = ck->heap_end, record_at = ck->record_at;
    uint8_t record_tag = ck->record_tag;
    struct cut_subrecord cut = ck->cut;
    const uint8_t *sub = ck->sub; /* the caller's copy */
    size_t sub_size = ck->sub_size;

    if (ck->dump.looked_ahead)
        return;
    ck->dump.looked_ahead = true;
    ck->cut = (struct cut_subrecord){0};
    ck->look = LOOK_CLASSES;
    walk_records_silently(ck, record_tag == TAG_HEAP_DUMP && !ck->dump.open ? heap_end : UINT64_MAX);
    forget_cut(ck);
    trust_last(ck);
    ck->cut = cut;
    ck->look = LOOK_JUDGE;
    ck->classes.complete = true;
    ck->heap_end = heap_end;
    ck->record_at = record_at;
    ck->record_tag = record_tag;
    if (!input_seek(&ck->in, back) && !ck->in.error)
        ck->truncated = true;
    ck->sub = sub;
    ck->sub_size = sub_size;
}
