/* Arrays whose count is too large (RULES.md M.2): the sub-records after them are taken for their elements. Where such an array
 * ends, another sub-record may begin by chance; then lengths lead on, and the check reports only that objects are missing. Who
 * reads the dump after the check gets them back: an array that holds lost objects ends where they begin. */
#include <string.h>

#include "engine/evidence.h"
#include "engine/go_to_way.h"
#include "format/header.h"
#include "format/tags.h"
#include "reread/reread.h"

enum { MORE_THAN_CHANCE = 4 };

/* The array that is looked at, in terms of what is in sight. */
struct suspect {
    struct engine *e;
    struct sight sight;
    uint64_t first; /* where an element begins, */
    unsigned width; /* and its size */
};

/* Whether an element begins at an offset, and what may be an object that is dumped nowhere else. */
static bool may_begin(const void *context, uint64_t at)
{
    const struct suspect *s = context;
    uint64_t id;

    if (!is_object_tag(s->sight.at[at]) || (at - s->first) % s->width != 0 || s->sight.size - at <= s->sight.id_size)
        return false;
    id = get_id(s->sight.at + at + 1, s->sight.id_size);
    return is_near_classes(&s->e->file, id) && !(id_set_get(&s->e->heap.objects, id) & ID_DEFINED);
}

/* What objects of a chain are to the heap dump so far. */
struct tally {
    uint64_t missing; /* named and not dumped */
    uint64_t defined;
    uint64_t unnamed;
};

/* Whether they are lost objects. The payload of a primitive array may be a dump, too: of the same heap, then its objects are
 * defined; or of another heap, then few are named, and missing ones are among them as rarely as defined ones. */
static bool are_lost(const struct engine *e, uint8_t tag, const struct tally *t)
{
    const uint64_t *counts = e->run.sum.subrecord_counts;
    double all =
        (double)counts[SUB_INSTANCE_DUMP] + (double)counts[SUB_OBJECT_ARRAY_DUMP] + (double)counts[SUB_PRIMITIVE_ARRAY_DUMP];
    double by_chance = (double)(t->defined + 1) * (double)e->run.missing[SHAPE_ANY] / (all + 1);

    if (tag == SUB_OBJECT_ARRAY_DUMP)
        return t->missing + t->unnamed > t->defined;
    return t->missing > t->defined && (t->missing >= t->unnamed / 4 || (double)t->missing > MORE_THAN_CHANCE * by_chance);
}

/* An object or class of a chain. A class that is missing counts as defined once that is reported, but has no layout. */
static void tally_object(const struct engine *e, struct tally *t, uint8_t tag, uint64_t id)
{
    unsigned flags = id_set_get(&e->heap.objects, id);
    bool is_defined = tag == SUB_CLASS_DUMP ? classes_layout_of(&e->file.classes, id) != NULL : flags & ID_DEFINED;

    t->defined += is_defined;
    t->missing += flags && !is_defined;
    t->unnamed += !flags;
}

/* Whether sub-records lead from an offset on to the end of the array or beyond it, and dump lost objects. Moves the input. */
static bool dump_lost_objects(struct engine *e, uint8_t tag, uint64_t from, uint64_t end)
{
    struct tally t = {0};

    if (!input_seek(&e->in, from))
        return false;
    while (e->in.offset < end) {
        struct walk_item item;

        if (!input_need(&e->in, 1) ||
            next_subrecord(&e->in, UINT64_MAX, e->file.id_size, e->file.version, &item) != FRAME_RIGHT)
            return false;
        if (is_object_tag(item.tag))
            tally_object(e, &t, item.tag, get_id(e->in.at + 1, e->file.id_size));
        input_skip(&e->in, item.size);
    }
    return are_lost(e, tag, &t);
}

/* Whether the header of a dump is among n bytes: then what follows is payload. */
static bool has_header(const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;

    while (n >= HEADER_MAGIC_SIZE && (p = memchr(p, *HEADER_MAGIC, n - HEADER_MAGIC_SIZE + 1)) != NULL) {
        if (is_header_magic(p))
            return true;
        n = (size_t)(end - ++p);
    }
    return false;
}

