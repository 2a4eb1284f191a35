/* The objects of one heap dump: three bits for each possible ID. An ID is *defined* if an object or a class with it was dumped,
 * *referenced* if a field, a static or a class header refers to it, and an *element* if an object array does. An ID that is
 * used but not defined dangles. So one pass is enough, and forward references cost nothing.
 *
 * IDs are addresses aligned to 8, or small consecutive numbers. Rotated right by 3, both are dense. The upper bits of that key
 * select a page of 2^16 IDs. A page with one ID is a slot of the directory, 8 bytes; with two or three, one word more; with a
 * few, a small hash table, about 4 bytes an ID; with many, three bitmaps, 24 KiB, where an ID costs a few instructions.
 *
 * A page becomes bitmaps when its table would be as large, or sooner while all bitmaps together are a small share of the
 * bytes read (id_set_allow). So memory follows the number of IDs, wherever an attacker puts them. */
#ifndef HPROF_ID_SET_H
#define HPROF_ID_SET_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "state/page_filter.h"

enum id_set_flag { ID_DEFINED = 1, ID_REFERENCED = 2, ID_ELEMENT = 4 };

enum {
    PAGE_BITS = USUAL_OR_SMALL(16, 12),
    PAGE_IDS = 1 << PAGE_BITS,
    PAGE_WORDS = PAGE_IDS / 32,
    DIRECTORY_PARTS = 256,
    KNOWN_PAGES = USUAL_OR_SMALL(1024, 4),
    TABLE_SIZES = 32,
    SMALL_TABLES = 3
};

struct id_bitmaps {
    struct {
        uint32_t defined;
        uint32_t referenced;
    } pair[PAGE_WORDS]; /* together, because an operation often needs both */
    uint32_t element[PAGE_WORDS];
};

/* A cache of bitmaps by page number. Each thread has its own. */
struct known_pages {
    struct known_page {
        uint64_t number; /* NO_PAGE if the entry is free */
        struct id_bitmaps *bitmaps;
    } at[KNOWN_PAGES];
};

/* References of a thread among others that are not in the bitmaps yet. Atomic operations are dear, and IDs used one after the other
 * are often near each other: so it gathers the bits of a word until another word needs its place. */
enum { GATHERED = 8 };
struct gathered {
    uint32_t *word;
    uint32_t bits;
};

/* Definitions of a thread among others that are not in the bitmaps yet. Objects are dumped in the order of their addresses, so a
 * thread has words of its own for a page, and adds them to the bitmaps, under a lock, when it comes to another one. Small
 * consecutive IDs cycle through eight pages. */
enum { OWN_PAGES = 8, OWN_GROUP = 32 };
struct own_pages {
    struct id_set *twice; /* gets, as elements, IDs that were already defined */
    struct own_page {
        uint64_t number; /* NO_PAGE for none; then no bit is set in the words */
        struct id_bitmaps *bitmaps;
        uint64_t groups; /* those groups of words in which a bit is set */
    } at[OWN_PAGES];
    uint32_t words[OWN_PAGES][PAGE_WORDS];
};

/* The last page used. Definitions and references need one each, since both move slowly, but not together. */
#define NO_PAGE UINT64_MAX /* is no number of a page */
struct recent_page {
    uint64_t page; /* NO_PAGE for none */
    struct id_bitmaps *bitmaps;
    struct page_filter *pages; /* NULL, or gets each page in which an ID is set */
    struct known_pages *known; /* the cache of a thread, or NULL for that of the set */
    struct gathered *gathered; /* with other threads: of references, */
    struct own_pages *own;     /* of definitions */
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
    uint8_t used_parts[DIRECTORY_PARTS]; /* indexes of the parts with IDs, so that small heap dumps do not pay for all parts */
    unsigned used_part_count;
    struct known_pages *known;  /* NULL while there are no bitmaps */
    bool is_shared;             /* several threads set flags */
    struct id_set_locks *locks; /* NULL until the set is shared */
    uint64_t bitmap_bytes;
    uint64_t allowance;
    /* Bitmaps and the smallest tables are pieces of blocks. */
    struct id_block *blocks;
    size_t block_capacity, block_count;
    struct id_bitmaps *next_bitmaps; /* the next of bitmaps_left in their block */
    size_t bitmaps_left;
    uint8_t *next_table; /* the next of table_bytes_left in their block */
    size_t table_bytes_left;
    struct id_table *given_back[SMALL_TABLES]; /* by size */
};

