/* The walk of a reader: by lengths, and where the check did not go on at the end of an item, by its jumps. */
#include <errno.h>
#include <string.h>

#include "base/versioned.h"
#include "format/tags.h"
#include "input/next_item.h"
#include "read/reader.h"

enum { HEAD_MOST = 64, STRING_MOST = 1 << 20 };

/* ---- Bytes ---- */

size_t reader_see(struct hprof_reader *r, uint64_t offset, size_t n)
{
    struct input *in = &r->in;
    size_t there;

    if (offset > in->offset) {
        uint64_t ahead = offset - in->offset;

        if (input_skip(in, ahead) < ahead)
            return 0;
    } else if (offset < in->offset && !(in->source.seekable ? input_seek(in, offset) : input_go_back(in, offset))) {
        return 0;
    }
    there = input_need(in, n);
    return there < n ? there : n;
}

/* ---- Jumps ---- */

/* Whether a jump begins at the next item; *index is then its index. */
static bool jump_is_here(struct hprof_reader *r, size_t *index)
{
    const struct jumps *jumps = &r->dump->jumps;
    const uint64_t at = r->next.at;

    if (r->clear_from <= at && at < r->clear_to)
        return false;
    *index = jumps_find(jumps, at);
    r->clear_from = at;
    r->clear_to = jumps_at(jumps, *index).from;
    return r->clear_to == at;
}

/* ---- Items ---- */

static void begin_item(struct hprof_reader *r, enum hprof_item_kind kind, uint64_t size)
{
    r->item = (struct hprof_item){.struct_size = sizeof r->item,
                                  .kind = kind,
                                  .offset = r->next.at,
                                  .size = size,
                                  .heap_dump = r->next.heap_dump,
                                  .begun = r->next.begun,
                                  .series = r->next.series,
                                  .record = r->next.heap_end ? r->next.heap_record : 0,
                                  .record_end = r->next.heap_end};
}

/* Bytes from here on are passed over; all that follow, if size is UINT64_MAX. */
static int read_damage(struct hprof_reader *r, uint64_t size, const char *what)
{
    if (size == UINT64_MAX) {
        reader_see(r, r->next.at, 0);
        size = input_skip(&r->in, UINT64_MAX);
        r->next.is_over = true;
    }
    begin_item(r, HPROF_ITEM_DAMAGE, size);
    r->item.damage = what;
    r->next.at += size;
    return reader_check(r) ? reader_check(r) : 1;
}

/* ---- Sub-records ---- */

/* Measures the sub-record here. NULL, or what is wrong. */
static const char *measure_here(struct hprof_reader *r, uint64_t left, struct walk_item *item)
{
    if (!reader_see(r, r->next.at, 1))
        return "the dump ends within a sub-record";
    switch (next_subrecord(&r->in, left, r->dump->id_size, r->dump->format, item)) {
    case FRAME_RIGHT:
        return NULL;
    case FRAME_CROSSES:
        return "a sub-record crosses the end of its heap dump record";
    case FRAME_TAG:
        return "a tag that no sub-record has";
    case FRAME_TYPE:
        return "a value of an undefined type";
    case FRAME_UNSEEN:
    case FRAME_TRUNCATED:
        break;
    }
    return "the dump ends within a sub-record";
}

static int finish_subrecord(struct hprof_reader *r, uint64_t size)
{
    const uint8_t tag = *r->in.at;

    if (size > r->dump->size - r->next.at)
        return read_damage(r, UINT64_MAX, "the dump ends within a sub-record");
    begin_item(r, HPROF_ITEM_SUBRECORD, size);
    if (tag == SUB_CLASS_DUMP) {
        size_t there = reader_see(r, r->next.at, (size_t)size);

        if (there < size)
            return reader_check(r) ? reader_check(r) : read_damage(r, UINT64_MAX, "the dump ends within a sub-record");
        know_class_dump(r, r->in.at, there);
    }
    read_subrecord_fields(r, r->in.at, (size_t)(r->in.end - r->in.at));
    r->next.at += size;
    return reader_check(r) ? reader_check(r) : 1;
}

