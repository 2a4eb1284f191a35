/* See tally.h. */
#include "fit/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum { FULL = 1 << 20, EXACT_BITS = 4 };

void tally_init(struct tally *t)
{
    struct hash_key key = hash_key_draw();

    t->no_memory = false;
    memory_init(&t->memory, NULL, 0);
    keymap_init(&t->counts, &t->memory, &key, sizeof(uint64_t), sizeof(uint64_t));
}

void tally_free(struct tally *t)
{
    keymap_clear(&t->counts);
}

static uint64_t key_of(enum tally_kind kind, uint32_t of, uint32_t value)
{
    return (uint64_t)kind << 61 | (uint64_t)of << 32 | value;
}

/* Few values are left: those with four significant bits. */
static uint32_t rounded(uint32_t value)
{
    unsigned drop = 0;

    while (value >> drop >> EXACT_BITS)
        drop++;
    return value >> drop << drop;
}

bool tally_add(struct tally *t, enum tally_kind kind, uint32_t of, uint32_t value, uint64_t count)
{
    uint64_t key = key_of(kind, of, value), have = 0;

    if (!keymap_get(&t->counts, key, &have) && t->counts.count >= FULL) {
        if (kind != TALLY_LENGTH && kind != TALLY_TEXT)
            return false;
        key = key_of(kind, of, rounded(value));
        have = 0;
        keymap_get(&t->counts, key, &have);
    }
    if (!keymap_put(&t->counts, key, have + count))
        t->no_memory = true;
    return true;
}

struct refilling {
    struct keymap *to;
    enum tally_kind without;
    bool failed;
};

static void refill(void *context, uint64_t key, uint64_t value)
{
    struct refilling *r = context;

    if ((enum tally_kind)(key >> 61) != r->without && !keymap_put(r->to, key, value))
        r->failed = true;
}

bool tally_clear(struct tally *t, enum tally_kind kind)
{
    struct keymap kept;
    struct refilling r = {&kept, kind, false};

    keymap_init(&kept, &t->memory, &t->counts.hash, sizeof(uint64_t), sizeof(uint64_t));
    keymap_each(&t->counts, refill, &r);
    keymap_clear(&t->counts);
    t->counts = kept;
    return !r.failed;
}

struct listing {
    struct counted *at;
    size_t count;
};

static void list(void *context, uint64_t key, uint64_t value)
{
    struct listing *l = context;

    l->at[l->count++] = (struct counted){key, value};
}

static bool less(const void *a, const void *b)
{
    return ((const struct counted *)a)->key < ((const struct counted *)b)->key;
}

struct counted *tally_sorted(struct tally *t, size_t *count)
{
    struct listing l = {.at = malloc((t->counts.count + 1) * sizeof *l.at)};

    if (!l.at)
        return NULL;
    keymap_each(&t->counts, list, &l);
    sort_in_place(l.at, l.count, sizeof *l.at, less);
    *count = l.count;
    return l.at;
}

/* The first whose key is not below this one. */
static size_t first_from(const struct counted *sorted, size_t count, uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sorted[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct counted_range counted_find(const struct counted *sorted, size_t count, enum tally_kind kind, uint32_t of)
{
    uint64_t key = key_of(kind, of, 0);
    size_t first = first_from(sorted, count, key), end = first_from(sorted, count, key + (UINT64_C(1) << 32));

    return (struct counted_range){sorted + first, end - first};
}
