/* See id_page.h. */
#include "state/id_page.h"

#include <string.h>

enum {
    TABLE_SIZES = 32,
    EARLY_BITMAPS = USUAL_OR_SMALL(64, 8), /* IDs in a page that justify bitmaps within the allowance */
    FULL_TABLE = PAGE_IDS / 16,            /* IDs in a page whose table would be as large as bitmaps: 6 bytes each */
    FIRST_TABLE_BLOCK = 1 << 10,           /* enough for a small dump */
    TABLE_BLOCK = USUAL_OR_SMALL(64 << 10, 1 << 10),
    BITMAP_BLOCK = USUAL_OR_SMALL(2 << 20, 32 << 10), /* a huge page */
    ENTRIES_END = PAGE_FORM_BITS + 3 * ENTRY_BITS
};

/* A page with some IDs. 0 is a free entry. */
struct id_table {
    uint16_t count;
    uint16_t size; /* index in table_capacity */
    uint32_t entries[];
};

static struct id_table *as_table(uint64_t page)
{
    return (page & PAGE_FORM_MASK) == PAGE_HAS_TABLE ? (struct id_table *)(uintptr_t)page : NULL;
}

static uint32_t low_of(uint32_t entry)
{
    return entry & (PAGE_IDS - 1);
}

static void lock(struct page_store *s)
{
    if (s->lock)
        pthread_mutex_lock(s->lock);
}

static void unlock(struct page_store *s)
{
    if (s->lock)
        pthread_mutex_unlock(s->lock);
}

void page_store_init(struct page_store *s, struct memory *memory, uint32_t multiply)
{
    *s = (struct page_store){.memory = memory, .multiply = multiply};
}

void page_store_clear(struct page_store *s)
{
    for (size_t i = 0; i < s->block_count; i++)
        memory_put(s->memory, s->blocks[i].bytes, s->blocks[i].size);
    memory_put(s->memory, s->blocks, s->block_capacity * sizeof *s->blocks);
    *s = (struct page_store){.memory = s->memory, .multiply = s->multiply, .allowance = s->allowance};
}

/* ---- Blocks ---- */

static void *block_new(struct page_store *s, size_t size)
{
    void *blocks = s->blocks, *bytes;

    if (!memory_grow(s->memory, &blocks, &s->block_capacity, s->block_count + 1, sizeof *s->blocks))
        return NULL;
    s->blocks = blocks;
    bytes = memory_get(s->memory, size);
    if (bytes)
        s->blocks[s->block_count++] = (struct id_block){bytes, size};
    return bytes;
}

/* The first ones have a block each; later ones share huge pages, because otherwise nearly every reference misses the TLB. */
static struct id_bitmaps *take_bitmaps(struct page_store *s)
{
    enum { FIT = BITMAP_BLOCK / sizeof(struct id_bitmaps), ALONE = FIT / 4 };

    if (!s->bitmaps_left) {
        size_t n = s->bitmap_bytes < ALONE * sizeof(struct id_bitmaps) ? 1 : FIT;

        s->next_bitmaps = block_new(s, n == FIT ? BITMAP_BLOCK : n * sizeof(struct id_bitmaps));
        if (!s->next_bitmaps)
            return NULL;
        s->bitmaps_left = n;
    }
    s->bitmaps_left--;
    s->bitmap_bytes += sizeof(struct id_bitmaps);
    return s->next_bitmaps++;
}

static struct id_bitmaps *bitmaps_new(struct page_store *s)
{
    struct id_bitmaps *b;

    lock(s);
    b = take_bitmaps(s);
    unlock(s);
    if (b)
        memset(b, 0, sizeof *b);
    return b;
}

/* ---- Tables ---- */

/* Each is about a third larger than the one before. Small tables may be full, large ones at most to 7/8. */
static const uint16_t table_capacity[TABLE_SIZES] = {5,   8,   11,  15,  20,  27,  36,   48,   64,   86,   115,  154,
                                                     206, 275, 367, 490, 654, 872, 1163, 1551, 2068, 2758, 3678, 4904};

