/* See id_set.h. */
#include "state/id_set.h"

#include <pthread.h>
#include <string.h>

/* A slot of the directory has the permuted number of its page without the 8 bits that select the part (40 bits), a kind (2
 * bits), and, for one ID, its lower bits and flags, or, for a page, its index. 0 is a free slot. */
enum slot_kind { SLOT_FREE = 0, SLOT_ONE_ID = 1, SLOT_PAGE = 2 };

enum { PAGE_NUMBER_BITS = 64 - PAGE_BITS, REST_BITS = PAGE_NUMBER_BITS - 8, PAYLOAD_BITS = 64 - REST_BITS - 2 };

#define PAGE_NUMBER_MASK ((UINT64_C(1) << PAGE_NUMBER_BITS) - 1)
#define REST_MASK ((UINT64_C(1) << REST_BITS) - 1)
#define SLOT_REST(slot) ((slot) >> (64 - REST_BITS))
#define SLOT_KIND(slot) ((unsigned)((slot) >> PAYLOAD_BITS & 3))
#define SLOT_PAYLOAD(slot) ((uint32_t)((slot) & ((1U << PAYLOAD_BITS) - 1)))
#define MAKE_SLOT(rest, kind, payload) ((uint64_t)(rest) << (64 - REST_BITS) | (uint64_t)(kind) << PAYLOAD_BITS | (payload))

enum {
    PAGES_MAX = 1 << PAYLOAD_BITS,         /* in a part; 2^30 in all, with 2 to 65,536 IDs each */
    EARLY_BITMAPS = USUAL_OR_SMALL(64, 8), /* IDs in a page that justify bitmaps within the allowance */
    FULL_TABLE = PAGE_IDS / 16,            /* IDs in a page whose table would be as large as bitmaps: 6 bytes each */
    FIRST_TABLE_BLOCK = 1 << 10,           /* enough for a small dump */
    TABLE_BLOCK = USUAL_OR_SMALL(64 << 10, 1 << 10),
    BITMAP_BLOCK = USUAL_OR_SMALL(2 << 20, 32 << 10) /* a huge page */
};

/* A page with a few IDs. An entry is the lower 16 bits of the key, with the flags above them; 0 is free. */
struct id_table {
    uint16_t count;
    uint16_t size; /* index in table_capacity */
    uint32_t entries[];
};

/* A page is a word. Its lowest bits say whether it has up to three entries or the address of bitmaps or of a table. */
enum {
    IS_TABLE = 0,
    IS_BITMAPS = 1,
    IS_ENTRIES = 2,
    FORM_MASK = 3,
    FORM_BITS = 2,
    ENTRY_BITS = PAGE_BITS + 3,
    ENTRIES_END = FORM_BITS + 3 * ENTRY_BITS
};

static struct id_bitmaps *as_bitmaps(uint64_t page)
{
    return page & IS_BITMAPS ? (struct id_bitmaps *)(uintptr_t)(page - IS_BITMAPS) : NULL;
}

static struct id_table *as_table(uint64_t page)
{
    return (page & FORM_MASK) == IS_TABLE ? (struct id_table *)(uintptr_t)page : NULL;
}

/* The entry at a bit of the word; FORM_BITS is the first, and ENTRIES_END follows the last. */
static uint32_t entry_at(uint64_t page, unsigned bit)
{
    return (uint32_t)(page >> bit) & ((1U << ENTRY_BITS) - 1);
}

/* The bit of an ID's entry, or of a free entry for it; ENTRIES_END if there is neither. */
static unsigned find_entry(uint64_t page, uint32_t low)
{
    unsigned bit = FORM_BITS;

    while (bit < ENTRIES_END && entry_at(page, bit) && (entry_at(page, bit) & (PAGE_IDS - 1)) != low)
        bit += ENTRY_BITS;
    return bit;
}

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

