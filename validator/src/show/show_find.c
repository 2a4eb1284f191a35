/* See show.h. One walk over the records finds the offset and the names of classes, a second one the items around the offset. Both
 * replay the jumps of the check, once it was asked; before that they notice where it might read in another way. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/recovery.h"
#include "format/tags.h"
#include "show/show.h"

enum {
    /* After a failure, recovery may take back the last sub-records (MARKS in engine.h) and records before it. */
    TAKEN_BACK = 8,
    SEEN_OF_RECORD = 256
};

struct cursor show_bytes(struct show *s, uint64_t offset, size_t n)
{
    size_t there;

    if (!input_seek(&s->in, offset))
        return (struct cursor){NULL, NULL};
    there = input_need(&s->in, n);
    return (struct cursor){s->in.at, s->in.at + (there < n ? there : n)};
}

/* ---- What the check may read in another way ---- */

/* Whether the check may not go on where the length of the record here leads. */
static bool is_suspect_record(struct show *s, const struct walk_item *record)
{
    size_t there = look_at(&s->in, SEEN_OF_RECORD, UINT64_MAX);
    struct sight body = {s->in.at + RECORD_HEADER_SIZE, there - RECORD_HEADER_SIZE, there < SEEN_OF_RECORD, s->replay.id_size,
                         s->replay.version};
    uint64_t least, right = right_length(record->tag, &body, &least);

    if (!is_record_tag(record->tag) || record->length < least || (right != LENGTH_ANY && right != record->length))
        return true;
    if (is_heap_dump_record(record->tag) && !record->length) /* its length may never have been filled in */
        return subrecord_follows(&body);
    return false;
}

/* Why the item here cannot be read by its length. */
static void explain(const struct replay *r, const struct replay_item *read, char *to, size_t size)
{
    struct replay lengths = *r;
    struct jumps none = {0};
    struct replay_item here = *read;

    if (read->kind == REPLAY_DAMAGE) { /* why lengths do not lead on from here */
        lengths.jumps = &none;
        lengths.next_jump = 0;
        replay_next(&lengths, &here);
    }
    if (here.kind == REPLAY_SUBRECORD && here.frame == FRAME_TAG)
        snprintf(to, size, "no sub-record has the tag 0x%02x", here.head.tag);
    else if (here.frame == FRAME_TYPE)
        snprintf(to, size, "a value of undefined type, whose size is unknown");
    else if (here.frame == FRAME_CROSSES)
        snprintf(to, size, "the sub-record is longer than the rest of its heap dump record");
    else if (here.frame == FRAME_TRUNCATED)
        snprintf(to, size, "the dump ends within %s",
                 here.kind == REPLAY_SUBRECORD ? "a sub-record" : "the header of a record");
    else if (here.kind == REPLAY_RECORD && !is_record_tag(here.head.tag))
        snprintf(to, size, "no record has the tag 0x%02x", here.head.tag);
    else
        snprintf(to, size, "its length does not lead to %s", here.kind == REPLAY_SUBRECORD ? "a sub-record" : "a record");
}

/* ---- Items ---- */

/* The check found that the record here has another length than it says. */
static bool has_length_of_kind(struct show *s, const struct replay_item *read)
{
    size_t there = look_at(&s->in, SEEN_OF_RECORD, UINT64_MAX);
    struct sight body = {s->in.at + RECORD_HEADER_SIZE, there, false, s->replay.id_size, s->replay.version};
    uint64_t least, right;

    if (replay_is_in_heap(&s->replay) || there < RECORD_HEADER_SIZE || read->size == UINT64_MAX)
        return false;
    body.size -= RECORD_HEADER_SIZE;
    right = right_length(*s->in.at, &body, &least);
    return right != LENGTH_ANY && right + RECORD_HEADER_SIZE == read->size;
}

static void set_damage(struct show *s, const struct replay_item *read, struct item *item)
{
    uint64_t left = s->replay.heap_end - item->offset;

    item->kind = ITEM_DAMAGE;
    if (read->kind == REPLAY_DAMAGE)
        item->size = read->size;
    else
        item->size = read->kind == REPLAY_SUBRECORD ? left : read->head.head;
    if (s->is_checked && item->size >= s->size && s->size > item->offset) /* up to the end of the dump */
        item->size = s->size - item->offset;
    explain(&s->replay, read, item->why, sizeof item->why);
}