static size_t table_bytes(unsigned size)
{
    return sizeof(struct id_table) + table_capacity[size] * sizeof(uint32_t);
}

static bool table_is_full(const struct id_table *t)
{
    return t->count >= table_capacity[t->size] - table_capacity[t->size] / 8;
}

/* The smallest tables are too small for an allocation each, and are reused when released. The pages of a dump tend to grow
 * in step, so larger tables are really released: their size is not needed again. */
static struct id_table *small_table_new(struct page_store *s, unsigned size)
{
    size_t bytes = table_bytes(size);
    struct id_table *t = s->given_back[size];

    if (t) {
        memcpy(&s->given_back[size], t, sizeof(void *));
        return t;
    }
    if (s->table_bytes_left < bytes) {
        size_t block = s->block_count ? TABLE_BLOCK : FIRST_TABLE_BLOCK;

        s->next_table = block_new(s, block);
        if (!s->next_table)
            return NULL;
        s->table_bytes_left = block;
    }
    t = (struct id_table *)(void *)s->next_table;
    s->next_table += bytes;
    s->table_bytes_left -= bytes;
    return t;
}

static struct id_table *table_new(struct page_store *s, unsigned size)
{
    struct id_table *t;

    lock(s);
    t = size < SMALL_TABLES ? small_table_new(s, size) : memory_get(s->memory, table_bytes(size));
    unlock(s);
    if (t) {
        memset(t, 0, table_bytes(size));
        t->size = (uint16_t)size;
    }
    return t;
}

static void table_give_back(struct page_store *s, struct id_table *t)
{
    unsigned size = t->size;

    if (size >= SMALL_TABLES) {
        memory_put(s->memory, t, table_bytes(size));
        return;
    }
    lock(s);
    memcpy(t, &s->given_back[size], sizeof(void *));
    s->given_back[size] = t;
    unlock(s);
}

/* The entry of an ID, or a free entry for it; NULL if there is neither. */
static uint32_t *table_probe(const struct page_store *s, struct id_table *t, uint32_t low)
{
    uint32_t capacity = table_capacity[t->size];
    uint32_t i = (low * s->multiply >> 16) * capacity >> 16;

    for (uint32_t n = capacity; n; n--) {
        if (!t->entries[i] || low_of(t->entries[i]) == low)
            return &t->entries[i];
        if (++i == capacity)
            i = 0;
    }
    return NULL;
}

/* ---- Forms ---- */

/* The entry at a bit of the word; PAGE_FORM_BITS is the first, and ENTRIES_END follows the last. */
static uint32_t entry_at(uint64_t page, unsigned bit)
{
    return (uint32_t)(page >> bit) & ((1U << ENTRY_BITS) - 1);
}

/* The bit of an ID's entry, or of a free entry for it; ENTRIES_END if there is neither. */
static unsigned find_entry(uint64_t page, uint32_t low)
{
    unsigned bit = PAGE_FORM_BITS;

    while (bit < ENTRIES_END && entry_at(page, bit) && low_of(entry_at(page, bit)) != low)
        bit += ENTRY_BITS;
    return bit;
}

static unsigned bitmaps_get(const struct id_bitmaps *b, uint32_t low)
{
    unsigned bit = low & 31;

    return (b->pair[low >> 5].defined >> bit & 1) * ID_DEFINED | (b->pair[low >> 5].referenced >> bit & 1) * ID_REFERENCED |
           (b->element[low >> 5] >> bit & 1) * ID_ELEMENT;
}

static bool bitmaps_are_allowed(struct page_store *s)
{
    bool allowed;

    lock(s);
    allowed = s->bitmap_bytes + sizeof(struct id_bitmaps) <= s->allowance;
    unlock(s);
    return allowed;
}