/* Pages change under the lock of their part, blocks under a lock of their own. */
enum { LOCK_OF_BLOCKS = DIRECTORY_PARTS, LOCKS };
struct id_set_locks {
    pthread_mutex_t at[LOCKS];
};

void id_set_init(struct id_set *s, struct memory *memory, const struct hash_key *key, unsigned id_size)
{
    memset(s, 0, sizeof *s);
    s->memory = memory;
    s->id_size = id_size;
    s->add = key->add;
    s->multiply[0] = key->multiply;
    s->multiply[1] = key->multiply ^ 0x2545F4914F6CDD1CU;
}

static void directory_clear(struct id_set *s, struct id_directory *part)
{
    for (size_t i = 0; i < part->page_count; i++) {
        struct id_table *table = as_table(part->pages[i]);

        if (table && table->size >= SMALL_TABLES)
            memory_put(s->memory, table, table_bytes(table->size));
    }
    memory_put(s->memory, part->slots, part->capacity * sizeof *part->slots);
    memory_put(s->memory, part->pages, part->page_capacity * sizeof *part->pages);
}

static void clear_locks(struct id_set *s)
{
    if (!s->locks)
        return;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&s->locks->at[i]);
    memory_put(s->memory, s->locks, sizeof *s->locks);
    s->locks = NULL;
}

static void lock(struct id_set *s, size_t which)
{
    if (s->is_shared)
        pthread_mutex_lock(&s->locks->at[which]);
}

static void unlock(struct id_set *s, size_t which)
{
    if (s->is_shared)
        pthread_mutex_unlock(&s->locks->at[which]);
}

void id_set_clear(struct id_set *s)
{
    clear_locks(s);
    if (!s->parts)
        return;
    for (unsigned i = 0; i < s->used_part_count; i++)
        directory_clear(s, &s->parts[s->used_parts[i]]);
    memory_put(s->memory, s->parts, DIRECTORY_PARTS * sizeof *s->parts);
    for (size_t i = 0; i < s->block_count; i++)
        memory_put(s->memory, s->blocks[i].bytes, s->blocks[i].size);
    memory_put(s->memory, s->blocks, s->block_capacity * sizeof *s->blocks);
    memory_put(s->memory, s->known, sizeof *s->known);
    memset(s->given_back, 0, sizeof s->given_back);
    s->parts = NULL;
    s->known = NULL;
    s->blocks = NULL;
    s->block_capacity = s->block_count = s->bitmaps_left = s->table_bytes_left = 0;
    s->used_part_count = 0;
    s->bitmap_bytes = 0;
}

/* A keyed permutation of page numbers, and its inverse. The part implies some bits of the number, so slots need not
 * store them. */
static uint64_t permute(const struct id_set *s, uint64_t page)
{
    page ^= s->add & PAGE_NUMBER_MASK;
    page = page * s->multiply[0] & PAGE_NUMBER_MASK;
    page ^= page >> PAGE_NUMBER_BITS / 2;
    page = page * s->multiply[1] & PAGE_NUMBER_MASK;
    return page ^ page >> PAGE_NUMBER_BITS / 2;
}

static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd; /* correct to 3 bits; each step doubles them */

    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

static uint64_t permute_back(const struct id_set *s, uint64_t page)
{
    page ^= page >> PAGE_NUMBER_BITS / 2;
    page = page * inverse(s->multiply[1]) & PAGE_NUMBER_MASK;
    page ^= page >> PAGE_NUMBER_BITS / 2;
    page = page * inverse(s->multiply[0]) & PAGE_NUMBER_MASK;
    return page ^ (s->add & PAGE_NUMBER_MASK);
}

/* ---- Blocks ---- */

static void *block_new(struct id_set *s, size_t size)
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

void known_pages_clear(struct known_pages *known)
{
    memset(known, 0xff, sizeof *known); /* NO_PAGE everywhere */
}

