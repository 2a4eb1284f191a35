/* See harm.h. Items whose bytes have not passed yet wait in a queue. */
#include "damage/harm.h"

#include <stdio.h>
#include <stdlib.h>

struct waiting {
    struct item item;
    uint64_t touched; /* bytes missing or overwritten, */
    bool changed;     /* some of them by other values, or the item is split */
};

struct harm {
    struct waiting *queue; /* a ring; its capacity is a power of two */
    size_t first, count, capacity;
    FILE *list;
    uint64_t counts[2];
    bool failed;
};

static struct waiting *waiting_at(struct harm *h, size_t i)
{
    return &h->queue[(h->first + i) & (h->capacity - 1)];
}

static bool grow(struct harm *h)
{
    size_t capacity = h->capacity ? 2 * h->capacity : 1024;
    struct waiting *queue = malloc(capacity * sizeof *queue);

    if (!queue)
        return false;
    for (size_t i = 0; i < h->count; i++)
        queue[i] = *waiting_at(h, i);
    free(h->queue);
    h->queue = queue;
    h->first = 0;
    h->capacity = capacity;
    return true;
}

void harm_item(struct harm *h, const struct item *item)
{
    if (h->count == h->capacity && !grow(h)) {
        h->failed = true;
        return;
    }
    h->count++;
    *waiting_at(h, h->count - 1) = (struct waiting){.item = *item};
}

static void settle(struct harm *h, const struct waiting *w)
{
    struct harmed harmed = {.item = w->item, .lost = w->touched == w->item.size};

    if (!w->changed)
        return;
    h->counts[harmed.lost]++;
    h->failed |= fwrite(&harmed, sizeof harmed, 1, h->list) != 1;
}

void harm_pass(struct harm *h, uint64_t at)
{
    while (h->count && h->queue[h->first].item.at + h->queue[h->first].item.size <= at) {
        settle(h, &h->queue[h->first]);
        h->first = (h->first + 1) & (h->capacity - 1);
        h->count--;
    }
}

void harm_touch(struct harm *h, uint64_t from, uint64_t to, bool same)
{
    harm_pass(h, from);
    for (size_t i = 0; i < h->count; i++) {
        struct waiting *w = waiting_at(h, i);
        uint64_t start = w->item.at, end = start + w->item.size;

        if (start >= to)
            break;
        if (end <= from)
            continue;
        w->touched += (end < to ? end : to) - (start > from ? start : from);
        w->changed |= !same;
    }
}

void harm_split(struct harm *h, uint64_t at)
{
    harm_pass(h, at);
    for (size_t i = 0; i < h->count && waiting_at(h, i)->item.at < at; i++) {
        const struct item *item = &waiting_at(h, i)->item;

        if (at < item->at + item->size)
            waiting_at(h, i)->changed = true;
    }
}

bool harm_finish(struct harm *h)
{
    harm_pass(h, UINT64_MAX);
    h->failed |= fflush(h->list) != 0;
    rewind(h->list);
    return !h->failed;
}

uint64_t harm_count(const struct harm *h, bool lost)
{
    return h->counts[lost];
}

bool harm_next(struct harm *h, struct harmed *next)
{
    return fread(next, sizeof *next, 1, h->list) == 1;
}

struct harm *harm_new(void)
{
    struct harm *h = calloc(1, sizeof *h);

    if (h && !(h->list = tmpfile())) {
        free(h);
        return NULL;
    }
    return h;
}

void harm_free(struct harm *h)
{
    if (!h)
        return;
    fclose(h->list);
    free(h->queue);
    free(h);
}
