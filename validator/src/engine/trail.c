/* See trail.h. */
#include "engine/trail.h"

#include "engine/evidence.h"

/* ---- Marks ---- */

void add_mark(struct marks *marks, uint64_t at)
{
    if (!marks->count || marks->at[(marks->count - 1) % MARKS] != at)
        marks->at[marks->count++ % MARKS] = at;
}

uint64_t last_mark(const struct marks *marks, uint64_t after, uint64_t most)
{
    uint64_t at = after;

    for (unsigned i = marks->count; at > most && i > 0 && marks->count - i < LATEST; i--)
        at = marks->at[(i - 1) % MARKS];
    return at;
}

void mark(struct engine *e, bool first)
{
    if (first) {
        e->subrecords.count = 0;
        e->phantoms = (struct phantoms){0};
    }
    add_mark(&e->subrecords, e->in.offset);
    e->rows[(e->subrecords.count - 1) % MARKS] = e->phantoms.end == e->in.offset ? e->phantoms.at : e->in.offset;
}

/* Whether the sub-record here is a root that cannot be there. */
static bool is_phantom(struct engine *e, uint64_t size)
{
    uint64_t last = 0;

    return !is_object_tag(*e->in.at) && input_need(&e->in, (size_t)size) >= size &&
           !bits_of_subrecord(&e->file, e->in.at, &last);
}

/* The bytes after phantoms may look like roots, too, until reading fails. */
void mark_phantom(struct engine *e, uint64_t size)
{
    enum { NEAR = 32 };
    struct phantoms *row = &e->phantoms;
    bool follows = row->end == e->in.offset;

    if (is_phantom(e, size)) {
        if (!follows)
            row->at = e->in.offset;
        row->last_end = e->in.offset + size;
    } else if (!follows || is_object_tag(*e->in.at) || e->in.offset - row->last_end >= NEAR) {
        return;
    }
    row->end = e->in.offset + size;
}

/* Phantoms that lead to an offset are left out with what is there: where they begin, if the input can go back to there from the
 * failure. */
static uint64_t before_phantoms(const struct engine *e, uint64_t at, uint64_t failed_at)
{
    const struct marks *marks = &e->subrecords;

    for (unsigned i = 0; i < MARKS && i < marks->count; i++)
        if (marks->at[i] == at && (input_can_go_anywhere(&e->in) || failed_at - e->rows[i] <= INPUT_HISTORY))
            return e->rows[i];
    return at;
}

/* ---- The last sub-records before a failure ---- */

/* The size of an array is not known otherwise, nor where a sub-record of unknown class ends. */
struct trail {
    struct marks items;
    uint8_t tag[MARKS];
    bool has_size_of_class[MARKS];
    unsigned
        doubtful; /* from this one on, of the latest ones: the one before it has the size of its class, or is none of these */
};

bool has_size_of_class(struct engine *e)
{
    const unsigned id = e->file.id_size;
    struct cursor c = {e->in.at + 1, e->in.at + 1 + SIZE_OF(INSTANCE_DUMP, id)};
    struct INSTANCE_DUMP r;

    return *e->in.at == SUB_INSTANCE_DUMP && read_INSTANCE_DUMP(&c, id, &r) &&
           classes_check_size(&e->file.classes, r.class_id, r.bytes) == SIZE_RIGHT;
}

/* The sub-record in the window becomes the last of the trail. */
static void add_to_trail(struct engine *e, struct trail *trail)
{
    unsigned i = trail->items.count % MARKS;

    trail->tag[i] = *e->in.at;
    trail->has_size_of_class[i] = has_size_of_class(e);
    add_mark(&trail->items, e->in.offset);
}

/* What an instance of the size of its class ends is not doubted. How many items the trail has beyond the latest ones depends on how
 * the dump was read. */
static void doubt_latest(struct trail *trail)
{
    unsigned count = trail->items.count;

    trail->doubtful = count > LATEST ? count - LATEST : 0;
    for (unsigned i = trail->doubtful; i < count; i++)
        if (trail->has_size_of_class[i % MARKS])
            trail->doubtful = i + 1;
}

/* Measures the sub-record here, before a failure. False if that cannot be done again. */
static bool measure_again(struct engine *e, uint64_t failed_at, struct walk_item *item)
{
    return input_need(&e->in, 1) &&
           next_subrecord(&e->in, failed_at - e->in.offset, e->file.id_size, e->file.version, item) == FRAME_RIGHT;
}

/* Reads the sub-records before an offset again. The input is there afterwards, if all went well. */
static bool follow_trail(struct engine *e, uint64_t failed_at, struct trail *trail)
{
    const struct marks *marks = &e->subrecords;
    unsigned first = marks->count > MARKS ? marks->count - MARKS : 0;
    struct walk_item item;

    *trail = (struct trail){0};
    while (first < marks->count && !input_can_go_back(&e->in, marks->at[first % MARKS]))
        first++;
    if (first == marks->count || !input_go_back(&e->in, marks->at[first % MARKS]))
        return false;
    while (e->in.offset < failed_at) {
        if (!measure_again(e, failed_at, &item))
            return false;
        add_to_trail(e, trail);
        look_for_stripped_array(e);
        input_skip(&e->in, item.size);
    }
    doubt_latest(trail);
    return true;
}