/* The first ones have a block each; later ones share huge pages, because otherwise nearly every reference misses the TLB. */
static struct id_bitmaps *take_bitmaps(struct id_set *s)
{
    enum { FIT = BITMAP_BLOCK / sizeof(struct id_bitmaps), ALONE = FIT / 4 };

    if (!s->known) {
        s->known = memory_get(s->memory, sizeof *s->known);
        if (!s->known)
            return NULL;
        known_pages_clear(s->known);
    }
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

static struct id_bitmaps *bitmaps_new(struct id_set *s)
{
    struct id_bitmaps *b;

    lock(s, LOCK_OF_BLOCKS);
    b = take_bitmaps(s);
    unlock(s, LOCK_OF_BLOCKS);
    if (b)
        memset(b, 0, sizeof *b);
    return b;
}

/* The smallest tables are too small for an allocation each, and are reused when released. The pages of a dump tend to grow
 * in step, so larger tables are really released: their size is not needed again. */
static struct id_table *small_table_new(struct id_set *s, unsigned size)
{
    size_t bytes = table_bytes(size);
    struct id_table *t = s->given_back[size];

    if (t) {
        memcpy(&s->given_back[size], t, sizeof(void *));
        return t;
    }
    if (s->table_bytes_left < bytes) {
        size_t size = s->block_count ? TABLE_BLOCK : FIRST_TABLE_BLOCK;

        s->next_table = block_new(s, size);
        if (!s->next_table)
            return NULL;
        s->table_bytes_left = size;
    }
    t = (struct id_table *)(void *)s->next_table;
    s->next_table += bytes;
    s->table_bytes_left -= bytes;
    return t;
}

/* ---- Tables ---- */

static struct id_table *table_new(struct id_set *s, unsigned size)
{
    struct id_table *t;

    lock(s, LOCK_OF_BLOCKS);
    t = size < SMALL_TABLES ? small_table_new(s, size) : memory_get(s->memory, table_bytes(size));
    unlock(s, LOCK_OF_BLOCKS);
    if (t) {
        memset(t, 0, table_bytes(size));
        t->size = (uint16_t)size;
    }
    return t;
}

static void table_give_back(struct id_set *s, struct id_table *t)
{
    unsigned size = t->size;

    if (size >= SMALL_TABLES) {
        memory_put(s->memory, t, table_bytes(size));
        return;
    }
    lock(s, LOCK_OF_BLOCKS);
    memcpy(t, &s->given_back[size], sizeof(void *));
    s->given_back[size] = t;
    unlock(s, LOCK_OF_BLOCKS);
}

/* The entry of an ID, or a free entry for it; NULL if there is neither. */
static uint32_t *table_probe(const struct id_set *s, struct id_table *t, uint32_t low)
{
    uint32_t capacity = table_capacity[t->size];
    uint32_t i = (low * (uint32_t)(s->multiply[1] >> 16 | 1) >> 16) * capacity >> 16;

    for (uint32_t n = capacity; n; n--) {
        if (!t->entries[i] || (t->entries[i] & (PAGE_IDS - 1)) == low)
            return &t->entries[i];
        if (++i == capacity)
            i = 0;
    }
    return NULL;
}

/* Returns whether the flag was already set. */
static bool bitmaps_set(struct id_bitmaps *b, uint32_t low, enum id_set_flag flag, bool others)
{
    uint32_t *word = flag == ID_DEFINED      ? &b->pair[low >> 5].defined
                     : flag == ID_REFERENCED ? &b->pair[low >> 5].referenced
                                             : &b->element[low >> 5];
    uint32_t bit = UINT32_C(1) << (low & 31), old;

    if (others && flag != ID_DEFINED) /* definitions are added under the lock */
        return __atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit;
    old = *word;
    *word = old | bit;
    return old & bit;
}

static unsigned bitmaps_get(const struct id_bitmaps *b, uint32_t low)
{
    unsigned bit = low & 31;

    return (b->pair[low >> 5].defined >> bit & 1) * ID_DEFINED | (b->pair[low >> 5].referenced >> bit & 1) * ID_REFERENCED |
           (b->element[low >> 5] >> bit & 1) * ID_ELEMENT;
}

static bool bitmaps_are_allowed(struct id_set *s)
{
    bool allowed;

    lock(s, LOCK_OF_BLOCKS);
    allowed = s->bitmap_bytes + sizeof(struct id_bitmaps) <= s->allowance;
    unlock(s, LOCK_OF_BLOCKS);
    return allowed;
}

static bool bitmaps_are_due(struct id_set *s, const struct id_table *t)
{
    return t->count >= FULL_TABLE || t->size + 1U >= TABLE_SIZES || !table_capacity[t->size + 1] ||
           (t->count >= EARLY_BITMAPS && bitmaps_are_allowed(s));
}

static bool entries_to_table(struct id_set *s, uint64_t *page)
{
    struct id_table *t = table_new(s, 0);

    if (!t)
        return false;
    for (unsigned bit = FORM_BITS; bit < ENTRIES_END; bit += ENTRY_BITS) {
        *table_probe(s, t, entry_at(*page, bit) & (PAGE_IDS - 1)) = entry_at(*page, bit);
        t->count++;
    }
    *page = (uintptr_t)t;
    return true;
}

/* Makes room in a page whose word or table is full: a larger table, or bitmaps. False if memory ran out. */
static bool page_grow(struct id_set *s, uint64_t *page)
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
                bitmaps_set(b, old->entries[i] & (PAGE_IDS - 1), flags & -flags, false);
        *page = (uintptr_t)b | IS_BITMAPS;
    } else {
        grown = table_new(s, old->size + 1U);
        if (!grown)
            return false;
        for (uint32_t i = 0; i < capacity; i++)
            if (old->entries[i])
                *table_probe(s, grown, old->entries[i] & (PAGE_IDS - 1)) = old->entries[i];
        grown->count = old->count;
        *page = (uintptr_t)grown;
    }
    table_give_back(s, old);
    return true;
}

