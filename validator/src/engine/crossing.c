/* A sub-record that crosses the end of its heap dump record. The next record decides: either the sub-record goes on there, and
 * is joined and checked, or it breaks a rule. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/way.h"

enum {
    PARTS_MEASURED = 16 /* all are measured again with the next, so their number is bounded */
};

bool crossing_subrecord(struct engine *e)
{
    uint64_t left = e->position.heap_end - e->in.offset, passed;
    bool may_continue = e->position.record_tag == TAG_HEAP_DUMP_SEGMENT;
    struct crossing_subrecord *cut = &e->cut;

    drop_crossing(e);
    *cut = (struct crossing_subrecord){.active = true,
                                       .record_tag = e->position.record_tag,
                                       .record_at = e->position.record_at,
                                       .number = e->position.record_number,
                                       .at = e->in.offset,
                                       .had = left,
                                       .passed = left,
                                       .parts = 1,
                                       .record_end = e->position.heap_end,
                                       .skipped_before = e->run.sum.skipped,
                                       .before = e->heap.wrong,
                                       .tag = *e->in.at};
    e->heap.wrong.held = false;
    cut->bytes_size = left < HEAD_SIZE || (may_continue && left <= e->run.sizes.joined) ? (size_t)left : HEAD_SIZE;
    if (input_need(&e->in, cut->bytes_size) < cut->bytes_size)
        return false;
    cut->bytes = memory_get(&e->run.memory, cut->bytes_size);
    if (!cut->bytes)
        return false;
    cut->capacity = cut->bytes_size;
    memcpy(cut->bytes, e->in.at, cut->bytes_size);
    jumps_note(&e->file.jumps, e->in.offset, e->position.heap_end, 0, true);
    if (!may_continue) /* the heap dump ends with this record */
        lose(e);
    passed = input_skip(&e->in, left);
    e->run.sum.skipped += passed;
    return passed == left;
}

void drop_crossing(struct engine *e)
{
    memory_put(&e->run.memory, e->cut.bytes, e->cut.capacity);
    e->cut = (struct crossing_subrecord){0};
}

/* The size of the sub-record whose first part is in e->cut and whose second part begins the window; 0 if there is no such
 * sub-record. *more if a segment of this length is too short to know. */
static uint64_t measure_crossing(struct engine *e, uint64_t length, bool *more)
{
    const struct crossing_subrecord *cut = &e->cut;
    bool whole = cut->bytes_size == cut->passed; /* else the fixed part is there */
    size_t ahead =
        whole ? look_at(&e->in, cut->tag == SUB_CLASS_DUMP ? e->run.sizes.class_dump : e->run.sizes.sight, length) : 0;
    struct sight s = {.size = cut->bytes_size + ahead, .id_size = e->file.id_size, .version = e->file.version};
    uint8_t *joined = memory_get(&e->run.memory, s.size);
    struct walk_item item;
    enum frame frame;

    *more = false;
    if (!joined)
        return 0;
    memcpy(joined, cut->bytes, cut->bytes_size);
    if (ahead)
        memcpy(joined + cut->bytes_size, e->in.at, ahead);
    s.at = joined;
    frame = walk_subrecord(&s, 0, UINT64_MAX, &item);
    memory_put(&e->run.memory, joined, s.size);
    *more = frame == FRAME_UNSEEN && whole && ahead == length && cut->parts <= PARTS_MEASURED;
    return item.size > cut->passed ? item.size : 0;
}

/* Passes the next n bytes, which belong to the sub-record. False if the dump ends before, or memory ran out. */
static bool pass_part(struct engine *e, uint64_t n)
{
    struct crossing_subrecord *cut = &e->cut;
    uint64_t passed;

    jumps_note(&e->file.jumps, e->in.offset, e->in.offset + n, e->position.heap_end, true);
    if (cut->bytes_size == cut->passed && cut->size <= e->run.sizes.joined && cut->parts < e->run.sizes.joined_parts &&
        input_need(&e->in, (size_t)n) >= n) {
        void *bytes = cut->bytes;

        if (!memory_grow(&e->run.memory, &bytes, &cut->capacity, cut->bytes_size + (size_t)n, 1))
            return false;
        cut->bytes = bytes;
        memcpy(cut->bytes + cut->bytes_size, e->in.at, (size_t)n);
        cut->bytes_size += (size_t)n;
    }
    cut->parts++;
    cut->passed += n;
    passed = input_skip(&e->in, n);
    e->run.sum.skipped += passed;
    return passed == n;
}