static bool bitmaps_are_due(struct page_store *s, const struct id_table *t)
{
    return t->count >= FULL_TABLE || t->size + 1U >= TABLE_SIZES || !table_capacity[t->size + 1] ||
           (t->count >= EARLY_BITMAPS && bitmaps_are_allowed(s));
}

static bool entries_to_table(struct page_store *s, uint64_t *page)
{
    struct id_table *t = table_new(s, 0);

    if (!t)
        return false;
    for (unsigned bit = PAGE_FORM_BITS; bit < ENTRIES_END; bit += ENTRY_BITS) {
        *table_probe(s, t, low_of(entry_at(*page, bit))) = entry_at(*page, bit);
        t->count++;
    }
    *page = (uintptr_t)t;
    return true;
}

/* Makes room in a page whose word or table is full: a larger table, or bitmaps. False if memory ran out. */
static bool page_grow(struct page_store *s, uint64_t *page)
{
    struct id_table *old = as_table(*page), *grown;
    uint32_t capacity;

    if (!old)
        return entries_to_table(s, page);
    capacity = table_capacity[old->size];
    if (bitmaps_are_due(s, old)) {
        struct id_bitmaps *b = bitmaps_new(s);

        if (!b)
            return false;
        for (uint32_t i = 0; i < capacity; i++)
            for (unsigned flags = old->entries[i] >> PAGE_BITS; flags; flags &= flags - 1)
                set_bit(bitmaps_word(b, low_of(old->entries[i]), flags & -flags), low_of(old->entries[i]));
        *page = (uintptr_t)b | PAGE_HAS_BITMAPS;
    } else {
        grown = table_new(s, old->size + 1U);
        if (!grown)
            return false;
        for (uint32_t i = 0; i < capacity; i++)
            if (old->entries[i])
                *table_probe(s, grown, low_of(old->entries[i])) = old->entries[i];
        grown->count = old->count;
        *page = (uintptr_t)grown;
    }
    table_give_back(s, old);
    return true;
}

/* These set a flag of an ID; *was_set says whether it was already set. False if there is no room. */
static bool add_to_entries(uint64_t *page, uint32_t low, enum id_set_flag flag, bool *was_set)
{
    unsigned bit = find_entry(*page, low);

    if (bit == ENTRIES_END)
        return false;
    *was_set = entry_at(*page, bit) >> PAGE_BITS & flag;
    *page |= ((uint64_t)flag << PAGE_BITS | low) << bit;
    return true;
}

static bool add_to_table(struct page_store *s, struct id_table *t, uint32_t low, enum id_set_flag flag, bool *was_set)
{
    uint32_t *entry = table_probe(s, t, low);

    if (!entry || (!*entry && table_is_full(t)))
        return false;
    if (!*entry)
        t->count++;
    *was_set = *entry >> PAGE_BITS & flag;
    *entry |= (uint32_t)flag << PAGE_BITS | low;
    return true;
}

bool page_set(struct page_store *s, uint64_t *page, uint32_t low, enum id_set_flag flag)
{
    bool was_set = false;

    do {
        if (page_bitmaps(*page))
            return set_bit(bitmaps_word(page_bitmaps(*page), low, flag), low);
        if (as_table(*page) ? add_to_table(s, as_table(*page), low, flag, &was_set) : add_to_entries(page, low, flag, &was_set))
            return was_set;
    } while (page_grow(s, page));
    return false;
}

unsigned page_get(const struct page_store *s, uint64_t page, uint32_t low)
{
    uint32_t *entry;

    if (page_bitmaps(page))
        return bitmaps_get(page_bitmaps(page), low);
    if (!as_table(page))
        return find_entry(page, low) < ENTRIES_END ? entry_at(page, find_entry(page, low)) >> PAGE_BITS : 0;
    entry = table_probe(s, as_table(page), low);
    return entry ? *entry >> PAGE_BITS : 0;
}

