/* See repair.h. Records and sub-records are copied by their lengths. Where these fail, the check of the input has decided where
 * reading goes on (r->jumps): what lies between is left out. */
#include "repair/repair_copy.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "format/subrecord.h"
#include "format/tags.h"
#include "input/file_kind.h"
#include "input/transfer.h"

/* ---- Heap dump records ---- */

/* Bytes from an offset of the input on cannot be read, or are missing in the record that ends there. If the heap dump goes on after
 * them, it does so here. */
static void note_gap(struct repair *r, uint64_t from, bool goes_on)
{
    bool is_after_root = r->last.end == from && is_root_tag(r->last.tag);

    r->heap.has_gap = true;
    r->result.root_gaps += is_after_root || (goes_on && input_need(&r->in, 1) && is_root_tag(*r->in.at));
}

/* The length or the number of elements that an object of this size has, and where it is stated: an offset from the tag. */
struct stated {
    uint64_t at, number;
};

static struct stated stated_size(const uint8_t *p, uint64_t size, unsigned id_size)
{
    uint64_t bytes;

    switch (*p) {
    case SUB_INSTANCE_DUMP:
        bytes = size - 1 - SIZE_OF(INSTANCE_DUMP, id_size);
        return (struct stated){1 + OFFSET_OF(INSTANCE_DUMP, bytes, id_size), bytes};
    case SUB_OBJECT_ARRAY_DUMP:
        bytes = size - 1 - SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
        return (struct stated){1 + OFFSET_OF(OBJECT_ARRAY_DUMP, elements, id_size), bytes / id_size};
    default:
        bytes = size - 1 - SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size);
        return (struct stated){1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, elements, id_size),
                               bytes / type_size(p[SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size)], id_size)};
    }
}

/* Whether a class has a stand-in since an earlier pass. In the pass that puts that in, what is here is what it stands for. */
static bool is_stand_in(const struct repair *r, uint64_t class_id)
{
    uint64_t pass;

    return keymap_get(&r->stood_in, stand_in_key(r, class_id), &pass) && pass < r->pass;
}

/* A stand-in that breaks a rule itself: nothing of the dump is left out. */
static void take_back_stand_in(struct repair *r, uint64_t size)
{
    input_skip(&r->in, size);
    damage_note_shift(r, copy_size(r));
    r->result.stand_in_classes--;
    r->has_changed = r->heap.is_reduced = true;
}

/* Whether bytes of the sub-record are not known; or it is a root, which many bytes resemble, after such a sub-record. */
static bool is_lost_in_member(struct repair *r, enum left_out_kind kind, uint64_t size)
{
    bool is_lost = unknown_is_in_next(r, size) || unknown_repeats_root(r, size), was_unsure = r->is_unsure;

    r->is_unsure = is_lost;
    return is_lost || (was_unsure && kind == LEFT_SUBRECORD);
}

/* Copies a sub-record. Its size is not the one that it says if it `is_mended`. */
static void copy_subrecord(struct repair *r, uint64_t size, bool is_mended)
{
    size_t want = 1 + SIZE_OF(CLASS_DUMP, r->id_size), there = input_need(&r->in, want);
    struct cursor c = {r->in.at, r->in.at + (there < want ? there : want)};
    size_t trace = trace_of_subrecord(r);
    uint64_t key, start = copy_size(r), copied_bytes;
    enum left_out_kind kind = kind_of(r, c, &key);
    bool is_cleared = has_missing_trace(r, trace),
         is_bad = needs_what_is_missing(r, c) || (kind == LEFT_INSTANCE && !key && r->needs_classes);
    uint8_t tag = *r->in.at;
    struct other_class other;
    bool gets_other = is_misfit(r, c, &other);
    struct stated stated = is_mended ? stated_size(r->in.at, size, r->id_size) : (struct stated){0};

    if (!r->is_first_pass && kind == LEFT_CLASS && input_need(&r->in, (size_t)size) >= size)
        is_bad |= missing_in_class(r, r->in.at);
    is_bad |= (gets_other && !other.id) || is_lost_in_member(r, kind, size);
    if (is_bad || (is_cleared ? is_unwanted_without_trace(r, size, trace) : is_unwanted(r, size))) {
        if (!r->is_first_pass && keymap_get(&r->twice_at, r->in.offset + 1, NULL)) {
            kind = LEFT_TWICE;
            key = 0;
        }
        if (kind == LEFT_CLASS && is_stand_in(r, key))
            take_back_stand_in(r, size);
        else
            leave_out(r, kind, key, input_skip(&r->in, size));
        return;
    }
    if (kind == LEFT_PRIMITIVE_ARRAY)
        r->array_types |= 1U << key;
    else if (kind == LEFT_CLASS)
        keymap_put(&r->dumped_classes, key, 0);
    else if (kind == LEFT_SUBRECORD)
        threads_note_root(r);
    copied_bytes = copy_input(r, size);
    if (copied_bytes < size) {
        copy_cut(r, start);
        leave_out(r, kind, key, copied_bytes);
        r->heap.is_truncated = true;
        return;
    }
    r->last = (struct copied){.body = start + 1, .end = r->in.offset, .tag = tag};
    if (is_cleared)
        clear_trace(r, start, trace);
    if (gets_other)
        copy_id(r, start + other.at, other.id);
    r->has_changed |= gets_other;
    if (is_mended) {
        copy_number(r, start + stated.at, stated.number);
        r->result.sizes_mended++;
        r->has_changed = true;
    }
}