/* Where, in the array whose elements begin here and take n bytes, lost objects are dumped; 0 if nowhere. The first chain of
 * sub-records decides. Moves the input. */
static uint64_t find_lost(struct engine *e, uint8_t tag, uint64_t n, unsigned width)
{
    uint64_t first = e->in.offset, end = first + n;

    while (e->in.offset < end) {
        uint64_t here = e->in.offset, left = end - here;
        struct suspect s = {.e = e, .sight = look_far(e), .first = (width - (here - first) % width) % width, .width = width};
        struct search search = search_in(e, &s.sight, UINT64_MAX);
        uint64_t there = left < s.sight.size ? left : s.sight.size, step = there < WAY_STEP ? there : WAY_STEP;
        struct way way;

        search.past = left < s.sight.size ? left : 0;
        search.may_begin = may_begin;
        search.context = &s;
        way = find_way(&search, 0, step);
        if (has_header(e->in.at, (size_t)(way.kind == WAY_NONE ? step : way.at)))
            return 0;
        if (way.kind != WAY_NONE)
            return way.kind == WAY_SUBRECORD && dump_lost_objects(e, tag, here + way.at, end) ? here + way.at : 0;
        if (input_skip(&e->in, way.at) == 0)
            break;
    }
    return 0;
}

/* The size of the head of an array and of its elements. False if the tag is of no array. */
static bool array_layout(const uint8_t *p, unsigned id_size, size_t *head, unsigned *width)
{
    if (*p == SUB_OBJECT_ARRAY_DUMP) {
        *head = 1 + SIZE_OF(OBJECT_ARRAY_DUMP, id_size);
        *width = id_size;
        return true;
    }
    if (*p != SUB_PRIMITIVE_ARRAY_DUMP)
        return false;
    *head = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, id_size);
    *width = type_size(p[*head - 1], id_size);
    return *width > 0;
}

static bool look_into_subrecord(struct checker *ck, void *context, uint64_t size)
{
    struct engine *e = context;
    uint64_t at = ck->in->offset, end = at + size, found = 0, rest;
    struct jump jump = jumps_at(&ck->file->jumps, jumps_find(&ck->file->jumps, at));
    uint8_t tag = *ck->in->at;
    unsigned width;
    size_t head;

    if (array_layout(ck->in->at, ck->file->id_size, &head, &width) && size > head && jump.from != at) { /* no part of others */
        input_advance(ck->in, head);
        found = find_lost(e, tag, size - head, width);
    }
    if (found)
        jumps_note(&ck->file->long_arrays, at, found, 0, false);
    if (ck->in->offset > end) /* the chain led beyond it */
        return input_seek(ck->in, end);
    rest = end - ck->in->offset;
    return input_skip(ck->in, rest) == rest;
}

/* Passes what is no array that may hold a lost object. */
static size_t pass_others(struct checker *ck, void *context, size_t n)
{
    struct suspect s = {.e = context, .sight = {ck->in->at, n, false, ck->file->id_size, ck->file->version}};
    uint64_t at = 0;
    struct measure m;
    size_t head;

    while (is_whole_object(s.sight.at + at, s.sight.at + n, s.sight.id_size, &m)) {
        if (array_layout(s.sight.at + at, s.sight.id_size, &head, &s.width)) {
            s.first = at + head;
            for (uint64_t i = s.first; i < at + m.size; i += s.width)
                if (may_begin(&s, i))
                    return (size_t)at;
        }
        at += m.size;
    }
    return (size_t)at;
}

void find_long_arrays(struct engine *e, uint64_t end)
{
    const struct visitor visitor = {.subrecord = look_into_subrecord, .many = pass_others, .context = e};
    uint64_t back = e->in.offset;

    if (!e->is_followed || !e->run.missing[SHAPE_ANY] || e->run.memory.exhausted || e->in.error || !input_can_reread(&e->in) ||
        !e->heap.stretches.list.count)
        return;
    read_again(&e->ck, stretches_at(&e->heap.stretches, 0)->at, stretches_at(&e->heap.stretches, 0)->record_end, end, &visitor);
    input_seek(&e->in, back);
}