/* ---- What is left out ---- */

bool leave_out_items(struct engine *e, uint64_t first, uint64_t failed_at, uint64_t until)
{
    findings_expect_again(&e->run.findings, first, failed_at + HEAD_SIZE);
    read_subrecords_again(e, until);
    discard_uses(&e->ck, first);
    return jobs_begin_again(e);
}

void discard_subrecord(struct engine *e, uint8_t tag)
{
    uint64_t *count = &e->run.sum.subrecord_counts[tag];
    struct waiting_run *run = &e->heap.segment.waiting;

    if (tag == SUB_INSTANCE_DUMP && run->instances && run->next == *count) {
        run->instances--;
        run->next--;
    }
    if (tag == SUB_OBJECT_ARRAY_DUMP)
        lose_array(e);
    *count -= *count > 0;
}

/* The sub-records from an offset up to *from, the failure or those left out so far, are left out. The input stays where it is:
 * objects before it are lost, unless they come again. */
static void leave_out_from(struct engine *e, uint64_t first, uint64_t failed_at, uint64_t *from, bool come_again)
{
    uint64_t here = e->in.offset, until = *from;
    struct walk_item item;

    if (first == until)
        return;
    *from = first;
    if (leave_out_items(e, first, failed_at, failed_at) || !go_to(e, first))
        return;
    while (e->in.offset < until && measure_again(e, failed_at, &item)) {
        if (!come_again && e->in.offset < here)
            lose_object(e, object_here(e, item.tag));
        lose_references(e, item.size);
        discard_subrecord(e, item.tag);
        input_skip(&e->in, item.size);
    }
    go_to(e, here);
}

/* ---- The way ---- */

enum way_kind pass_doubled_subrecords(struct engine *e, uint64_t at, uint64_t failed_at, uint64_t *record_end, uint64_t *from)
{
    struct doubled d;
    struct trail trail = {0};
    uint64_t first;

    if (!find_doubled(e, at, &d) || !go_to(e, failed_at) || (failed_at > d.last && !follow_trail(e, failed_at, &trail)))
        return WAY_NONE;
    first = last_mark(&trail.items, failed_at, d.other ? d.other : d.last);
    if (d.other) {
        if (first > d.other || !go_to(e, d.other))
            return WAY_NONE;
        leave_out_from(e, first, failed_at, from, false);
        *record_end = UINT64_MAX;
        return WAY_RECORD;
    }
    if (!pass_doubled(e, &d, first, WAY_SUBRECORD, record_end))
        return WAY_NONE;
    leave_out_from(e, first, failed_at, from, true);
    return WAY_SUBRECORD;
}

/* Where the sub-records from here on break off. */
static uint64_t reach(struct engine *e, uint64_t record_end)
{
    struct sight s = look_far(e);
    uint64_t here = e->in.offset;
    struct search search = search_in(e, &s, record_end == UINT64_MAX ? record_end : record_end - here);
    uint64_t found = reach_of_subrecords(&search, WAY_SIGHT);

    return found == UINT64_MAX ? found : here + found;
}

/* Whether a chain that begins directly after the failure leads further than the one here, which begins before the failure. Not if
 * that one's record ends before the failure: then other records lead past it. */
static bool is_outreached(struct engine *e, uint64_t failed_at, uint64_t record_end)
{
    enum { DIRECTLY = 64 }; /* bytes: a sub-record without its elements and values */
    uint64_t here = e->in.offset, reached = reach(e, record_end), end = record_end;
    bool is_outreached;

    if (reached == UINT64_MAX || reached < failed_at || !go_to(e, failed_at))
        return false;
    is_outreached = go_to_way(e, &end, failed_at + DIRECTLY, UINT64_MAX) == WAY_SUBRECORD && reach(e, end) > reached;
    return is_outreached || !go_to(e, here);
}

/* The sub-record at an offset was too long: a chain that begins in it, here, leads past its end. The way is sought in it as after
 * any failure, because there may be other damage between that offset and this one. But an array may hold a dump. */
static void go_to_first_way(struct engine *e, uint64_t wrong_at, uint8_t tag, uint64_t *record_end)
{
    enum { WORTH = 1 << 12 /* bytes: fewer are left out */ };
    uint64_t found = e->in.offset, end = *record_end;

    if (found - wrong_at < WORTH || tag == SUB_PRIMITIVE_ARRAY_DUMP || !go_to(e, wrong_at + 1))
        return;
    if (go_to_way(e, &end, found, UINT64_MAX) == WAY_SUBRECORD && e->in.offset < found)
        *record_end = end;
    else
        go_to(e, found);
}