/* ---- The directory ---- */

static uint64_t *directory_probe(const struct id_directory *part, uint64_t rest)
{
    size_t i = (size_t)((rest & UINT32_MAX) * part->capacity >> 32);

    while (part->slots[i] && SLOT_REST(part->slots[i]) != rest)
        if (++i == part->capacity)
            i = 0;
    return &part->slots[i];
}

static bool directory_grow(struct id_set *s, struct id_directory *part)
{
    struct id_directory old = *part;

    /* Parts begin with slightly different sizes, so that they grow in turn. */
    part->capacity = old.capacity ? old.capacity + old.capacity / 4 : 32 + (uint32_t)(part - s->parts) % 8;
    part->slots = memory_get_zeroed(s->memory, part->capacity * sizeof *part->slots);
    if (!part->slots) {
        *part = old;
        return false;
    }
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i])
            *directory_probe(part, SLOT_REST(old.slots[i])) = old.slots[i];
    memory_put(s->memory, old.slots, old.capacity * sizeof *old.slots);
    if (!old.capacity) {
        lock(s, LOCK_OF_BLOCKS);
        s->used_parts[s->used_part_count++] = (uint8_t)(part - s->parts);
        unlock(s, LOCK_OF_BLOCKS);
    }
    return true;
}

static bool make_directory(struct id_set *s)
{
    if (!s->parts)
        s->parts = memory_get_zeroed(s->memory, DIRECTORY_PARTS * sizeof *s->parts);
    return s->parts;
}

/* Grows by an eighth, not by half, because a page with two IDs costs nothing else. */
static bool pages_grow(struct id_set *s, struct id_directory *part)
{
    uint32_t more = part->page_capacity + part->page_capacity / 8 + 8;
    void *pages;

    if (part->page_count < part->page_capacity)
        return true;
    pages = memory_resize(s->memory, part->pages, part->page_capacity * sizeof *part->pages, more * sizeof *part->pages);
    if (!pages)
        return false;
    part->pages = pages;
    part->page_capacity = more;
    return true;
}

