/* The objects of one heap dump: three bits for each possible ID. An ID is *defined* if an object or a class with it was dumped,
 * *referenced* if a field, a static or a class header refers to it, and an *element* if an object array does. An ID that is
 * used but not defined dangles. So one pass is enough, and forward references cost nothing.
 *
 * IDs are addresses aligned to 8, or small consecutive numbers. Rotated right by 3, both are dense. The upper bits of that key
 * are the number of a page of 2^16 IDs (id_page.h), which a directory finds (id_directory.h).
 *
 * One thread alone sets bits where they are. Several threads gather them first (id_windows.h), because a word that many threads
 * write is slow for all of them. */
#ifndef HPROF_ID_SET_H
#define HPROF_ID_SET_H

#include "state/id_directory.h"
#include "state/page_filter.h"

enum { KNOWN_PAGES = USUAL_OR_SMALL(1024, 4) };

/* The last page used. Definitions and references need one each, since both move slowly, but not together. */
#define NO_PAGE UINT64_MAX /* is no number of a page */
struct recent_page {
    uint64_t page; /* NO_PAGE for none */
    struct id_bitmaps *bitmaps;
    uint32_t *words;            /* with other threads: of the page's window, instead */
    struct page_filter *pages;  /* NULL, or gets each page in which an ID is set */
    struct id_windows *windows; /* of a thread among others */
};

struct id_set {
    struct memory *memory;
    unsigned id_size;
    struct id_directory directory;
    struct page_store pages;
    /* A cache of bitmaps by page number; NULL while there are none. */
    struct known_page {
        uint64_t number; /* NO_PAGE if the entry is free */
        struct id_bitmaps *bitmaps;
    } * known;
    bool is_shared;             /* several threads set flags */
    struct id_set_locks *locks; /* NULL until the set is shared */
};

void id_set_init(struct id_set *s, struct memory *memory, const struct hash_key *key, unsigned id_size);
/* Removes all IDs, and keeps a little memory for the next ones; */
void id_set_empty(struct id_set *s);
/* or none. */
void id_set_clear(struct id_set *s);

/* Allows this many bytes of bitmaps for pages that are not full enough to need them. While several threads set flags, it can
 * only be called with the number that is allowed already. */