/* Leaves out the next sub-record; UINT64_MAX for one that the end of the dump truncates. */
static void drop_subrecord(struct repair *r, uint64_t size)
{
    size_t want = 1 + SIZE_OF(CLASS_DUMP, r->id_size), there = input_need(&r->in, want);
    struct cursor c = {r->in.at, r->in.at + (there < want ? there : want)};
    uint64_t key, skipped;
    enum left_out_kind kind = kind_of(r, c, &key);

    skipped = input_skip(&r->in, size);
    leave_out(r, kind, key, skipped);
    r->heap.is_truncated |= skipped < size;
}

static void repair_heap(struct repair *r)
{
    uint64_t length = get_u4(r->in.at + RECORD_LENGTH_AT);
    uint8_t tag = *r->in.at;

    if (is_unwanted(r, RECORD_HEADER_SIZE)) {
        drop_record(r, tag, RECORD_HEADER_SIZE + length);
        return;
    }
    if (tag == TAG_HEAP_DUMP_SEGMENT)
        stand_ins_put_segment(r);
    begin_heap(r, r->in.at);
    copy_input(r, RECORD_HEADER_SIZE);
    if (tag == TAG_HEAP_DUMP && r->is_series)
        make_segment(r);
    r->heap.end = r->in.offset + length;
    if (tag == TAG_HEAP_DUMP && stand_ins_put_subrecords(r))
        r->heap.is_mended = true;
}

/* ---- Jumps: where the check of the input went on after a failure ---- */

/* Whether a jump begins here; *jump is the first one from here on. */
static bool jump_is_here(struct repair *r, struct jump *jump)
{
    return jumps_here(&r->jumps, &r->next_jump, r->in.offset, jump);
}

/* Sub-records follow that belong to no heap dump record by its length. The last one of the copy takes them if nothing follows it
 * there; else they get a record of their own, in place of bytes that were left out. Where those are too few for its header, and for
 * the end of a series that is made, the first sub-records are left out too. False if there is no room even so. */
static bool reopen_heap(struct repair *r, const struct jump *here)
{
    uint8_t header[RECORD_HEADER_SIZE] = {r->version == V101 ? TAG_HEAP_DUMP : TAG_HEAP_DUMP_SEGMENT};
    bool goes_on = r->version != V101 && r->heap.first >> 24 == TAG_HEAP_DUMP && here->from < r->heap.end;
    uint64_t end = here->heap_end, needed = goes_on || r->is_made_series ? 2 * RECORD_HEADER_SIZE : RECORD_HEADER_SIZE;
    struct measure m;
    struct jump jump;

    if (!r->heap.is_open && r->heap.copied_until != copy_size(r)) {
        while (copy_room(r) < needed && r->in.offset < end && !jump_is_here(r, &jump) && repair_measure_next(r, &m))
            drop_subrecord(r, m.size);
        if (copy_room(r) < needed)
            return false;
        if (goes_on)
            make_series(r);
        begin_heap(r, header);
        r->heap.is_mended = true;
        copy_put(r, header, sizeof header);
        r->result.headers_made++;
    }
    open_heap(r, end);
    return true;
}

/* Copies the part of a sub-record that crosses the end of its segment; the part after it follows in the next segment, whose rest
 * then belongs to the present heap dump record. */
static void copy_part(struct repair *r, const struct jump *jump)
{
    struct jump next = jumps_at(&r->jumps, r->next_jump + 1);

    copy_input(r, jump->to - jump->from);
    r->next_jump++;
    if (next.part != jump->part + 1) {
        open_heap(r, jump->heap_end > jump->to ? jump->heap_end : jump->to);
        r->result.joined++;
        return;
    }
    while (!r->error && r->in.offset < next.from &&
           input_skip(&r->in, RECORD_HEADER_SIZE)) /* headers, also of empty segments */
        continue;
}