/* Turns a slot with one ID into a page of its own. */
static uint64_t *slot_to_page(struct id_set *s, struct id_directory *part, uint64_t *slot)
{
    uint64_t entry = SLOT_PAYLOAD(*slot);

    if (part->page_count == PAGES_MAX) {
        memory_exhaust(s->memory);
        return NULL;
    }
    if (!pages_grow(s, part))
        return NULL;
    *slot = MAKE_SLOT(SLOT_REST(*slot), SLOT_PAGE, (uint32_t)part->page_count);
    part->pages[part->page_count] = entry << FORM_BITS | IS_ENTRIES;
    return &part->pages[part->page_count++];
}

/* These set a flag of an ID, given by its lowest bits; *was_set says whether it was already set. False if there is no room. */
static bool add_to_slot(uint64_t *slot, uint32_t low, enum id_set_flag flag, bool *was_set)
{
    if ((SLOT_PAYLOAD(*slot) & (PAGE_IDS - 1)) != low)
        return false;
    *was_set = SLOT_PAYLOAD(*slot) >> PAGE_BITS & flag;
    *slot |= (uint64_t)flag << PAGE_BITS;
    return true;
}

static bool add_to_entries(uint64_t *page, uint32_t low, enum id_set_flag flag, bool *was_set)
{
    unsigned bit = find_entry(*page, low);

    if (bit == ENTRIES_END)
        return false;
    *was_set = entry_at(*page, bit) >> PAGE_BITS & flag;
    *page |= ((uint64_t)flag << PAGE_BITS | low) << bit;
    return true;
}

static bool add_to_table(struct id_set *s, struct id_table *t, uint32_t low, enum id_set_flag flag, bool *was_set)
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

/* The page of that number, for an ID that needs one. NULL if the ID is the only one in its page, or if memory ran out. */
static uint64_t *find_page(struct id_set *s, uint64_t permuted, uint32_t low, enum id_set_flag flag, bool *was_set)
{
    uint64_t rest = permuted & REST_MASK, *slot;
    struct id_directory *part;

    if (!make_directory(s))
        return NULL;
    part = &s->parts[permuted >> REST_BITS];
    if (part->count >= part->capacity - part->capacity / 8 && !directory_grow(s, part))
        return NULL;
    slot = directory_probe(part, rest);
    if (!*slot) {
        *slot = MAKE_SLOT(rest, SLOT_ONE_ID, (uint32_t)flag << PAGE_BITS | low);
        part->count++;
        return NULL;
    }
    if (SLOT_KIND(*slot) != SLOT_ONE_ID)
        return &part->pages[SLOT_PAYLOAD(*slot)];
    return add_to_slot(slot, low, flag, was_set) ? NULL : slot_to_page(s, part, slot);
}

/* Called under the lock of the page's part. */
static bool set_locked(struct id_set *s, struct recent_page *near, uint64_t permuted, uint64_t key, enum id_set_flag flag)
{
    uint32_t low = (uint32_t)(key & (PAGE_IDS - 1));
    bool was_set = false;
    uint64_t *page = find_page(s, permuted, low, flag, &was_set);

    if (!page)
        return was_set;
    do {
        struct id_bitmaps *bitmaps = as_bitmaps(*page);

        if (bitmaps) {
            near->page = key >> PAGE_BITS;
            near->bitmaps = bitmaps;
            return bitmaps_set(bitmaps, low, flag, s->is_shared);
        }
        if ((*page & FORM_MASK) == IS_ENTRIES ? add_to_entries(page, low, flag, &was_set)
                                              : add_to_table(s, as_table(*page), low, flag, &was_set))
            return was_set;
    } while (page_grow(s, page));
    return false;
}

