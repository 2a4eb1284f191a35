/* The objects of one heap dump: three bits for each possible ID. An ID is *defined* when an object or class with it was
 * dumped, *referenced* when a field, static or class header names it, an *element* when an object array does. What is named
 * and not defined dangles; so one pass serves, and references forward cost nothing.
 *
 * IDs are addresses aligned to 8, or small consecutive numbers. Rotated right by 3 both are dense. The upper bits of that
 * key choose a page of 2^16 IDs:
 *   - a page with one ID is a slot of the directory, 8 bytes;
 *   - a page with two or three is a word more;
 *   - a page with a few is a small hash table, 4 bytes an ID and a little air;
 *   - a page with many is three bitmaps, 24 KiB, and costs a few instructions an ID.
 * A page turns into bitmaps when its IDs cost as much without, or sooner as long as all bitmaps together stay a small share
 * of what was read (id_set_allow). So memory follows the number of IDs, wherever an attacker puts them. */
#ifndef HPROF_ID_SET_H
#define HPROF_ID_SET_H

#include "base/hash.h"
#include "base/memory.h"
#include "state/page_filter.h"

enum id_set_flag { ID_DEFINED = 1, ID_REFERENCED = 2, ID_ELEMENT = 4 };

enum {
    PAGE_BITS = 16,
    PAGE_IDS = 1 << PAGE_BITS,
    PAGE_WORDS = PAGE_IDS / 32,
    DIRECTORY_PARTS = 256,
    KNOWN_PAGES = 1024,
    TABLE_SIZES = 32,
    SMALL_TABLES = 3
};

struct id_bitmaps {
    struct {
        uint32_t defined;
        uint32_t referenced;
    } pair[PAGE_WORDS]; /* together, for who asks for one often sets the other */
    uint32_t element[PAGE_WORDS];
};

/* Where bitmaps are looked for first, by page number. Each thread has its own. */
struct known_pages {
    struct known_page {
        uint64_t number;
        struct id_bitmaps *bitmaps;
    } at[KNOWN_PAGES];
};

/* The page used last. Keep one for definitions, one for references: both move slowly, but not together. */
struct recent_page {
    uint64_t page;
    struct id_bitmaps *bitmaps; /* NULL: none yet */
    struct page_filter *pages;  /* gets each page that an ID was set in; or NULL */
    struct known_pages *known;  /* of a thread; NULL: those of the set */
};

struct id_table;

struct id_block {
    void *bytes;
    size_t size;
};

struct id_set {
    struct memory *memory;
    unsigned id_size;
    uint64_t multiply[2]; /* key of the permutation of page numbers */
    uint64_t add;
    struct id_directory { /* DIRECTORY_PARTS of them; NULL while there is no ID */
        uint64_t *slots;
        uint64_t *pages; /* see id_set.c */
        uint32_t capacity, count;
        uint32_t page_capacity, page_count;
    } * parts;
    uint8_t used_parts[DIRECTORY_PARTS]; /* indexes of the parts with IDs: many small heap dumps should not pay for all parts */
    unsigned used_part_count;
    struct known_pages *known;  /* NULL while there are no bitmaps */
    bool is_shared;             /* several threads set flags, */
    struct id_set_locks *locks; /* under these; NULL if that never was so */
    uint64_t bitmap_bytes;
    uint64_t allowance;
    /* Bitmaps and the smallest tables are pieces of blocks. */
    struct id_block *blocks;
    size_t block_capacity, block_count;
    struct id_bitmaps *next_bitmaps; /* of so many left in their block */
    size_t bitmaps_left;
    uint8_t *next_table; /* of so many bytes left in their block */
    size_t table_bytes_left;
    struct id_table *given_back[SMALL_TABLES]; /* by size */
};

void id_set_init(struct id_set *s, struct memory *memory, const struct hash_key *key, unsigned id_size);
/* Forgets all IDs and gives their memory back. */
void id_set_clear(struct id_set *s);

/* How many bytes of bitmaps may be made before their pages are full enough to need them. */
static inline void id_set_allow(struct id_set *s, uint64_t bytes)
{
    s->allowance = bytes;
}

/* Puts the alignment of addresses into the top bits. */
static inline uint64_t id_to_key(uint64_t id, unsigned id_size)
{
    return id_size == 8 ? id >> 3 | id << 61 : (uint32_t)((uint32_t)id >> 3 | (uint32_t)id << 29);
}

