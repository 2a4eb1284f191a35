/* See hubs.h. */
#include "fit/hubs.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTERS = 1 << 20, MOST = 1 << 17, NAMED_MOST = 1 << 16, LEAST = 1 << 10, SHARE = 1 << 12 };
#define NAMED_HERE (UINT32_C(1) << 31) /* in a counter: the ID may be that of a hub, however few references there are */

static void make_map(struct hubs *h)
{
    struct hash_key key = hash_key_draw();

    keymap_init(&h->of_ids, &h->memory, &key, sizeof(uint64_t), sizeof(uint32_t));
}

bool hubs_init(struct hubs *h)
{
    *h = (struct hubs){.counters = calloc(COUNTERS, sizeof *h->counters), .all = calloc(MOST, sizeof *h->all)};
    memory_init(&h->memory, NULL, 0);
    make_map(h);
    return h->counters && h->all;
}

void hubs_free(struct hubs *h)
{
    free(h->counters);
    free(h->all);
    keymap_clear(&h->of_ids);
}

void hubs_clear(struct hubs *h)
{
    memset(h->counters, 0, COUNTERS * sizeof *h->counters);
    h->references = 0;
    keymap_clear(&h->of_ids);
    make_map(h);
    h->count = 0;
}

/* The same in each run, so that a dump has one profile. */
static uint32_t *counter_of(const struct hubs *h, uint64_t id)
{
    const struct hash_key same_each_time = {UINT64_C(0xA0761D6478BD642F), UINT64_C(0xE7037ED1A0B428DB)};

    return &h->counters[hash_u64(&same_each_time, id) & (COUNTERS - 1)];
}

void hubs_count(struct hubs *h, uint64_t id)
{
    uint32_t *counter = counter_of(h, id);

    *counter += (*counter | NAMED_HERE) < UINT32_MAX;
    h->references++;
}

void hubs_name(struct hubs *h, uint64_t id)
{
    uint64_t number;

    if (h->count == NAMED_MOST || keymap_get(&h->of_ids, id, &number) || !keymap_put(&h->of_ids, id, h->count + 1))
        return;
    h->count++;
    *counter_of(h, id) |= NAMED_HERE;
}

void hubs_decide(struct hubs *h)
{
    h->least = h->references / SHARE > LEAST ? h->references / SHARE : LEAST;
}

uint32_t hubs_number(struct hubs *h, uint64_t id)
{
    uint64_t number = HUB_NONE;
    uint32_t counter;

    if (!h->least)
        return HUB_NONE;
    counter = *counter_of(h, id);
    if ((counter & NAMED_HERE && keymap_get(&h->of_ids, id, &number)) || (counter & ~NAMED_HERE) < h->least ||
        keymap_get(&h->of_ids, id, &number) || h->count + 1 == MOST)
        return (uint32_t)number;
    if (!keymap_put(&h->of_ids, id, h->count + 1))
        return HUB_NONE;
    return ++h->count;
}