static bool set_flag(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    uint64_t permuted = permute(s, key >> PAGE_BITS);
    bool was_set;

    lock(s, permuted >> REST_BITS);
    was_set = set_locked(s, near, permuted, key, flag);
    unlock(s, permuted >> REST_BITS);
    return was_set;
}

bool id_set_set_far(struct id_set *s, struct recent_page *near, uint64_t key, enum id_set_flag flag)
{
    uint64_t number = key >> PAGE_BITS;
    bool was_set = set_flag(s, near, key, flag);

    if (near->pages)
        page_filter_add(near->pages, number);
    if (near->page == number)
        *known_page_at(near->known ? near->known : s->known, number, s->id_size) = (struct known_page){number, near->bitmaps};
    return was_set;
}

bool id_set_set(struct id_set *s, uint64_t key, enum id_set_flag flag)
{
    struct recent_page near = {.page = NO_PAGE};

    return set_flag(s, &near, key, flag);
}

static void set_twice(struct own_pages *own, uint64_t key, uint32_t bits)
{
    for (; bits; bits &= bits - 1)
        id_set_set(own->twice, key | (unsigned)__builtin_ctz(bits), ID_ELEMENT);
}

static void add_own_page(struct id_set *s, struct own_pages *all, unsigned number)
{
    struct own_page *own = &all->at[number];
    uint32_t *words = all->words[number];
    size_t part = permute(s, own->number) >> REST_BITS;

    if (!own->groups)
        return;
    lock(s, part);
    for (; own->groups; own->groups &= own->groups - 1) {
        unsigned first = (unsigned)__builtin_ctzll(own->groups) * OWN_GROUP;

        for (unsigned i = first; i < first + OWN_GROUP; i++) {
            set_twice(all, own->number << PAGE_BITS | i << 5, own->bitmaps->pair[i].defined & words[i]);
            own->bitmaps->pair[i].defined |= words[i];
            words[i] = 0;
        }
    }
    unlock(s, part);
}

void id_set_add_own(struct id_set *s, struct own_pages *own)
{
    for (unsigned i = 0; i < OWN_PAGES; i++)
        add_own_page(s, own, i);
}

void id_set_define_far(struct id_set *s, struct recent_page *near, unsigned number, uint64_t key)
{
    struct own_page *own = &near->own->at[number];
    struct recent_page copy = *near;

    add_own_page(s, near->own, number);
    *own = (struct own_page){.number = NO_PAGE};
    if (id_set_bitmaps(s, &copy, key >> PAGE_BITS, s->id_size, true)) {
        *own = (struct own_page){.number = copy.page, .bitmaps = copy.bitmaps};
        id_set_define_with(s, near, key, s->id_size, true);
        return;
    }
    if (id_set_set_far(s, &copy, key, ID_DEFINED))
        id_set_set(near->own->twice, key, ID_ELEMENT);
    if (copy.page == key >> PAGE_BITS)
        *own = (struct own_page){.number = copy.page, .bitmaps = copy.bitmaps};
}

bool id_set_share(struct id_set *s)
{
    if (!s->locks) {
        s->locks = memory_try(s->memory, sizeof *s->locks);
        if (!s->locks)
            return false;
        for (size_t i = 0; i < LOCKS; i++)
            pthread_mutex_init(&s->locks->at[i], NULL);
    }
    s->is_shared = make_directory(s);
    return s->is_shared;
}

void id_set_end_sharing(struct id_set *s)
{
    s->is_shared = false;
}