static void follow_jump(struct repair *r, const struct jump *jump)
{
    uint64_t size = jump->to - jump->from, own;
    bool goes_on = jump->to != UINT64_MAX && jump->heap_end > jump->to; /* with sub-records */

    if (jump->part) {
        copy_part(r, jump);
        return;
    }
    r->next_jump++;
    if (size)
        doubt_note(r, jump->from);
    if (!r->heap.is_open && is_record(r, *r->in.at) && size > RECORD_HEADER_SIZE && jump->to != UINT64_MAX && !goes_on &&
        input_need(&r->in, RECORD_HEADER_SIZE) >= RECORD_HEADER_SIZE && length_by_kind(r, &own) &&
        own == size - RECORD_HEADER_SIZE) {
        repair_record(r, size);
        return;
    }
    if (jump->to == UINT64_MAX && is_header(r))
        r->result.other_dump = r->in.offset;
    leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, jump->to == UINT64_MAX ? UINT64_MAX : size));
    if (jump->to == UINT64_MAX)
        r->heap.is_truncated |= r->heap.is_open || r->is_series || !r->heap_dump; /* not what follows a complete heap dump */
    else if (size || !r->heap.has_gap)
        note_gap(r, jump->from, goes_on);
    if (goes_on) {
        if (!reopen_heap(r, jump)) {
            struct jump next = jumps_at(&r->jumps, r->next_jump);

            leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, next.from == NO_JUMP ? UINT64_MAX : next.from - r->in.offset));
        }
    } else {
        close_heap(r);
    }
}

/* Up to here objects need no look: no jump begins, no error is, and the heap dump record does not end. */
static uint64_t plain_until(struct repair *r)
{
    struct jump jump;
    uint64_t until = r->heap.end;

    if (r->missing_traces.count || r->missing_classes.count || r->misfits[MISFIT_ARRAY].classes.count ||
        r->misfits[MISFIT_INSTANCE].classes.count)
        return 0;
    jump_is_here(r, &jump);
    if (jump.from < until)
        until = jump.from;
    if (unknown_next(r) < until)
        until = unknown_next(r);
    is_unwanted(r, 0); /* passes the offsets before */
    if (r->next_offset < r->offset_count && r->offsets[r->next_offset] < until)
        until = r->offsets[r->next_offset];
    return until;
}

/* Copies the objects in memory that are copied as they are. */
static void copy_objects(struct repair *r)
{
    uint64_t until = plain_until(r), left = until > r->in.offset ? until - r->in.offset : 0;
    const uint8_t *const from = r->in.at, *p = from, *last = from;
    const uint8_t *end = left < (size_t)(r->in.end - from) ? from + left : r->in.end;
    struct measure m;

    while (is_whole_object(p, end, r->id_size, &m)) {
        if (*p == SUB_PRIMITIVE_ARRAY_DUMP)
            r->array_types |= 1U << p[SIZE_OF(PRIMITIVE_ARRAY_DUMP, r->id_size)];
        else if (*p == SUB_INSTANCE_DUMP && !get_id(p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, r->id_size), r->id_size))
            break;
        last = p;
        p += m.size;
    }
    if (p == from)
        return;
    r->last = (struct copied){
        .body = copy_size(r) + (uint64_t)(last - from) + 1, .end = r->in.offset + (uint64_t)(p - from), .tag = *last};
    copy_input(r, (uint64_t)(p - from));
}

/* Copies the next sub-records, or leaves them out where reading failed. */
static void copy_next_subrecords(struct repair *r)
{
    struct jump jump;
    struct measure m;
    bool is_measured;

    copy_objects(r);
    if (r->in.offset >= r->heap.end)
        return;
    if (jump_is_here(r, &jump) && jump.failed) {
        follow_jump(r, &jump);
        return;
    }
    if (jump.from == r->in.offset) {
        r->next_jump++;
        copy_subrecord(r, jump.to - jump.from, true);
        return;
    }
    is_measured = repair_measure_next(r, &m);
    if ((!is_measured || m.size > r->heap.end - r->in.offset) &&
        jumps_go_on(&r->jumps, &r->next_jump, r->in.offset, r->heap.end, &jump))
        follow_jump(r, &jump);
    else if (is_measured)
        copy_subrecord(r, m.size, false);
    else
        drop_subrecord(r, UINT64_MAX);
}

/* ---- The header ---- */

