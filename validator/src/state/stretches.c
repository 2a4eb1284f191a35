/* See stretches.h. */
#include "state/stretches.h"

enum { STRETCH = 1 << 20 };

void stretches_init(struct stretches *s, struct memory *memory)
{
    *s = (struct stretches){0};
    chunks_init(&s->list, memory, sizeof(struct stretch));
}

void stretches_clear(struct stretches *s)
{
    chunks_clear(&s->list);
    s->due = 0;
}

struct stretch *stretches_begin(struct stretches *s, uint64_t at, uint64_t record_end)
{
    struct stretch *stretch = chunks_add(&s->list);

    if (stretch)
        *stretch = (struct stretch){.at = at, .record_end = record_end};
    s->due = at + STRETCH;
    return stretch;
}