static inline void id_set_allow(struct id_set *s, uint64_t bytes)
{
    if (s->pages.allowance != bytes)
        s->pages.allowance = bytes;
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

static inline uint32_t low_of_key(uint64_t key)
{
    return (uint32_t)(key & (PAGE_IDS - 1));
}

/* The flags of an ID. */
unsigned id_set_get(struct id_set *s, uint64_t id);

/* Calls `missing` for each ID that is used but not defined, in no particular order. */
void id_set_sweep(const struct id_set *s, void (*missing)(void *context, uint64_t id, unsigned flags), void *context);

/* How many IDs are defined, and the lowest and the highest of those with each remainder by 8: none where the lowest is above the
 * highest. */
struct defined_ids {
    uint64_t count;
    struct {
        uint64_t lowest, highest;
    } by_remainder[8];
};
struct defined_ids id_set_defined(const struct id_set *s);

/* Sets a flag of an ID without any cache. Returns whether it was already set. */
bool id_set_set(struct id_set *s, uint64_t key, enum id_set_flag flag);

/* ---- Several threads ---- */

/* From here on, several threads may set flags with id_set_set() and with the two functions below, and nothing else may be done with
 * the set. False if memory ran out. */
bool id_set_share(struct id_set *s);
void id_set_end_sharing(struct id_set *s);

/* Sets a flag of the IDs of a page whose bits are set in PAGE_WORDS words. `twice` gets, as elements, those that are to be
 * defined and already were. */
void id_set_merge(struct id_set *s, uint64_t number, enum id_set_flag flag, const uint32_t *words, struct id_set *twice);

/* An ID of a group, with one flag, in a word. */
static inline uint64_t far_id(uint64_t place, uint32_t low, enum id_set_flag flag)
{
    return place << ENTRY_BITS | (uint64_t)flag << PAGE_BITS | low;
}

static inline uint64_t place_of_far(unsigned group, uint64_t far)
{
    return (uint64_t)group << REST_BITS | far >> ENTRY_BITS;
}

static inline enum id_set_flag flag_of_far(uint64_t far)
{
    return (unsigned)(far >> PAGE_BITS) & (ID_DEFINED | ID_REFERENCED | ID_ELEMENT);
}

/* Sets the flags of IDs of one group. `twice` likewise. */
void id_set_apply(struct id_set *s, unsigned group, const uint64_t *far, size_t n, struct id_set *twice);

/* ---- One thread alone ---- */

/* Inlined in each of the loops that call them for nearly every byte of a dump; id_size is a constant there. */
#define ID_SET_HOT static inline __attribute__((always_inline))

/* Sets a flag without the cache, and moves `near`. Returns whether it was already set. */
bool id_set_set_far(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag);

/* The entry of a page in the cache. Consecutive IDs cycle through eight pages whose numbers differ only in the top bits. */
ID_SET_HOT size_t known_page_index(uint64_t number, const unsigned id_size)
{
    return (number ^ number >> (id_size == 8 ? 45 : 13) << 7) & (KNOWN_PAGES - 1);
}

/* The bitmaps of a page, to which `near` moves; NULL if the cache lacks them. */
ID_SET_HOT struct id_bitmaps *id_set_bitmaps(struct id_set *s, struct recent_page *near, uint64_t number,
                                             const unsigned id_size)
{
    const struct known_page *known;

    if (near->page == number)
        return near->bitmaps;
    if (!s->known)
        return NULL;
    known = &s->known[known_page_index(number, id_size)];
    if (known->number != number)
        return NULL;
    if (near->pages)
        page_filter_add(near->pages, number);
    near->page = number;
    near->bitmaps = known->bitmaps;
    return near->bitmaps;
}

/* Fetches the word of an ID into the cache, if the cache of bitmaps has its page. */
ID_SET_HOT void id_set_fetch(const struct id_set *s, uint64_t key, const enum id_set_flag flag, const unsigned id_size)
{
    const struct known_page *known = &s->known[known_page_index(key >> PAGE_BITS, id_size)];

    if (known->number == key >> PAGE_BITS)
        __builtin_prefetch(bitmaps_word(known->bitmaps, low_of_key(key), flag), 1);
}

/* Works on a copy, so that `near` itself can stay in registers. */
static inline bool id_set_set_unknown(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    struct recent_page moved = *near;
    bool was_set = id_set_set_far(s, &moved, key, flag);

    *near = moved;
    return was_set;
}

/* Sets a flag, which is a constant, too. Returns whether it was already set. */
ID_SET_HOT bool id_set_mark(struct id_set *s, struct recent_page *near, uint64_t key, const enum id_set_flag flag,
                            const unsigned id_size)
{
    struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS, id_size);

    if (!bitmaps)
        return id_set_set_unknown(s, near, key, flag);
    return set_bit(bitmaps_word(bitmaps, low_of_key(key), flag), low_of_key(key));
}

static inline bool id_set_define(struct id_set *s, struct recent_page *near, uint64_t key)
{
    return id_set_mark(s, near, key, ID_DEFINED, s->id_size);
}

/* Sets ID_REFERENCED or ID_ELEMENT. */
static inline bool id_set_refer(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    return flag == ID_ELEMENT ? id_set_mark(s, near, key, ID_ELEMENT, s->id_size)
                              : id_set_mark(s, near, key, ID_REFERENCED, s->id_size);
}

/* Whether an ID is defined. */
static inline bool id_set_is_defined(struct id_set *s, struct recent_page *near, uint64_t key)
{
    struct id_bitmaps *bitmaps = id_set_bitmaps(s, near, key >> PAGE_BITS, s->id_size);

    if (bitmaps)
        return *bitmaps_word(bitmaps, low_of_key(key), ID_DEFINED) >> (key & 31) & 1;
    return id_set_get(s, key_to_id(key, s->id_size)) & ID_DEFINED;
}

#endif
