/* Lost objects (RULES.md M.2): those dumped within a sub-record that is too long, or within what recovery left out. An array whose
 * count is too large takes the sub-records after it for its elements. If another sub-record begins at its end by chance, lengths
 * lead on, and the check reports only that objects are missing. If none does, recovery may find the way only after the next
 * damage, because the elements of an array may look like objects. At the end of the heap dump the check knows which objects are
 * missing, and so which ones were lost. Who reads the dump after the check gets them back, by other jumps. The check itself looks
 * where nothing but missing objects shows that something is wrong. */
#include <string.h>

#include "engine/evidence.h"
#include "engine/go_to_way.h"
#include "format/header.h"
#include "format/native.h"
#include "format/tags.h"
#include "reread/replay.h"

/* What is looked at, in terms of what is in sight. */
struct suspect {
    struct engine *e;
    struct sight sight;
    uint64_t first; /* where an element of an array begins, */
    unsigned width; /* and its size; 1 if it is no array */
    bool is_rest;   /* as in struct range */
};

/* What a chain must say for itself that leads past the end of what it lies in. The sub-records that follow are right in any case:
 * they say only that it ends where one begins, which often happens by chance. */
enum { CROSSING_BITS = 24 };

/* Whether the next instance is right if it has the size of the last one of its class: most have. Where the class is lost, that the
 * two agree says so. */
enum { KNOWN_SIZES = 256 };
struct known_sizes {
    struct {
        uint64_t class_id, size;
        bool is_right;
    } of[KNOWN_SIZES];
};

/* Whether the heap dump has an object or a class. A missing class counts as defined once that is reported, but has no layout. */
static bool is_dumped(struct engine *e, uint8_t tag, uint64_t id)
{
    return tag == SUB_CLASS_DUMP ? classes_layout_of(&e->file.classes, id) != NULL
                                 : id_set_get(&e->heap.objects, id) & ID_DEFINED;
}

/* Whether an element begins at an offset, and what may be an object that is dumped nowhere else; in the rest of an item, a root. */
static bool may_begin(const struct suspect *s, uint64_t at)
{
    uint64_t id;

    if (s->is_rest && is_subrecord_tag(s->sight.at[at]) && !is_object_tag(s->sight.at[at]))
        return true;
    if (!is_object_tag(s->sight.at[at]) || (at - s->first) % s->width != 0 || s->sight.size - at <= s->sight.id_size)
        return false;
    id = get_id(s->sight.at + at + 1, s->sight.id_size);
    return classes_are_near(&s->e->file.classes, id) && !is_dumped(s->e, s->sight.at[at], id);
}

/* Whether one of eight bytes is the tag of an object or a class. */
static bool has_object_tag(const uint8_t *p)
{
    uint64_t bytes = (native_load(p, 8) & UINT64_C(0xfcfcfcfcfcfcfcfc)) ^ UINT64_C(0x2020202020202020);

    return (bytes - UINT64_C(0x0101010101010101)) & ~bytes & UINT64_C(0x8080808080808080);
}

static uint64_t next_begin(const void *context, uint64_t at, uint64_t until)
{
    const struct suspect *s = context;

    for (; at < until; at++) {
        while (!s->is_rest && until - at >= 8 && !has_object_tag(s->sight.at + at))
            at += 8;
        if (at == until || may_begin(s, at))
            break;
    }
    return at;
}

/* What objects of a chain are to the heap dump so far. */
struct tally {
    uint64_t missing; /* named and not dumped */
    uint64_t defined;
    uint64_t unnamed;
    uint64_t bits; /* of evidence: see evidence.h */
    bool crosses;  /* the end of the range */
};

/* Bytes that may hold lost objects, from the input on. */
struct range {
    uint64_t end;
    uint64_t most;  /* a sub-record may cross the end up to here, if others follow it: then one begins at the end by chance */
    uint8_t tag;    /* of the sub-record */
    bool is_rest;   /* after lost objects in the same item, which it therefore is not: roots are lost with them */
    unsigned width; /* of the elements of an array; else 1 */
};

