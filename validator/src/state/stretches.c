/* See stretches.h. */
#include "state/stretches.h"

void stretches_init(struct stretches *s, struct memory *memory, uint64_t length)
{
    *s = (struct stretches){.length = length};
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
    s->due = at + s->length;
    return stretch;
}

void stretches_add_referenced(struct stretches *s, uint64_t from, uint64_t to, const struct page_filter *pages)
{
    size_t i = 0, end = s->list.count;

    while (end - i > 1) { /* the last stretch that does not begin after `from` */
        size_t middle = i + (end - i) / 2;

        if (stretches_at(s, middle)->at <= from)
            i = middle;
        else
            end = middle;
    }
    for (; i < s->list.count && stretches_at(s, i)->at < to; i++)
        page_filter_add_all(&stretches_at(s, i)->referenced, pages);
}