/* A sub-record that crosses segments: its parts are joined. */
static int read_joined(struct hprof_reader *r, size_t first)
{
    const struct jumps *jumps = &r->dump->jumps;
    size_t parts = 0, size = 0;
    uint64_t end = 0, heap_end = 0;
    struct jump jump;

    for (; (jump = jumps_at(jumps, first + parts)).part == parts + 1; parts++) {
        size += (size_t)(jump.to - jump.from);
        end = jump.to;
        heap_end = jump.heap_end;
    }
    r->joined = size <= JOINED_MOST ? memory_get(&r->dump->memory, size) : NULL;
    if (!r->joined)
        return reader_check(r) ? reader_check(r) : read_damage(r, end - r->next.at, "a sub-record in too many parts");
    r->joined_size = size;
    size = 0;
    for (size_t part = 0; part < parts; part++) {
        size_t n;

        jump = jumps_at(jumps, first + part);
        n = (size_t)(jump.to - jump.from);
        if (reader_see(r, jump.from, n) < n)
            return reader_check(r) ? reader_check(r) : read_damage(r, UINT64_MAX, "the dump ends within a sub-record");
        memcpy(r->joined + size, r->in.at, n);
        size += n;
    }
    begin_item(r, HPROF_ITEM_SUBRECORD, end - r->next.at);
    if (*r->joined == SUB_CLASS_DUMP)
        know_class_dump(r, r->joined, size);
    read_subrecord_fields(r, r->joined, size);
    r->item.body = size - r->item.head;
    r->next.at = end;
    r->next.heap_end = heap_end > end ? heap_end : end;
    return 1;
}

/* Nothing is skipped: items of another kind follow. */
static bool is_empty(struct jump jump)
{
    return jump.from == jump.to && jump.failed;
}

/* After a jump: sub-records follow, up to the end of their record, or a record. */
static void enter_after(struct hprof_reader *r, const struct jump *jump)
{
    if (jump->heap_end <= jump->to) {
        r->next.heap_end = 0;
        return;
    }
    r->next.heap_record = r->next.heap_end ? r->next.heap_record : 0;
    r->next.heap_end = jump->heap_end;
    if (!r->next.heap_dump)
        r->next.heap_dump = r->next.begun = 1;
}

/* The check did not go on at the end of an item. 0 if this is no item, and only the context changes. */
static int follow_jump(struct hprof_reader *r, size_t index)
{
    const struct jump jump = jumps_at(&r->dump->jumps, index);
    uint64_t size = jump.to == UINT64_MAX ? UINT64_MAX : jump.to - jump.from;
    int result = 0;

    if (jump.part == 1)
        return read_joined(r, index);
    if (!jump.failed) { /* its length or its number of elements is wrong */
        if (reader_see(r, r->next.at, HEAD_MOST) == 0)
            return read_damage(r, UINT64_MAX, "the dump ends within a sub-record");
        result = finish_subrecord(r, size);
        if (result == 1 && r->item.elements)
            r->item.elements = (uint32_t)(r->item.body / type_size(r->item.element_type, r->dump->id_size));
        return result;
    }
    if (size)
        result = read_damage(r, size, "malformed bytes, which were skipped");
    if (jump.to != UINT64_MAX)
        enter_after(r, &jump);
    return result;
}

static int read_subrecord(struct hprof_reader *r)
{
    struct walk_item item;
    const char *wrong = measure_here(r, r->next.heap_end - r->next.at, &item);

    if (!wrong)
        return finish_subrecord(r, item.size);
    return reader_check(r) ? reader_check(r) : read_damage(r, UINT64_MAX, wrong);
}

/* What read_subrecord() does with nearly all instances and arrays: the head is in memory, and no jump begins there. False if this
 * is another item. */