void id_set_init(struct id_set *s, struct memory *memory, const struct hash_key *key, unsigned id_size);
/* Removes all IDs and releases their memory. */
void id_set_clear(struct id_set *s);

/* Allows this many bytes of bitmaps for pages that are not full enough to need them. */
static inline void id_set_allow(struct id_set *s, uint64_t bytes)
{
    s->allowance = bytes;
}

/* Moves the alignment bits of addresses to the top. */
static inline uint64_t id_to_key(uint64_t id, unsigned id_size)
{
    return id_size == 8 ? id >> 3 | id << 61 : (uint32_t)((uint32_t)id >> 3 | (uint32_t)id << 29);
}

static inline uint64_t key_to_id(uint64_t key, unsigned id_size)
{
    return id_size == 8 ? key << 3 | key >> 61 : (uint32_t)((uint32_t)key << 3 | (uint32_t)key >> 29);
}

/* From here on, several threads may set flags, and nothing else may be done with the set. False if memory ran out. */
bool id_set_share(struct id_set *s);
void id_set_end_sharing(struct id_set *s);

/* Sets a flag without the cache, and moves `near`. Returns whether it was already set. */
bool id_set_set_far(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag);

/* The flags of an ID. */
unsigned id_set_get(struct id_set *s, uint64_t id);

/* Inlined in each of the loops that call them for nearly every byte of a dump; id_size and `others` are constants there. */
#define ID_SET_HOT static inline __attribute__((always_inline))

void known_pages_clear(struct known_pages *known);

/* The entry of a page in the cache. Consecutive IDs cycle through eight pages whose numbers differ only in the top bits. */
ID_SET_HOT struct known_page *known_page_at(struct known_pages *known, uint64_t number, const unsigned id_size)
{
    return &known->at[(number ^ number >> (id_size == 8 ? 45 : 13) << 7) & (KNOWN_PAGES - 1)];
}

/* The bitmaps of a page, to which `near` moves; NULL if the cache lacks them. */
ID_SET_HOT struct id_bitmaps *id_set_bitmaps(struct id_set *s, struct recent_page *near, uint64_t number,
                                             const unsigned id_size, const bool others)
{
    const struct known_page *known;

    if (near->page == number)
        return near->bitmaps;
    if (!others && !s->known)
        return NULL;
    known = known_page_at(others ? near->known : s->known, number, id_size);
    if (known->number != number)
        return NULL;
    if (near->pages)
        page_filter_add(near->pages, number);
    near->page = number;
    near->bitmaps = known->bitmaps;
    return near->bitmaps;
}

/* Works on a copy, so that `near` itself can stay in registers. */
static inline bool id_set_set_unknown(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    struct recent_page moved = *near;
    bool was_set = id_set_set_far(s, &moved, key, flag);

    *near = moved;
    return was_set;
}

static inline void set_gathered(struct gathered *g)
{
    if (g->bits)
        __atomic_fetch_or(g->word, g->bits, __ATOMIC_RELAXED);
    g->bits = 0;
}

/* Sets all bits that were gathered of references. */
static inline void id_set_flush(struct recent_page *near)
{
    for (unsigned i = 0; i < GATHERED; i++)
        set_gathered(&near->gathered[i]);
}

/* Sets a bit, or gathers it. Most references repeat others, so with other threads the bit is tested first. */
static inline void add_bit(struct recent_page *near, uint32_t *word, uint32_t bit, const bool others)
{
    struct gathered *g;

    if (!others) {
        *word |= bit;
        return;
    }
    if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
        return;
    g = &near->gathered[(uintptr_t)word / sizeof(uint64_t) % GATHERED];
    if (word != g->word) {
        set_gathered(g);
        g->word = word;
    }
    g->bits |= bit;
}

