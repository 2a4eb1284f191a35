/* See id_set.h. */
#include "state/id_set.h"

#include <string.h>

/* Pages change under the lock of their group; the memory of all pages has a lock of its own. */
enum { LOCK_OF_MEMORY = PAGE_GROUPS, LOCKS };
struct id_set_locks {
    union {
        pthread_mutex_t mutex;
        char size[64]; /* two locks in a line of the cache would slow each other */
    } at[LOCKS];
};

void id_set_init(struct id_set *s, struct memory *memory, const struct hash_key *key, unsigned id_size)
{
    memset(s, 0, sizeof *s);
    s->memory = memory;
    s->id_size = id_size;
    directory_init(&s->directory, memory, key);
    page_store_init(&s->pages, memory, (uint32_t)(s->directory.multiply[1] >> 16 | 1));
}

static void clear_locks(struct id_set *s)
{
    if (!s->locks)
        return;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&s->locks->at[i].mutex);
    memory_put(s->memory, s->locks, sizeof *s->locks);
    s->locks = NULL;
}

void id_set_empty(struct id_set *s)
{
    clear_locks(s);
    directory_empty(&s->directory, &s->pages);
    page_store_clear(&s->pages);
    memory_put(s->memory, s->known, KNOWN_PAGES * sizeof *s->known);
    s->known = NULL;
}

void id_set_clear(struct id_set *s)
{
    id_set_empty(s);
    directory_clear(&s->directory, &s->pages);
}

unsigned id_set_get(struct id_set *s, uint64_t id)
{
    uint64_t key = id_to_key(id, s->id_size);
    uint64_t page = directory_get(&s->directory, page_place(&s->directory, key >> PAGE_BITS));

    return page ? page_get(&s->pages, page, low_of_key(key)) : 0;
}

/* ---- Setting flags ---- */

static void lock(struct id_set *s, size_t which)
{
    if (s->is_shared)
        pthread_mutex_lock(&s->locks->at[which].mutex);
}

static void unlock(struct id_set *s, size_t which)
{
    if (s->is_shared)
        pthread_mutex_unlock(&s->locks->at[which].mutex);
}

/* Called under the lock of the group. Sets a flag of an ID, and returns whether it was already set; *bitmaps are those of its
 * page, or NULL. */
static bool set_at(struct id_set *s, uint64_t place, uint32_t low, enum id_set_flag flag, struct id_bitmaps **bitmaps)
{
    bool was_set;
    uint64_t *page = directory_set(&s->directory, place, low, flag, &was_set);

    if (page)
        was_set = page_set(&s->pages, page, low, flag);
    *bitmaps = page ? page_bitmaps(*page) : NULL;
    return was_set;
}

static bool set_flag(struct id_set *s, uint64_t key, enum id_set_flag flag, struct id_bitmaps **bitmaps)
{
    uint64_t place = page_place(&s->directory, key >> PAGE_BITS);
    bool was_set;

    lock(s, group_of_place(place));
    was_set = set_at(s, place, low_of_key(key), flag, bitmaps);
    unlock(s, group_of_place(place));
    return was_set;
}

bool id_set_set(struct id_set *s, uint64_t key, enum id_set_flag flag)
{
    struct id_bitmaps *bitmaps;

    return set_flag(s, key, flag, &bitmaps);
}

static void know(struct id_set *s, uint64_t number, struct id_bitmaps *bitmaps)
{
    if (!s->known) {
        s->known = memory_get(s->memory, KNOWN_PAGES * sizeof *s->known);
        if (!s->known)
            return;
        memset(s->known, 0xff, KNOWN_PAGES * sizeof *s->known); /* NO_PAGE everywhere */
    }
    s->known[known_page_index(number, s->id_size)] = (struct known_page){number, bitmaps};
}

bool id_set_set_far(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    uint64_t number = key >> PAGE_BITS;
    struct id_bitmaps *bitmaps;
    bool was_set = set_flag(s, key, flag, &bitmaps);

    if (near->pages)
        page_filter_add(near->pages, number);
    if (bitmaps) {
        near->page = number;
        near->bitmaps = bitmaps;
        know(s, number, bitmaps);
    }
    return was_set;
}

/* ---- Several threads ---- */

bool id_set_share(struct id_set *s)
{
    if (!s->locks) {
        s->locks = memory_try(s->memory, sizeof *s->locks);
        if (!s->locks)
            return false;
        for (size_t i = 0; i < LOCKS; i++)
            pthread_mutex_init(&s->locks->at[i].mutex, NULL);
    }
    s->is_shared = directory_prepare(&s->directory);
    if (s->is_shared)
        s->directory.lock = s->pages.lock = &s->locks->at[LOCK_OF_MEMORY].mutex;
    return s->is_shared;
}

void id_set_end_sharing(struct id_set *s)
{
    s->is_shared = false;
    s->directory.lock = s->pages.lock = NULL;
}

static void add_twice(struct id_set *twice, uint64_t key, uint32_t bits)
{
    for (; bits; bits &= bits - 1)
        id_set_set(twice, key | (unsigned)__builtin_ctz(bits), ID_ELEMENT);
}

/* Returns which bits were already set. */
static uint32_t merge_word(uint32_t *to, uint32_t bits)
{
    uint32_t old = *to;

    *to = old | bits;
    return old & bits;
}