static inline uint64_t key_to_id(uint64_t key, unsigned id_size)
{
    return id_size == 8 ? key << 3 | key >> 61 : (uint32_t)((uint32_t)key << 3 | (uint32_t)key >> 29);
}

/* From here on, several threads may set flags, and nothing else may be done with the set; false when memory ran out. */
bool id_set_share(struct id_set *s);
void id_set_end_sharing(struct id_set *s);

/* Sets a flag the long way and moves `near`; true if it was set already. */
bool id_set_set_far(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag);

/* The flags of an ID. */
unsigned id_set_get(struct id_set *s, uint64_t id);

/* Where the page of that number is looked for first. Consecutive IDs go round eight pages that differ in the top bits of their
 * numbers alone. */
static inline struct known_page *known_page_at(struct known_pages *known, uint64_t number)
{
    return &known->at[(number ^ (number >> 13 ^ number >> 45) << 7) & (KNOWN_PAGES - 1)];
}

/* The bitmaps of a page, which `near` moves to; NULL if they are not known. */
static inline struct id_bitmaps *id_set_bitmaps(struct id_set *s, struct recent_page *near, uint64_t number)
{
    const struct known_page *known;

    if (near->page == number && near->bitmaps)
        return near->bitmaps;
    if (!near->known && !s->known)
        return NULL;
    known = known_page_at(near->known ? near->known : s->known, number);
    if (known->number != number || !known->bitmaps)
        return NULL;
    if (near->pages)
        page_filter_add(near->pages, number);
    near->page = number;
    near->bitmaps = known->bitmaps;
    return near->bitmaps;
}

/* By way of a copy, so that `near` itself may live in registers. */
static inline bool id_set_set_unknown(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    struct recent_page moved = *near;
    bool was_set = id_set_set_far(s, &moved, key, flag);

    *near = moved;
    return was_set;
}

/* Sets a bit of a word; true if it was set already. Most references name what others name: a look first is cheap. */
static inline bool set_bit(uint32_t *word, uint32_t bit, const bool others)
{
    uint32_t old = others ? __atomic_load_n(word, __ATOMIC_RELAXED) : *word;

    if (!others)
        *word = old | bit;
    else if (!(old & bit))
        old = __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    return (old & bit) != 0;
}

/* These set a flag of an ID. `others`, a constant: other threads may set flags at the same time. */

/* Defines an ID; true if it was defined already. */
static inline bool id_set_define_with(struct id_set *s, struct recent_page *near, uint64_t key, const bool others)
{
    struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS);

    if (bitmaps)
        return set_bit(&bitmaps->pair[(key & (PAGE_IDS - 1)) >> 5].defined, UINT32_C(1) << (key & 31), others);
    return id_set_set_unknown(s, near, key, ID_DEFINED);
}

static inline void id_set_refer_with(struct id_set *s, struct recent_page *near, uint64_t key, const bool others)
{
    struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS);

    if (bitmaps)
        set_bit(&bitmaps->pair[(key & (PAGE_IDS - 1)) >> 5].referenced, UINT32_C(1) << (key & 31), others);
    else
        id_set_set_unknown(s, near, key, ID_REFERENCED);
}

static inline void id_set_refer_element_with(struct id_set *s, struct recent_page *near, uint64_t key, const bool others)
{
    struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS);

    if (bitmaps)
        set_bit(&bitmaps->element[(key & (PAGE_IDS - 1)) >> 5], UINT32_C(1) << (key & 31), others);
    else
        id_set_set_unknown(s, near, key, ID_ELEMENT);
}

/* The same for one thread alone. */
static inline bool id_set_define(struct id_set *s, struct recent_page *near, uint64_t key)
{
    return id_set_define_with(s, near, key, false);
}

static inline void id_set_refer(struct id_set *s, struct recent_page *near, uint64_t key)
{
    id_set_refer_with(s, near, key, false);
}

static inline void id_set_refer_element(struct id_set *s, struct recent_page *near, uint64_t key)
{
    id_set_refer_element_with(s, near, key, false);
}

/* Calls `missing` for each ID that is named and not defined, in no order. */
void id_set_sweep(const struct id_set *s, void (*missing)(void *context, uint64_t id, unsigned flags), void *context);

#endif