/* Whether the sub-record between two offsets says nothing for itself, although classes are known: damaged bytes would make one. */
static bool is_of_no_class(struct engine *e, uint64_t at, uint64_t end)
{
    const size_t fixed = 1 + SIZE_OF(CLASS_DUMP, e->file.id_size);
    size_t size = end - at < fixed ? (size_t)(end - at) : fixed;
    uint64_t root = 0;

    return !knows_no_class(&e->file) && go_to(e, at) && input_need(&e->in, size) >= size && is_object_tag(*e->in.at) &&
           !bits_of_subrecord(&e->file, e->in.at, &root);
}

/* Where an object of no class begins, if only roots are between it and the first sub-record that is left out; else where that one
 * begins. The input stays where it is. */
static uint64_t before_classless(struct engine *e, const struct trail *trail, uint64_t first)
{
    uint64_t here = e->in.offset, last = first;

    for (unsigned i = trail->items.count; i > 0 && trail->items.count - i < LATEST && last == first; i--)
        if (trail->items.at[(i - 1) % MARKS] < first && is_object_tag(trail->tag[(i - 1) % MARKS]))
            last = trail->items.at[(i - 1) % MARKS];
    if (last < first && !is_of_no_class(e, last, first))
        last = first;
    go_to(e, here);
    return last;
}

/* The way is here: the sub-records from an offset on are left out, and an object of no class before them that is near. */
static void leave_out_before_way(struct engine *e, uint64_t classless, uint64_t first, uint64_t failed_at, uint64_t *from)
{
    leave_out_from(e, e->in.offset - classless < WAY_SIGHT ? classless : first, failed_at, from, false);
}

enum way_kind go_back_to_way(struct engine *e, uint64_t failed_at, uint64_t *record_end, uint64_t *from)
{
    enum way_kind kind = WAY_NONE;
    uint64_t first = failed_at, begin;
    uint8_t tag = 0; /* of the sub-record in which the way lies; 0: it lies in the phantoms before all of them */
    struct trail trail;

    if (!follow_trail(e, failed_at, &trail))
        return WAY_NONE;
    if (trail.doubtful < trail.items.count)
        first = trail.items.at[trail.doubtful % MARKS];
    begin = first = before_phantoms(e, first, failed_at);
    if (failed_at <= e->framing.frontier && !may_look_again(&e->framing.looked_again, e->in.offset, failed_at - first))
        return WAY_NONE;
    if (failed_at > e->framing.frontier)
        e->framing.frontier = failed_at;
    if (first < failed_at && input_go_back(&e->in, first))
        kind = go_to_way(e, record_end, failed_at, failed_at);
    /* Roots at the start of a chain are left out, perhaps all of them up to the failure: then none was too long. */
    if (kind == WAY_SUBRECORD && (e->in.offset >= failed_at || is_outreached(e, failed_at, *record_end)))
        kind = WAY_NONE;
    first = kind == WAY_NONE ? failed_at : begin;
    for (unsigned i = trail.doubtful; kind != WAY_NONE && i < trail.items.count; i++)
        if (trail.items.at[i % MARKS] <= e->in.offset) {
            first = trail.items.at[i % MARKS];
            tag = trail.tag[i % MARKS];
        }
    if (kind == WAY_SUBRECORD && tag)
        go_to_first_way(e, first, tag, record_end);
    first = before_phantoms(e, first, failed_at);
    if (kind != WAY_NONE)
        leave_out_before_way(e, before_classless(e, &trail, first), first, failed_at, from);
    return kind;
}

/* Whether sub-records begin in the instance at `last`, and lead to the way here: the input is at the first of them then, else it
 * stays. */
static bool go_into(struct engine *e, uint64_t last, uint64_t failed_at)
{
    uint64_t way = e->in.offset, found = 0;
    struct sight s;
    struct search search;

    if (way - last < WAY_SIGHT && go_to(e, last) && input_need(&e->in, 1) && *e->in.at == SUB_INSTANCE_DUMP) {
        s = look_far(e);
        search = search_in(e, &s, UINT64_MAX);
        found = way - last < s.size ? find_start(&search, 1, failed_at - last, way - last) : 0;
    }
    go_to(e, found ? last + found : way);
    return found;
}

enum way_kind go_on_to_way(struct engine *e, uint64_t failed_at, uint64_t *record_end, uint64_t *from)
{
    uint64_t classless, last;
    enum way_kind kind;
    struct trail trail;

    if (!follow_trail(e, failed_at, &trail))
        trail.items.count = 0;
    go_to(e, failed_at);
    leave_out_from(e, before_phantoms(e, failed_at, failed_at), failed_at, from, false);
    if (e->framing.stopped) /* the heap dump begins again */
        return WAY_NONE;
    classless = before_classless(e, &trail, *from);
    kind = go_to_way(e, record_end, UINT64_MAX, UINT64_MAX);
    last = trail.items.count ? trail.items.at[(trail.items.count - 1) % MARKS] : failed_at;
    if (kind == WAY_SUBRECORD && *from == failed_at && last < failed_at && go_into(e, last, failed_at))
        leave_out_from(e, last, failed_at, from, false);
    else if (kind != WAY_NONE)
        leave_out_before_way(e, classless, *from, failed_at, from);
    return kind;
}