/* Adds the definitions of all own pages to the bitmaps. */
void id_set_add_own(struct id_set *s, struct own_pages *own);
/* Defines an ID that is not in own page i, which then becomes that of the ID. */
void id_set_define_far(struct id_set *s, struct recent_page *near, unsigned i, uint64_t key);
/* Sets a flag of an ID without any cache. Returns whether it was already set. */
bool id_set_set(struct id_set *s, uint64_t key, enum id_set_flag flag);

/* These set a flag of an ID. `others` is a constant: whether other threads may set flags at the same time; then id_set_add_own() or
 * id_set_flush() must follow. */

/* Defines an ID. Returns whether it was already defined; with other threads, the set of IDs that are defined twice gets it
 * sooner or later. */
ID_SET_HOT bool id_set_define_with(struct id_set *s, struct recent_page *near, uint64_t key, const unsigned id_size,
                                   const bool others)
{
    uint32_t low = (uint32_t)(key & (PAGE_IDS - 1)), bit = UINT32_C(1) << (low & 31), *word;
    bool was_set;

    if (others) {
        const unsigned i = (unsigned)(id_size == 8 ? key >> 61 : key >> 29);
        struct own_page *own = &near->own->at[i];

        if (__builtin_expect(own->number != key >> PAGE_BITS, 0)) {
            id_set_define_far(s, near, i, key);
            return false;
        }
        own->groups |= UINT64_C(1) << (low / (32 * OWN_GROUP));
        word = &near->own->words[i][low >> 5];
    } else {
        struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS, id_size, others);

        if (!bitmaps)
            return id_set_set_unknown(s, near, key, ID_DEFINED);
        word = &bitmaps->pair[low >> 5].defined;
    }
    was_set = *word & bit;
    *word |= bit;
    if (others && __builtin_expect(was_set, 0))
        id_set_set(near->own->twice, key, ID_ELEMENT);
    return was_set;
}

/* Sets ID_REFERENCED or ID_ELEMENT; the flag is a constant, too. */
ID_SET_HOT void id_set_refer_with(struct id_set *s, struct recent_page *near, uint64_t key, const enum id_set_flag flag,
                                  const unsigned id_size, const bool others)
{
    struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS, id_size, others);
    uint32_t word = (uint32_t)(key & (PAGE_IDS - 1)) >> 5;

    if (bitmaps)
        add_bit(near, flag == ID_ELEMENT ? &bitmaps->element[word] : &bitmaps->pair[word].referenced, UINT32_C(1) << (key & 31),
                others);
    else
        id_set_set_unknown(s, near, key, flag);
}

/* The same for a single thread. */
static inline bool id_set_define(struct id_set *s, struct recent_page *near, uint64_t key)
{
    return id_set_define_with(s, near, key, s->id_size, false);
}

static inline void id_set_refer(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    id_set_refer_with(s, near, key, flag, s->id_size, false);
}

/* Sets ID_REFERENCED, without other threads. Returns whether it was already set. */
static inline bool id_set_refer_again(struct id_set *s, struct recent_page *near, uint64_t key)
{
    struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS, s->id_size, false);
    uint32_t low = (uint32_t)(key & (PAGE_IDS - 1)), bit = UINT32_C(1) << (low & 31);
    bool was_set;

    if (!bitmaps)
        return id_set_set_unknown(s, near, key, ID_REFERENCED);
    was_set = bitmaps->pair[low >> 5].referenced & bit;
    bitmaps->pair[low >> 5].referenced |= bit;
    return was_set;
}

/* Whether an ID is defined; without other threads. */
static inline bool id_set_is_defined(struct id_set *s, struct recent_page *near, uint64_t key)
{
    const struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS, s->id_size, false);
    uint32_t low = (uint32_t)(key & (PAGE_IDS - 1));

    if (bitmaps)
        return bitmaps->pair[low >> 5].defined >> (low & 31) & 1;
    return id_set_get(s, key_to_id(key, s->id_size)) & ID_DEFINED;
}

/* Calls `missing` for each ID that is used but not defined, in no particular order. */
void id_set_sweep(const struct id_set *s, void (*missing)(void *context, uint64_t id, unsigned flags), void *context);

#endif
