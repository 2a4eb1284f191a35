/* See segments.h. */
#include "segments.h"

#include "encode.h"

static void open_segment(struct segments *s, uint64_t first)
{
    struct event open = s->open;

    if (s->states && !open.length_stated && first > s->most && first <= UINT32_MAX) {
        open.length_stated = true;
        open.length = (uint32_t)first;
    }
    give(s->stage.next, &open);
    s->waits = false;
}

static void close_segment(struct segments *s)
{
    struct event close = event_of(EVENT_CLOSE, s->open.tag, LAYOUT_ID_NONE);

    give(s->stage.next, &close);
    s->waits = true;
    s->so_far = 0;
}

static void take(struct stage *stage, struct event *e)
{
    struct segments *s = (struct segments *)stage;

    if (e->kind == EVENT_SUBRECORD && s->open.tag == TAG_HEAP_DUMP_SEGMENT) {
        uint64_t size = fixed_part_size(e, stage->id_size) + e->body_size;

        if (s->so_far && (s->so_far >= s->most || size > s->most - s->so_far))
            close_segment(s);
        if (s->waits)
            open_segment(s, size);
        s->so_far += size;
    } else if (e->kind == EVENT_OPEN) {
        s->open = *e;
        s->so_far = 0;
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
    *s = (struct segments){.stage = {.take = take, .next = next, .id_size = next->id_size}, .most = most};
}