static bool read_object(struct hprof_reader *r)
{
    const struct reading *next = &r->next;
    const uint64_t at = next->at, ahead = at - r->in.offset;
    const size_t there = (size_t)(r->in.end - r->in.at);

    if (at < r->clear_from || at >= r->clear_to || at >= next->heap_end || at < r->in.offset || ahead >= there || next->is_over)
        return false;
    begin_item(r, HPROF_ITEM_SUBRECORD, 0);
    if (!read_object_fields(r->in.at + ahead, there - (size_t)ahead, r->dump->id_size, &r->item) ||
        (r->item.tag == SUB_PRIMITIVE_ARRAY_DUMP && !type_is_primitive(r->item.element_type)) ||
        r->item.size > next->heap_end - at || r->item.size > r->dump->size - at)
        return false;
    input_advance(&r->in, (size_t)ahead);
    r->next.at += r->item.size;
    return true;
}

bool read_subrecord_at(struct hprof_reader *r, const struct reading *where)
{
    size_t jump;
    bool jumps;

    drop_joined(r);
    r->next = *where;
    jumps = jump_is_here(r, &jump) && !is_empty(jumps_at(&r->dump->jumps, jump));
    return (jumps ? follow_jump(r, jump) : read_subrecord(r)) == 1 && r->item.kind == HPROF_ITEM_SUBRECORD;
}

/* ---- Records ---- */

/* A record of 1.0.1 with the tag of a segment, which 1.0.1 does not define: the check read it as one if it began with a sub-record,
 * or if reading failed there. */
static bool is_of_no_version(struct hprof_reader *r, uint8_t tag, uint64_t length)
{
    const struct shared_dump *d = r->dump;
    uint64_t body = r->next.at + RECORD_HEADER_SIZE;

    return d->format == V101 && tag == TAG_HEAP_DUMP_SEGMENT && length &&
           reader_see(r, r->next.at, RECORD_HEADER_SIZE + 1) > RECORD_HEADER_SIZE &&
           !is_subrecord_tag(r->in.at[RECORD_HEADER_SIZE]) && jumps_at(&d->jumps, jumps_find(&d->jumps, body)).from != body;
}

static void enter_heap_record(struct hprof_reader *r, uint8_t tag, uint64_t length)
{
    struct reading *next = &r->next;

    next->heap_dump = tag == TAG_HEAP_DUMP_SEGMENT && next->series ? next->series : ++next->begun;
    if (tag == TAG_HEAP_DUMP_SEGMENT)
        next->series = next->heap_dump;
    next->heap_record = next->at;
    next->at += RECORD_HEADER_SIZE;
    next->heap_end = length ? next->at + length : 0;
}

static int read_record(struct hprof_reader *r)
{
    size_t there = reader_see(r, r->next.at, RECORD_HEADER_SIZE), want;
    uint64_t length;
    uint8_t tag;

    if (there < RECORD_HEADER_SIZE)
        return reader_check(r) ? reader_check(r)
               : there         ? read_damage(r, UINT64_MAX, "the dump ends within the header of a record")
                               : 0;
    tag = *r->in.at;
    length = get_u4(r->in.at + RECORD_LENGTH_AT);
    begin_item(r, HPROF_ITEM_RECORD, RECORD_HEADER_SIZE + length);
    r->item.tag = tag;
    r->item.head = RECORD_HEADER_SIZE;
    r->item.body = length;
    r->item.time = get_u4(r->in.at + RECORD_TIME_AT);
    if (is_heap_dump_record(tag) && !is_of_no_version(r, tag, length)) {
        enter_heap_record(r, tag, length);
        r->item.heap_dump = r->next.heap_dump;
        return 1;
    }
    if (r->item.size > r->dump->size - r->next.at)
        return read_damage(r, UINT64_MAX, "the dump ends within a record");
    if (tag == TAG_HEAP_DUMP_END)
        r->next.series = 0;
    want = RECORD_HEADER_SIZE + (size_t)(tag == TAG_UTF8 && length <= STRING_MOST + 8 ? length
                                         : length < HEAD_MOST                         ? length
                                                                                      : HEAD_MOST);
    there = reader_see(r, r->next.at, want);
    if (there < want)
        return reader_check(r) ? reader_check(r) : read_damage(r, UINT64_MAX, "the dump ends within a record");
    read_record_fields(r, there);
    r->next.at += r->item.size;
    return reader_check(r) ? reader_check(r) : 1;
}