unsigned id_set_get(struct id_set *s, uint64_t id)
{
    uint64_t key = id_to_key(id, s->id_size), permuted = permute(s, key >> PAGE_BITS), slot;
    uint32_t low = (uint32_t)(key & (PAGE_IDS - 1)), *entry;
    const struct id_directory *part;
    uint64_t page;

    if (!s->parts)
        return 0;
    part = &s->parts[permuted >> REST_BITS];
    if (!part->count)
        return 0;
    slot = *directory_probe(part, permuted & REST_MASK);
    if (!slot)
        return 0;
    if (SLOT_KIND(slot) == SLOT_ONE_ID)
        return (SLOT_PAYLOAD(slot) & (PAGE_IDS - 1)) == low ? SLOT_PAYLOAD(slot) >> PAGE_BITS : 0;
    page = part->pages[SLOT_PAYLOAD(slot)];
    if (as_bitmaps(page))
        return bitmaps_get(as_bitmaps(page), low);
    if (!as_table(page))
        return find_entry(page, low) < ENTRIES_END ? entry_at(page, find_entry(page, low)) >> PAGE_BITS : 0;
    entry = table_probe(s, as_table(page), low);
    return entry ? *entry >> PAGE_BITS : 0;
}

/* ---- What is missing ---- */

struct sweep {
    const struct id_set *set;
    void (*missing)(void *context, uint64_t id, unsigned flags);
    void *context;
};

static void sweep_entry(const struct sweep *w, uint64_t page, uint32_t low, unsigned flags)
{
    if (!(flags & ID_DEFINED))
        w->missing(w->context, key_to_id(page << PAGE_BITS | low, w->set->id_size), flags);
}

static uint32_t missing_of_word(const struct id_bitmaps *b, uint32_t word)
{
    return (b->pair[word].referenced | b->element[word]) & ~b->pair[word].defined;
}

/* Words are tested in groups, because nearly all lack nothing. */
static void sweep_bitmaps(const struct sweep *w, uint64_t number, const struct id_bitmaps *b)
{
    enum { GROUP = 16 };

    for (uint32_t group = 0; group < PAGE_WORDS; group += GROUP) {
        uint32_t any = 0;

        for (uint32_t i = 0; i < GROUP; i++)
            any |= missing_of_word(b, group + i);
        for (uint32_t i = 0; any && i < GROUP; i++)
            for (uint32_t bits = missing_of_word(b, group + i); bits; bits &= bits - 1) {
                uint32_t low = (group + i) << 5 | (uint32_t)__builtin_ctz(bits);

                sweep_entry(w, number, low, bitmaps_get(b, low));
            }
    }
}

static void sweep_page(const struct sweep *w, uint64_t number, uint64_t page)
{
    const struct id_bitmaps *b = as_bitmaps(page);

    if (b) {
        sweep_bitmaps(w, number, b);
    } else if (!as_table(page)) {
        for (unsigned bit = FORM_BITS; bit < ENTRIES_END && entry_at(page, bit); bit += ENTRY_BITS)
            sweep_entry(w, number, entry_at(page, bit) & (PAGE_IDS - 1), entry_at(page, bit) >> PAGE_BITS);
    } else {
        const struct id_table *t = as_table(page);

        for (uint32_t i = 0; i < table_capacity[t->size]; i++)
            if (t->entries[i])
                sweep_entry(w, number, t->entries[i] & (PAGE_IDS - 1), t->entries[i] >> PAGE_BITS);
    }
}

void id_set_sweep(const struct id_set *s, void (*missing)(void *context, uint64_t id, unsigned flags), void *context)
{
    const struct sweep w = {s, missing, context};

    for (unsigned i = 0; i < s->used_part_count; i++) {
        uint64_t number_of_part = s->used_parts[i];
        const struct id_directory *part = &s->parts[number_of_part];

        for (size_t j = 0; j < part->capacity; j++) {
            uint64_t slot = part->slots[j], number;

            if (!slot)
                continue;
            number = permute_back(s, number_of_part << REST_BITS | SLOT_REST(slot));
            if (SLOT_KIND(slot) == SLOT_ONE_ID)
                sweep_entry(&w, number, SLOT_PAYLOAD(slot) & (PAGE_IDS - 1), SLOT_PAYLOAD(slot) >> PAGE_BITS);
            else
                sweep_page(&w, number, part->pages[SLOT_PAYLOAD(slot)]);
        }
    }
}
