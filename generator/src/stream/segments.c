/* See segments.h. */
#include "stream/segments.h"

#include "findings/rules.h"
#include "stream/encode.h"

static void open_segment(struct segments *s, uint64_t first)
{
    struct event open = s->open;

    if (s->states && !open.length_stated && first > s->most && first <= UINT32_MAX) {
        open.length_stated = true;
        open.length = (uint32_t)first;
    }
    give(s->stage.next, &open);
    s->waits = false;
    s->info_waits = s->info_size != 0;
}

static void close_segment(struct segments *s)
{
    struct event close = event_of(EVENT_CLOSE, s->open.tag, LAYOUT_ID_NONE);

    give(s->stage.next, &close);
    s->waits = true;
    s->so_far = s->objects = 0;
}

/* Makes space for one more sub-record. */
static bool is_full(const struct segments *s, uint64_t size)
{
    uint64_t left = s->so_far < s->most ? s->most - s->so_far : 0;

    if (s->cut == CUT_MAY_BE_EMPTY)
        return size >= left;
    return s->so_far && (!left || s->objects >= s->most_objects || (s->cut == CUT_BEFORE && size > left));
}

static void empty_segment(struct segments *s)
{
    struct event open = s->open;

    quirk(&open, RULE_REC_010, 1);
    give(s->stage.next, &open);
    close_segment(s);
}

/* HEAP_DUMP_INFO is given with the first object of its heap. */
static void note_info(struct segments *s, const struct event *e)
{
    s->info = *e;
    s->info_size = fixed_part_size(e, s->stage.id_size);
    s->info_waits = true;
}

static void give_info(struct segments *s)
{
    struct event info = s->info;

    s->info_waits = false;
    s->so_far += s->info_size;
    give(s->stage.next, &info);
}

/* Begins a new segment, if necessary, before a sub-record of this length. */
static void make_room(struct segments *s, uint64_t size)
{
    if (is_full(s, size)) {
        if (s->waits)
            empty_segment(s);
        else
            close_segment(s);
    }
    if (s->waits)
        open_segment(s, size + s->info_size);
    if (s->info_waits)
        give_info(s);
    s->so_far += size;
    s->objects++;
}

/* No segment ends before any of them, or directly after the last. */
static bool has_room(const struct segments *s, const struct event *batch)
{
    return !s->waits && !s->info_waits && s->so_far < s->most && batch->body_size < s->most - s->so_far &&
           batch->count < s->most_objects && s->objects < s->most_objects - batch->count;
}

/* As a whole, or one by one where a segment may end. */
static void take_batch(struct segments *s, struct event *e)
{
    struct event one = *e;

    if (has_room(s, e)) {
        s->so_far += e->body_size;
        s->objects += e->count;
        give(s->stage.next, e);
        return;
    }
    one.count = 1;
    for (; one.sizes < e->sizes + e->count; one.sizes++) {
        one.body_size = *one.sizes;
        make_room(s, one.body_size);
        give(s->stage.next, &one);
        one.references = one.nulls = 0; /* the first one had all of them */
        if (one.body)
            one.body += one.body_size;
    }
}

static void take(struct stage *stage, struct event *e)
{
    struct segments *s = (struct segments *)stage;

    if (e->kind == EVENT_SUBRECORD && s->open.tag == TAG_HEAP_DUMP_SEGMENT) {
        if (s->resets_heap && e->tag == SUB_HEAP_DUMP_INFO) {
            note_info(s, e);
            return;
        }
        make_room(s, fixed_part_size(e, stage->id_size) + e->body_size);
    } else if (e->kind == EVENT_BATCH && s->open.tag == TAG_HEAP_DUMP_SEGMENT) {
        take_batch(s, e);
        return;
    } else if (e->kind == EVENT_OPEN) {
        s->open = *e;
        s->so_far = s->objects = 0;
        s->info_size = 0;
        s->info_waits = false;
        s->waits = e->tag == TAG_HEAP_DUMP_SEGMENT;
        if (s->waits)
            return;
    } else if (s->waits) {
        open_segment(s, 0);
    }
    give(stage->next, e);
}

void segments_init(struct segments *s, struct stage *next, uint64_t most)
{
    *s = (struct segments){
        .stage = {.take = take, .next = next, .id_size = next->id_size}, .most = most, .most_objects = UINT64_MAX};
}