/* Whether they are lost objects. The payload of a primitive array may be a dump, too: of the same heap, then its objects are
 * defined; or of another heap, then few are named, and missing ones are among them as rarely as defined ones. */
static bool are_lost(const struct engine *e, const struct range *range, const struct tally *t)
{
    const double more_than_chance = 4;
    const uint64_t *counts = e->run.sum.subrecord_counts;
    double all =
        (double)counts[SUB_INSTANCE_DUMP] + (double)counts[SUB_OBJECT_ARRAY_DUMP] + (double)counts[SUB_PRIMITIVE_ARRAY_DUMP];
    double by_chance = (double)(t->defined + 1) * (double)e->run.missing[SHAPE_ANY] / (all + 1);

    if (t->crosses && t->bits < CROSSING_BITS)
        return false;
    if (range->is_rest && !t->defined && !t->crosses)
        return true;
    if (is_object_tag(range->tag) && range->tag != SUB_PRIMITIVE_ARRAY_DUMP)
        return t->missing + t->unnamed > t->defined;
    return t->missing > t->defined && (t->missing * 4 >= t->unnamed || (double)t->missing > more_than_chance * by_chance);
}

static void tally_object(struct engine *e, struct tally *t, uint8_t tag, uint64_t id)
{
    unsigned flags = id_set_get(&e->heap.objects, id);
    bool is_defined = is_dumped(e, tag, id);

    t->defined += is_defined;
    t->missing += flags && !is_defined;
    t->unnamed += !flags;
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

/* Whether a sub-record here may cross the end of the range. The input stays where it is. */
static bool goes_on_after(struct engine *e, const struct range *range, uint64_t size)
{
    uint64_t here = e->in.offset;
    bool goes_on;

    if (size > range->most - here || !may_look_again(&e->looked_after, here, WAY_SIGHT))
        return false;
    goes_on = input_skip(&e->in, size) == size && subrecords_begin_here(e);
    return input_seek(&e->in, here) && input_need(&e->in, HEAD_SIZE) && goes_on;
}

/* Passes the sub-records from here on, up to the end of the range or to what is none, and counts what they dump. */
static void tally_chain(struct engine *e, const struct range *range, struct tally *t)
{
    const size_t head = 1 + SIZE_OF(CLASS_DUMP, e->file.id_size);
    uint64_t last_root = 0;

    while (e->in.offset < range->end) {
        struct walk_item item;
        uint64_t here = e->in.offset;

        if (!input_need(&e->in, 1) ||
            next_subrecord(&e->in, UINT64_MAX, e->file.id_size, e->file.version, &item) != FRAME_RIGHT)
            return;
        if (item.size > range->end - here) {
            if (!goes_on_after(e, range, item.size))
                return;
            t->crosses = true;
        }
        if (is_object_tag(item.tag))
            tally_object(e, t, item.tag, get_id(e->in.at + 1, e->file.id_size));
        if (input_need(&e->in, head) >= head)
            t->bits += bits_of_subrecord(&e->file, e->in.at, &last_root);
        input_skip(&e->in, item.size);
    }
}

/* Where, from here on, lost objects are dumped: a chain of sub-records, at whose end the input is then. 0 if nowhere. */
static uint64_t find_lost(struct engine *e, const struct range *range)
{
    uint64_t first = e->in.offset;

    while (e->in.offset < range->end) {
        uint64_t here = e->in.offset, left = range->end - here, width = range->width;
        struct suspect s = {.e = e,
                            .sight = look_far(e),
                            .first = (width - (here - first) % width) % width,
                            .width = range->width,
                            .is_rest = range->is_rest};
        struct search search = search_in(e, &s.sight, UINT64_MAX);
        uint64_t there = left < s.sight.size ? left : s.sight.size, step = there < WAY_STEP ? there : WAY_STEP;
        struct tally tally = {0};
        struct way way;

        search.spent = &e->steps_after;
        search.next_begin = next_begin;
        search.context = &s;
        way = find_way(&search, 0, step);
        if (has_header(e->in.at, (size_t)(way.kind == WAY_NONE ? step : way.at)) || way.kind == WAY_RECORD)
            return 0;
        if (input_skip(&e->in, way.at) < way.at || (way.kind == WAY_NONE && !way.at))
            return 0;
        if (way.kind == WAY_NONE)
            continue;
        tally_chain(e, range, &tally);
        if (are_lost(e, range, &tally))
            return here + way.at;
        input_skip(&e->in, 1); /* what ends the chain does not lead on */
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
    if (!type_size(p[*head - 1], id_size))
        return false;
    *width = type_size(p[*head - 1], id_size);
    return true;
}

/* Whether the sub-record at p, of this size, can hold no other: a root, or an instance that is no longer than its class says. */
static bool is_right(struct engine *e, const uint8_t *p, uint64_t size)
{
    uint64_t by_class;

    if (*p != SUB_INSTANCE_DUMP)
        return !is_object_tag(*p);
    by_class = size_by_class(&e->ck, p);
    return by_class ? by_class > size : knows_class_of(&e->ck, p);
}

/* Looks for lost objects in the item here, a sub-record or what was left out, after which reading goes on where `then` leads.
 * Notes the jumps that lead to them: an array whose count is too large ends where they begin, and so does an instance if it has
 * the size of its class then. */
static void look_into(struct engine *e, uint64_t heap_end, const struct jump *then)
{
    struct range range = {.end = then->to < heap_end ? then->to : heap_end, .width = 1};
    uint64_t from = e->in.offset, own_size = 0, found;
    bool is_array, is_found = false;
    size_t head = 1;

    range.most = then->failed ? range.end : heap_end;
    if (input_need(&e->in, HEAD_SIZE) < HEAD_SIZE)
        return;
    range.tag = *e->in.at;
    if (!then->failed && is_right(e, e->in.at, then->to - from))
        return;
    if (range.tag == SUB_INSTANCE_DUMP)
        own_size = size_by_class(&e->ck, e->in.at);
    is_array = array_layout(e->in.at, e->file.id_size, &head, &range.width);
    input_advance(&e->in, head);
    while (from < range.end && (found = find_lost(e, &range)) != 0) {
        bool failed = is_found || (!is_array && found != from + own_size);

        jumps_add(&e->file.regained, (struct jump){from & NO_JUMP, 0, failed, found, failed ? heap_end : 0});
        from = e->in.offset;
        input_skip(&e->in, 1); /* what is here does not lead on */
        range.width = 1;
        range.is_rest = is_found = true;
    }
    if (is_found && from < then->to)
        jumps_add(&e->file.regained, (struct jump){from & NO_JUMP, 0, true, then->to, then->heap_end});
}

/* The same of an instance, which may be of the size of the last one of its class. */
static bool is_right_instance(struct engine *e, struct known_sizes *known, const uint8_t *p, uint64_t size)
{
    const unsigned id_size = e->file.id_size;
    const uint64_t class_id = get_id(p + 1 + OFFSET_OF(INSTANCE_DUMP, class_id, id_size), id_size);
    const size_t i = class_id / 8 % KNOWN_SIZES;

    bool right;

    if (known->of[i].class_id == class_id && known->of[i].size == size)
        return known->of[i].is_right;
    right = is_right(e, p, size);
    known->of[i].class_id = class_id;
    known->of[i].size = size;
    known->of[i].is_right = right || !knows_class_of(&e->ck, p);
    return right;
}

/* Whether a chain may begin at an offset with a lost object, as far as its first bytes say. */
static bool may_be_lost_object(const struct suspect *s, uint64_t at)
{
    uint64_t last_root = 0;

    return s->sight.size - at <= SIZE_OF(CLASS_DUMP, s->sight.id_size) ||
           (may_begin(s, at) && bits_of_subrecord(&s->e->file, s->sight.at + at, &last_root));
}

/* Whether the sub-record at an offset in sight, of this size, may hold a lost object. */
static bool may_hold_lost(struct suspect *s, struct known_sizes *known, uint64_t at, uint64_t size)
{
    const uint8_t *p = s->sight.at + at;
    size_t head = 1;

    if (*p == SUB_INSTANCE_DUMP ? is_right_instance(s->e, known, p, size) : is_right(s->e, p, size))
        return false;
    if (!array_layout(p, s->sight.id_size, &head, &s->width))
        s->width = 1;
    s->first = at + head;
    for (uint64_t eight = s->first; eight < at + size; eight += 8)
        if (at + size - eight < 8 || has_object_tag(s->sight.at + eight))
            for (uint64_t i = eight; i < eight + 8 && i < at + size; i += s->width)
                if (is_object_tag(s->sight.at[i]) && may_be_lost_object(s, i))
                    return true;
    return false;
}

/* Passes what holds no lost object, as far as it is in memory. */
static void pass_others(struct engine *e, struct known_sizes *known, uint64_t until)
{
    const uint64_t left = until - e->in.offset;
    size_t at = 0, n = (size_t)(e->in.end - e->in.at);
    struct suspect s = {.e = e, .sight = {e->in.at, n < left ? n : (size_t)left, false, e->file.id_size, e->file.version}};
    struct measure m;

    while (is_whole_object(s.sight.at + at, s.sight.at + s.sight.size, s.sight.id_size, &m) &&
           !may_hold_lost(&s, known, at, m.size))
        at += (size_t)m.size;
    input_advance(&e->in, at);
}

/* Looks into the items of a heap dump, up to an offset. */
static void look_into_items(struct engine *e, struct replay *r, uint64_t end)
{
    struct known_sizes known = {0};
    struct replay_item item;

    while (e->in.offset < end) {
        if (replay_is_in_heap(r))
            pass_others(e, &known, replay_plain_until(r));
        if (!replay_next(r, &item) || !item.size || (item.kind == REPLAY_RECORD && item.head.tag == TAG_HEAP_DUMP_END))
            return;
        if (item.kind == REPLAY_SUBRECORD)
            look_into(e, r->heap_end, &(struct jump){.to = item.offset + item.size, .heap_end = r->heap_end});
        else if (item.kind == REPLAY_DAMAGE && replay_is_in_heap(r))
            look_into(e, r->heap_end < end ? r->heap_end : end, &item.jump);
        /* An item is passed from within: to go back would cost time. */
        if (e->in.offset - item.offset > item.size && !input_seek(&e->in, item.offset + item.size))
            return;
        if (!replay_pass(r, &item))
            return;
    }
}

/* Whether objects may be lost, and it matters. */
static bool may_be_lost(const struct engine *e)
{
    return (e->seeks_lost == SEEK_LOST || (e->seeks_lost == SEEK_LOST_IF_SOUND && e->run.sum.sound_until == UINT64_MAX)) &&
           e->run.missing[SHAPE_ANY];
}

static bool can_seek(const struct engine *e)
{
    return !e->run.memory.exhausted && !e->in.error && input_can_reread(&e->in) && e->heap.stretches.list.count;
}

void find_lost_objects(struct engine *e, uint64_t end)
{
    const struct stretches *stretches = &e->heap.stretches;
    struct replay r = {.in = &e->in, .jumps = &e->file.jumps, .id_size = e->file.id_size, .version = e->file.version};
    uint64_t back = e->in.offset;

    if (!may_be_lost(e))
        return;
    e->could_not_seek |= !can_seek(e);
    if (!can_seek(e))
        return;
    if (e->seeks_lost == SEEK_LOST_IF_SOUND && !missing_may_be_dumped(e, stretches_at(stretches, 0)->at, end))
        return;
    if (replay_seek(&r, stretches_at(stretches, 0)->at, stretches_at(stretches, 0)->record_end))
        look_into_items(e, &r, end);
    e->run.sum.found_lost |= e->file.regained.list.count > 0;
    input_seek(&e->in, back);
}
