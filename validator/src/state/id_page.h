/* The IDs of one page, by their lower bits, each with its flags. A page with few IDs is a word; with some, a small hash table,
 * about 4 bytes an ID; with many, three bitmaps, 24 KiB, where an ID costs a few instructions.  A page becomes bitmaps when its
 * table would be as large, or sooner while all bitmaps together are a small share of the bytes read (the allowance). So memory
 * follows the number of IDs, wherever an attacker puts them. Bitmaps never move. */
#ifndef HPROF_ID_PAGE_H
#define HPROF_ID_PAGE_H

#include "base/memory.h"
#include "base/sizes.h"

enum id_set_flag { ID_DEFINED = 1, ID_REFERENCED = 2, ID_ELEMENT = 4 };

enum {
    PAGE_BITS = USUAL_OR_SMALL(16, 12),
    PAGE_IDS = 1 << PAGE_BITS,
    PAGE_WORDS = PAGE_IDS / 32,
    ENTRY_BITS = PAGE_BITS + 3, /* of an ID with its flags */
    SMALL_TABLES = 3
};

struct id_bitmaps {
    struct {
        uint32_t defined;
        uint32_t referenced;
    } pair[PAGE_WORDS]; /* together, because an operation often needs both */
    uint32_t element[PAGE_WORDS];
};

struct id_table;

struct id_block {
    void *bytes;
    size_t size;
};

/* The memory of the pages of a set. */
struct page_store {
    struct memory *memory;
    pthread_mutex_t *lock; /* while several threads change pages, each under another lock; else NULL */
    uint32_t multiply;     /* key of the tables */
    uint64_t bitmap_bytes;
    uint64_t allowance; /* bytes of bitmaps for pages that are not full enough to need them */
    /* Bitmaps and the smallest tables are pieces of blocks. */
    struct id_block *blocks;
    size_t block_capacity, block_count;
    struct id_bitmaps *next_bitmaps; /* the next of bitmaps_left in their block */
    size_t bitmaps_left;
    uint8_t *next_table; /* the next of table_bytes_left in their block */
    size_t table_bytes_left;
    struct id_table *given_back[SMALL_TABLES]; /* by size */
};

void page_store_init(struct page_store *s, struct memory *memory, uint32_t multiply);
/* After all pages were cleared. */
void page_store_clear(struct page_store *s);

/* A page is a word, which is 0 for none. Its lowest bits say whether it has up to three entries, or the address of bitmaps or of a
 * table. */
enum { PAGE_HAS_TABLE = 0, PAGE_HAS_BITMAPS = 1, PAGE_HAS_ENTRIES = 2, PAGE_FORM_MASK = 3, PAGE_FORM_BITS = 2 };

/* The page of one ID. An entry has the lower bits of the ID, and its flags above them. */
static inline uint64_t page_of_entry(uint32_t entry)
{
    return (uint64_t)entry << PAGE_FORM_BITS | PAGE_HAS_ENTRIES;
}

/* NULL if the page has none. */
static inline struct id_bitmaps *page_bitmaps(uint64_t page)
{
    return page & PAGE_HAS_BITMAPS ? (struct id_bitmaps *)(uintptr_t)(page - PAGE_HAS_BITMAPS) : NULL;
}

/* The word of an ID's bit for one flag. */
static inline uint32_t *bitmaps_word(struct id_bitmaps *b, uint32_t low, enum id_set_flag flag)
{
    return flag == ID_DEFINED      ? &b->pair[low >> 5].defined
           : flag == ID_REFERENCED ? &b->pair[low >> 5].referenced
                                   : &b->element[low >> 5];
}

/* Sets a bit, and returns whether it was already set. */
static inline bool set_bit(uint32_t *word, uint32_t low)
{
    uint32_t bit = UINT32_C(1) << (low & 31), old = *word;

    *word = old | bit;
    return old & bit;
}

/* Sets a flag of an ID. Returns whether it was already set; false if memory ran out, too. */
bool page_set(struct page_store *s, uint64_t *page, uint32_t low, enum id_set_flag flag);
/* The flags of an ID. */
unsigned page_get(const struct page_store *s, uint64_t page, uint32_t low);
/* Calls `missing` for each ID that is used but not defined. */
void page_sweep(uint64_t page, void (*missing)(void *context, uint32_t low, unsigned flags), void *context);
/* How many IDs are defined; if any are, the lowest and the highest, by their lower bits. */
uint32_t page_defined(uint64_t page, uint32_t *lowest, uint32_t *highest);
/* Releases what the page has of its own. */
void page_clear(struct page_store *s, uint64_t page);

#endif