/* ---- The walk ---- */

/* Where the next item begins, the dump may have ended. */
static int miss_bytes(struct hprof_reader *r)
{
    const bool is_item = r->item.kind && r->item.kind != HPROF_ITEM_OBJECTS;
    const uint64_t end = r->in.offset, from = end < r->next.at && is_item ? r->item.offset : end;

    r->next.is_over = true;
    if (reader_check(r) || (from == end && !input_ended_by_fault(&r->in)))
        return reader_check(r);
    r->next.at = end;
    begin_item(r, HPROF_ITEM_DAMAGE, end - from);
    r->item.offset = from;
    r->item.damage = input_ended_by_fault(&r->in) ? "the gzip file is damaged, and what follows is lost"
                                                  : "the dump ends within the last item";
    return 1;
}

int read_next(struct hprof_reader *r)
{
    int result = 0;

    drop_joined(r);
    if (read_object(r))
        return 1;
    while (!result && !r->next.is_over) {
        if (r->next.heap_end && r->next.at >= r->next.heap_end)
            r->next.heap_end = 0;
        if (reader_see(r, r->next.at, 1) == 0)
            return miss_bytes(r);
        size_t index = 0;
        bool jumps = jump_is_here(r, &index);

        if (jumps) {
            struct jump jump = jumps_at(&r->dump->jumps, index);

            if (is_empty(jump)) {
                enter_after(r, &jump);
                jumps = false;
            }
        }
        result = jumps ? follow_jump(r, index) : r->next.heap_end ? read_subrecord(r) : read_record(r);
        if (!result && !jumps)
            break;
    }
    return result;
}

int hprof_next(struct hprof_reader *r, struct hprof_item *item)
{
    int result;

    if (reader_ready(r))
        return reader_ready(r);
    if (!is_versioned(item))
        return reader_fail(r, HPROF_USAGE, not_initialised);
    result = read_next(r);
    if (result == 1)
        give_versioned(item, &r->item, sizeof r->item);
    else
        r->item.kind = 0;
    return result;
}

/* ---- Counted objects ---- */

/* The counted objects that follow by their lengths; NULL if none do. */
static const struct hprof_counted *counted_here(const struct hprof_reader *r)
{
    const struct shared_dump *d = r->dump;
    const uint64_t at = r->next.at, left = r->next.heap_end > at ? r->next.heap_end - at : 0;
    const struct hprof_counted *counted = d->counted && left && !r->next.is_over ? counted_at(d->counted, at) : NULL;

    if (!counted || counted->size > left || counted->size > d->size - at)
        return NULL;
    return jumps_at(&d->jumps, jumps_find(&d->jumps, at)).from < at + counted->size ? NULL : counted;
}

int hprof_next_counted(struct hprof_reader *r, struct hprof_item *item, struct hprof_counted *to)
{
    const struct hprof_counted *counted = reader_ready(r) ? NULL : counted_here(r);

    if (!counted)
        return hprof_next(r, item);
    drop_joined(r);
    begin_item(r, HPROF_ITEM_OBJECTS, counted->size);
    r->item.body = counted->size;
    r->next.at += counted->size;
    reader_give(r, item, &r->item, sizeof r->item);
    return reader_give(r, to, counted, sizeof *counted);
}

int hprof_seek(struct hprof_reader *r, const struct hprof_item *to)
{
    struct hprof_item own;
    const char *reason = to ? take_versioned(&own, sizeof own, to) : NULL;

    if (reader_ready(r))
        return reader_ready(r);
    if (reason || !r->in.source.seekable)
        return reader_fail(r, HPROF_USAGE, reason ? reason : "this source can be read only once");
    drop_joined(r);
    r->item.kind = 0;
    r->next = (struct reading){.at = HEADER_SIZE};
    if (to)
        r->next = (struct reading){.at = own.offset,
                                   .heap_record = own.record,
                                   .heap_end = own.record_end,
                                   .heap_dump = own.heap_dump,
                                   .begun = own.begun,
                                   .series = own.series};
    return reader_check(r) ? reader_check(r) : 1;
}