static void report_crossing(struct engine *e, enum rule rule)
{
    const struct crossing_subrecord *cut = &e->cut;
    const char *name = hprof_subrecord_name(cut->tag);
    char path[NAME_SIZE];

    snprintf(path, sizeof path, "%s #%" PRIu64 " > %s", hprof_record_name(cut->record_tag), cut->number, name ? name : "");
    end_sound_part(&e->run, rule == RULE_REC_012 ? cut->record_at : cut->at);
    if (rule == RULE_REC_012)
        report_late(&e->ck, rule, SHAPE_ANY, cut->record_at + RECORD_LENGTH_AT, hprof_record_name(cut->record_tag),
                    "the length of the heap dump", "a length that ends within a sub-record, followed by 4 GiB or more");
    else
        report_late(&e->ck, rule, SHAPE_ANY, cut->at, path,
                    rule == RULE_REC_014 ? "a sub-record within one HEAP_DUMP_SEGMENT"
                                         : "a sub-record that ends within its record",
                    rule == RULE_REC_014 ? "one that the next segment goes on with; %" PRIu64 " bytes are in this one"
                                         : "one that is longer than the %" PRIu64 " bytes left",
                    cut->had);
}

void settle_crossing(struct engine *e, enum rule rule)
{
    if (e->cut.active) {
        report_crossing(e, rule);
        lose(e);
        if (rule != RULE_REC_014)
            e->framing.crossed_at = e->cut.at;
    }
    drop_crossing(e);
}

/* All parts of the sub-record have passed. It is checked like any other, unless it is too long to be joined. */
static void check_joined(struct engine *e)
{
    struct crossing_subrecord cut = e->cut;
    uint64_t heap_end = e->position.heap_end;
    struct input_window window;

    if (cut.bytes_size < cut.size) {
        settle_crossing(e, RULE_REC_014);
        return;
    }
    report_crossing(e, RULE_REC_014);
    e->cut = (struct crossing_subrecord){0};
    e->run.sum.skipped -= cut.size;
    jumps_join(&e->file.jumps, cut.parts);
    window = input_replace(&e->in, cut.bytes, cut.bytes_size);
    e->in.offset = cut.at;
    e->position.heap_end = cut.record_end;
    e->heap.wrong = cut.before;
    check_subrecord(&e->ck, cut.size);
    e->position.heap_end = heap_end;
    input_restore(&e->in, &window);
    memory_put(&e->run.memory, cut.bytes, cut.capacity);
}

bool crossing_goes_on(struct engine *e, uint64_t length)
{
    size_t most = e->cut.tag == SUB_CLASS_DUMP ? e->run.sizes.class_dump : e->run.sizes.sight;
    bool more = false, goes_on;
    uint64_t size, rest;
    struct sight s;
    uint32_t time;

    if (input_need(&e->in, RECORD_HEADER_SIZE + most + e->run.sizes.sight) <= RECORD_HEADER_SIZE)
        return false;
    time = get_u4(e->in.at + RECORD_TIME_AT);
    input_advance(&e->in, RECORD_HEADER_SIZE);
    size = measure_crossing(e, length, &more);
    rest = more ? length : size - e->cut.passed;
    s = sight_beyond(e, 0);
    goes_on = (more || size) && segment_continues(&s, length, rest);
    if ((rest >= length || rest >= s.size) && !is_time_after(time, e->framing.times[0]))
        goes_on = false;            /* nothing in sight says that this is a segment, nor does its header */
    e->in.at -= RECORD_HEADER_SIZE; /* all of that was in memory */
    e->in.offset -= RECORD_HEADER_SIZE;
    return goes_on;
}

bool pass_crossing_part(struct engine *e, uint64_t length)
{
    struct sight s = sight_beyond(e, 0);
    bool more = false;
    uint64_t size, rest;

    if (!begin_unit(e, s.size < length ? s.size : length))
        return false;
    size = e->cut.size ? e->cut.size : measure_crossing(e, length, &more);
    rest = size ? size - e->cut.passed : 0;
    s = sight_beyond(e, 0);
    if (more && segment_continues(&s, length, length)) /* too short to know the size, so all of it belongs to the sub-record */
        return pass_part(e, length);
    if (!rest || !segment_continues(&s, length, rest)) {
        settle_crossing(e, RULE_REC_015);
        return true;
    }
    if (!begin_unit(e, rest < length ? rest : length))
        return false;
    e->cut.size = size;
    if (!pass_part(e, rest < length ? rest : length)) {
        settle_crossing(e, RULE_REC_014);
        return false;
    }
    if (rest <= length)
        check_joined(e);
    return true;
}