bool show_next(struct show *s, struct item *item, struct replay_item *read, bool *is_suspect)
{
    *is_suspect = false;
    if (!s->in.offset) {
        *item = (struct item){.kind = ITEM_HEADER, .size = HEADER_SIZE};
        *read = (struct replay_item){.kind = REPLAY_RECORD, .size = HEADER_SIZE};
        return true;
    }
    if (!replay_next(&s->replay, read))
        return false;
    if (!replay_is_in_heap(&s->replay))
        s->heap = 0;
    else if (!s->heap) /* sub-records of the heap dump record before the damage, or of one whose header was lost */
        s->heap = s->last_heap ? s->last_heap : read->offset;
    *item = (struct item){.offset = read->offset, .size = read->size, .heap = s->heap, .tag = read->head.tag};
    if (read->kind == REPLAY_DAMAGE && has_length_of_kind(s, read)) {
        item->kind = ITEM_RECORD;
        item->length = read->size - RECORD_HEADER_SIZE;
        snprintf(item->why, sizeof item->why, "the length of the record should be %" PRIu64, item->length);
    } else if (read->kind == REPLAY_DAMAGE || read->frame != FRAME_RIGHT) {
        bool has_size = read->kind == REPLAY_SUBRECORD && read->size && read->size != read->head.size;

        *is_suspect = read->frame != FRAME_RIGHT;
        item->kind = ITEM_SUBRECORD;
        if (!has_size) /* the check gave it the size of its class */
            set_damage(s, read, item);
    } else if (read->kind == REPLAY_PART) {
        item->kind = ITEM_PART;
        item->tag = *s->in.at;
        item->part = read->jump.part;
    } else if (read->kind == REPLAY_SUBRECORD) {
        item->kind = ITEM_SUBRECORD;
    } else {
        item->kind = read->kind == REPLAY_HEAP ? ITEM_HEAP : ITEM_RECORD;
        item->length = read->head.length;
        *is_suspect = is_suspect_record(s, &read->head);
    }
    return true;
}

bool show_pass(struct show *s, const struct item *item, const struct replay_item *read)
{
    if (item->kind == ITEM_HEAP)
        s->heap = s->last_heap = item->offset;
    if (item->kind == ITEM_DAMAGE && read->kind != REPLAY_DAMAGE) {
        input_skip(&s->in, item->size); /* reading ends, or goes on after the heap dump record */
        return s->in.offset == item->offset + item->size;
    }
    return replay_pass(&s->replay, read);
}

bool show_seek(struct show *s, uint64_t offset, uint64_t last_heap)
{
    s->heap = 0;
    s->last_heap = last_heap;
    return replay_seek(&s->replay, offset, 0);
}

bool item_has(const struct item *item, uint64_t offset)
{
    return offset >= item->offset && offset - item->offset < (item->kind == ITEM_HEAP ? RECORD_HEADER_SIZE : item->size);
}

/* ---- The records ---- */

/* Adds the name that the record here defines. */
static void add_names(struct show *s, const struct item *item)
{
    size_t want = item->size < NAMES_RECORD_BYTES ? (size_t)item->size : NAMES_RECORD_BYTES, there = input_need(&s->in, want);

    names_add_record(&s->names, (struct cursor){s->in.at, s->in.at + (there < want ? there : want)});
}

void show_find(struct show *s, struct found *f)
{
    uint64_t target = s->asked.offset, after = 0;
    bool heap_is_open = false, goes_on = show_seek(s, 0, 0);

    while (goes_on && !s->memory.exhausted) {
        struct found_record record = {s->in.offset, s->last_heap};
        struct replay_item read;
        struct item item;
        bool is_suspect, is_heap;

        if (!show_next(s, &item, &read, &is_suspect))
            return;
        is_heap = item.kind == ITEM_HEAP;
        if (f->is_found && is_suspect && !s->is_checked)
            return; /* what follows it is only for names */
        s->is_damaged |= is_suspect;
        if (item.kind == ITEM_RECORD)
            add_names(s, &item);
        if (is_heap && (!heap_is_open || item.tag == TAG_HEAP_DUMP) && (!f->is_found || !f->heap_start))
            f->heap_start = item.offset;
        if (!f->is_found)
            f->recent[f->count++ % f->capacity] = record;
        else if (s->in.compressed && ++after > s->asked.around)
            return; /* going on would inflate the rest of the dump */
        heap_is_open = item.tag == TAG_HEAP_DUMP_SEGMENT || (heap_is_open && item.tag != TAG_HEAP_DUMP_END);
        goes_on = show_pass(s, &item, &read) && replay_pass_heap(&s->replay);
        s->is_damaged |= !goes_on && !f->is_found;
        f->is_found |= !goes_on || target < s->in.offset;
    }
}

/* ---- The items around the offset ---- */

size_t show_collect(struct show *s, const struct found *f, struct item *items)
{
    const struct found_record *from = &f->recent[f->count > f->capacity ? f->count % f->capacity : 0];
    size_t around = (size_t)s->asked.around, count = 0, last = SIZE_MAX, ahead = 0;
    bool goes_on = show_seek(s, from->offset, from->last_heap);

    while (goes_on && ahead <= TAKEN_BACK && !s->memory.exhausted) {
        struct replay_item read;
        struct item item;
        bool is_suspect;

        if (!show_next(s, &item, &read, &is_suspect))
            break;
        s->is_damaged |= is_suspect;
        goes_on = show_pass(s, &item, &read);
        s->is_damaged |= !goes_on;
        if (count > last && count - last > around) { /* only to see whether what is shown was read rightly */
            ahead += s->is_checked ? TAKEN_BACK + 1 : 1;
            continue;
        }
        if (last == SIZE_MAX && count > around)
            memmove(items, items + 1, --count * sizeof *items);
        if (!goes_on && item.kind != ITEM_DAMAGE && !s->in.error)
            snprintf(item.why, sizeof item.why, "the dump ends within a %srecord", item.heap ? "sub-" : "");
        items[count++] = item;
        if (item_has(&item, s->asked.offset))
            last = count - 1;
    }
    return count;
}