void page_clear(struct page_store *s, uint64_t page)
{
    struct id_table *table = page ? as_table(page) : NULL;

    if (table && table->size >= SMALL_TABLES)
        memory_put(s->memory, table, table_bytes(table->size));
}

/* ---- What is missing ---- */

struct page_sweep {
    void (*missing)(void *context, uint32_t low, unsigned flags);
    void *context;
};

static void sweep_entry(const struct page_sweep *w, uint32_t entry)
{
    if (!(entry >> PAGE_BITS & ID_DEFINED))
        w->missing(w->context, low_of(entry), entry >> PAGE_BITS);
}

static uint32_t missing_of_word(const struct id_bitmaps *b, uint32_t word)
{
    return (b->pair[word].referenced | b->element[word]) & ~b->pair[word].defined;
}

/* Words are tested in groups, because nearly all lack nothing. */
static void sweep_bitmaps(const struct page_sweep *w, const struct id_bitmaps *b)
{
    enum { GROUP = 16 };

    for (uint32_t group = 0; group < PAGE_WORDS; group += GROUP) {
        uint32_t any = 0;

        for (uint32_t i = 0; i < GROUP; i++)
            any |= missing_of_word(b, group + i);
        for (uint32_t i = 0; any && i < GROUP; i++)
            for (uint32_t bits = missing_of_word(b, group + i); bits; bits &= bits - 1) {
                uint32_t low = (group + i) << 5 | (uint32_t)__builtin_ctz(bits);

                w->missing(w->context, low, bitmaps_get(b, low));
            }
    }
}

void page_sweep(uint64_t page, void (*missing)(void *context, uint32_t low, unsigned flags), void *context)
{
    const struct page_sweep w = {missing, context};
    const struct id_table *t;

    if (page_bitmaps(page)) {
        sweep_bitmaps(&w, page_bitmaps(page));
        return;
    }
    t = as_table(page);
    if (!t) {
        for (unsigned bit = PAGE_FORM_BITS; bit < ENTRIES_END && entry_at(page, bit); bit += ENTRY_BITS)
            sweep_entry(&w, entry_at(page, bit));
        return;
    }
    for (uint32_t i = 0; i < table_capacity[t->size]; i++)
        if (t->entries[i])
            sweep_entry(&w, t->entries[i]);
}

/* ---- What is defined ---- */

static uint32_t add_defined(uint32_t entry, uint32_t *lowest, uint32_t *highest)
{
    if (!(entry >> PAGE_BITS & ID_DEFINED))
        return 0;
    if (low_of(entry) < *lowest)
        *lowest = low_of(entry);
    if (low_of(entry) > *highest)
        *highest = low_of(entry);
    return 1;
}

static uint32_t defined_in_bitmaps(const struct id_bitmaps *b, uint32_t *lowest, uint32_t *highest)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < PAGE_WORDS; i++) {
        uint32_t defined = b->pair[i].defined;

        if (!defined)
            continue;
        if (!count)
            *lowest = i << 5 | (uint32_t)__builtin_ctz(defined);
        *highest = i << 5 | (31 - (uint32_t)__builtin_clz(defined));
        count += (uint32_t)__builtin_popcount(defined);
    }
    return count;
}

uint32_t page_defined(uint64_t page, uint32_t *lowest, uint32_t *highest)
{
    const struct id_table *t;
    uint32_t count = 0;

    if (page_bitmaps(page))
        return defined_in_bitmaps(page_bitmaps(page), lowest, highest);
    *lowest = UINT32_MAX;
    *highest = 0;
    t = as_table(page);
    if (!t)
        for (unsigned bit = PAGE_FORM_BITS; bit < ENTRIES_END && entry_at(page, bit); bit += ENTRY_BITS)
            count += add_defined(entry_at(page, bit), lowest, highest);
    for (uint32_t i = 0; t && i < table_capacity[t->size]; i++)
        if (t->entries[i])
            count += add_defined(t->entries[i], lowest, highest);
    return count;
}