static bool copy_header(struct repair *r)
{
    if (!is_header(r))
        return false;
    r->id_size = get_u4(r->in.at + HEADER_STRING_SIZE);
    r->version = (enum version)(r->in.at[HEADER_STRING_SIZE - 2] - '0');
    if (r->takes_names && r->has_names)
        names_clear(&r->names);
    if (r->takes_names)
        names_init(&r->names, &r->memory, &r->key, r->id_size);
    r->has_names = true;
    copy_input(r, HEADER_SIZE);
    if (r->version == V101 && r->has_segments) {
        enum { LAST_FOUR = HEADER_STRING_SIZE - 5 }; /* ".0.1" */

        r->version = V102;
        r->result.version_mended = true;
        copy_number(r, LAST_FOUR, get_u4((const uint8_t *)".0.2"));
    }
    return true;
}

/* ---- The whole ---- */

/* Two dumps are not one heap: what follows the header of another dump is left out. */
static void leave_out_other_dump(struct repair *r)
{
    close_heap(r);
    r->result.other_dump = r->in.offset;
    leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, UINT64_MAX));
}

static void copy_next_record(struct repair *r)
{
    uint64_t before = copy_size(r);
    uint8_t tag = *r->in.at;
    struct jump jump;

    if (jump_is_here(r, &jump) && jump.failed) {
        follow_jump(r, &jump);
    } else if (input_need(&r->in, RECORD_HEADER_SIZE) < RECORD_HEADER_SIZE) {
        leave_out(r, LEFT_BYTES, 0, input_skip(&r->in, UINT64_MAX));
    } else if (is_heap_dump_record(tag) && is_record(r, tag)) {
        if (tag == TAG_HEAP_DUMP)
            end_made_series(r);
        r->heap_dump += !r->is_series;
        repair_heap(r);
    } else {
        repair_record(r, RECORD_HEADER_SIZE + (uint64_t)get_u4(r->in.at + RECORD_LENGTH_AT));
        if (tag == TAG_HEAP_DUMP_END && copy_size(r) > before) {
            r->is_series = r->is_made_series = false;
            r->end_at = before;
        }
    }
}

static void copy_next(struct repair *r)
{
    struct jump jump;

    if (r->heap.is_open && r->in.offset < r->heap.end) {
        copy_next_subrecords(r);
        return;
    }
    close_heap(r);
    if (r->in.offset > HEADER_SIZE || is_heap_dump_record(*r->in.at)) /* the first record shows who made the dump */
        stand_ins_put_definitions(r);
    if (is_header(r) && !(jump_is_here(r, &jump) && jump.to != UINT64_MAX))
        leave_out_other_dump(r);
    else
        copy_next_record(r);
    damage_note_shift(r, copy_size(r));
}

static void copy_to_end(struct repair *r)
{
    while (!r->error && !r->memory.exhausted && repair_goes_on(r) && input_need(&r->in, 1) > 0)
        copy_next(r);
    r->heap.is_truncated |= r->heap.is_open && !r->heap.has_gap && r->in.offset < r->heap.end;
    close_heap(r);
    stand_ins_put_definitions(r); /* after a single record */
    damage_end_pass(r);
}

bool repair_copy(struct repair *r)
{
    r->written = r->buffered = 0;
    r->next_offset = r->next_jump = r->heap_dump = 0;
    r->heap = (struct heap_record){.copied_until = UINT64_MAX};
    r->has_changed = r->is_series = r->is_made_series = false;
    r->array_types = 0;
    threads_begin_pass(r);
    r->end_at = UINT64_MAX;
    damage_begin_pass(r);
    if (!copy_header(r)) {
        size_t n = input_need(&r->in, TRANSFER_SIGHT);
        const char *kind = find_file_kind(r->in.at, n).name;

        snprintf(r->result.failure, sizeof r->result.failure, "%s%s", kind ? "not an HPROF dump: " : "",
                 kind ? kind : "the header of the dump is not valid, so nothing can be read");
        return false;
    }
    copy_to_end(r);
    return repair_is_good(r);
}

bool repair_copy_part(struct repair *r)
{
    r->next_offset = r->next_jump = 0;
    r->heap = (struct heap_record){.copied_until = UINT64_MAX};
    damage_begin_pass(r);
    if (copy_size(r) == r->end_at + RECORD_HEADER_SIZE) { /* it ended the heap dump, which goes on */
        copy_cut(r, r->end_at);
        r->is_series = true;
    }
    input_skip(&r->in, HEADER_SIZE);
    damage_note_shift(r, copy_size(r));
    copy_to_end(r);
    return repair_is_good(r);
}

bool repair_copy_end(struct repair *r)
{
    if (r->is_first_pass) {
        r->result.root_gaps += r->is_series || r->heap.is_truncated;
        r->result.unread_threads = threads_count_lost(r);
    }
    if (r->is_series && r->is_first_pass)
        put_heap_dump_end(r);
    copy_flush(r);
    if (!r->error && ftruncate(r->to, (off_t)r->written) != 0)
        r->error = errno;
    return repair_is_good(r);
}