static uint32_t merge_by_id(struct id_set *s, uint64_t place, enum id_set_flag flag, uint32_t low, uint32_t bits,
                            struct id_bitmaps **bitmaps)
{
    uint32_t both = 0;

    for (; bits; bits &= bits - 1)
        if (set_at(s, place, low | (unsigned)__builtin_ctz(bits), flag, bitmaps))
            both |= bits & -bits;
    return both;
}

static void merge_at(struct id_set *s, uint64_t place, uint64_t number, enum id_set_flag flag, const uint32_t *words,
                     struct id_set *twice)
{
    enum { GROUP = 8 };
    struct id_bitmaps *bitmaps = page_bitmaps(directory_get(&s->directory, place));

    for (uint32_t group = 0; group < PAGE_WORDS; group += GROUP) {
        uint32_t any = 0;

        for (uint32_t i = 0; i < GROUP; i++)
            any |= words[group + i];
        for (uint32_t i = group; any && i < group + GROUP; i++) {
            uint32_t both = bitmaps ? merge_word(bitmaps_word(bitmaps, i << 5, flag), words[i])
                                    : merge_by_id(s, place, flag, i << 5, words[i], &bitmaps);

            if (__builtin_expect(flag == ID_DEFINED && both, 0))
                add_twice(twice, number << PAGE_BITS | i << 5, both);
        }
    }
}

void id_set_merge(struct id_set *s, uint64_t number, enum id_set_flag flag, const uint32_t *words, struct id_set *twice)
{
    uint64_t place = page_place(&s->directory, number);

    lock(s, group_of_place(place));
    merge_at(s, place, number, flag, words, twice);
    unlock(s, group_of_place(place));
}

static void apply_one(struct id_set *s, unsigned group, uint64_t far, struct id_bitmaps *bitmaps, struct id_set *twice)
{
    uint64_t place = place_of_far(group, far);
    uint32_t low = low_of_key(far);
    enum id_set_flag flag = flag_of_far(far);
    bool was_set = bitmaps ? set_bit(bitmaps_word(bitmaps, low, flag), low) : set_at(s, place, low, flag, &bitmaps);

    if (was_set && flag == ID_DEFINED)
        id_set_set(twice, page_number(&s->directory, place) << PAGE_BITS | low, ID_ELEMENT);
}

void id_set_apply(struct id_set *s, unsigned group, const uint64_t *far, size_t n, struct id_set *twice)
{
    enum { AT_A_TIME = 16 }; /* whose words are fetched into the cache at the same time */

    lock(s, group);
    for (size_t done = 0; done < n; done += AT_A_TIME) {
        size_t some = n - done < AT_A_TIME ? n - done : AT_A_TIME;
        struct id_bitmaps *bitmaps[AT_A_TIME];

        for (size_t i = 0; i < some; i++) {
            uint64_t one = far[done + i];

            bitmaps[i] = page_bitmaps(directory_get(&s->directory, place_of_far(group, one)));
            if (bitmaps[i])
                __builtin_prefetch(bitmaps_word(bitmaps[i], low_of_key(one), flag_of_far(one)), 1);
        }
        for (size_t i = 0; i < some; i++)
            apply_one(s, group, far[done + i], bitmaps[i], twice);
    }
    unlock(s, group);
}

/* ---- What is missing ---- */

struct sweep {
    const struct id_set *set;
    uint64_t number; /* of the present page */
    void (*missing)(void *context, uint64_t id, unsigned flags);
    void *context;
};

static void sweep_id(void *context, uint32_t low, unsigned flags)
{
    const struct sweep *w = context;

    w->missing(w->context, key_to_id(w->number << PAGE_BITS | low, w->set->id_size), flags);
}

static void sweep_page(void *context, uint64_t number, uint64_t page)
{
    struct sweep *w = context;

    w->number = number;
    page_sweep(page, sweep_id, w);
}

void id_set_sweep(const struct id_set *s, void (*missing)(void *context, uint64_t id, unsigned flags), void *context)
{
    struct sweep w = {s, 0, missing, context};

    directory_each(&s->directory, sweep_page, &w);
}

/* ---- What is defined ---- */

struct defined_of {
    const struct id_set *set;
    struct defined_ids ids;
};

static void widen(struct defined_ids *ids, uint64_t id)
{
    uint64_t *lowest = &ids->by_remainder[id % 8].lowest, *highest = &ids->by_remainder[id % 8].highest;

    if (id < *lowest)
        *lowest = id;
    if (id > *highest)
        *highest = id;
}

/* All IDs of a page leave the same remainder. */
static void widen_by_page(void *context, uint64_t number, uint64_t page)
{
    struct defined_of *d = context;
    uint32_t lowest, highest, count = page_defined(page, &lowest, &highest);

    if (!count)
        return;
    widen(&d->ids, key_to_id(number << PAGE_BITS | lowest, d->set->id_size));
    widen(&d->ids, key_to_id(number << PAGE_BITS | highest, d->set->id_size));
    d->ids.count += count;
}

struct defined_ids id_set_defined(const struct id_set *s)
{
    struct defined_of d = {.set = s};

    for (unsigned i = 0; i < 8; i++)
        d.ids.by_remainder[i].lowest = UINT64_MAX;
    directory_each(&s->directory, widen_by_page, &d);
    return d.ids;
}
