/* Finds the page with a number. Pages are divided, by a keyed permutation of their numbers, into 256 groups, each with a hash table
 * of its own, so that threads can change different groups at the same time. A page with one ID is a slot of its table, 8 bytes;
 * any other page has a word more (id_page.h). */
#ifndef HPROF_ID_DIRECTORY_H
#define HPROF_ID_DIRECTORY_H

#include "base/hash.h"
#include "state/id_page.h"

enum { PAGE_GROUPS = 256, PAGE_NUMBER_BITS = 64 - PAGE_BITS, REST_BITS = PAGE_NUMBER_BITS - 8 };

#define PAGE_NUMBER_MASK ((UINT64_C(1) << PAGE_NUMBER_BITS) - 1)

struct id_directory {
    struct memory *memory;
    pthread_mutex_t *lock; /* while several threads change groups, each under another lock; else NULL */
    uint64_t multiply[2];  /* key of the permutation */
    uint64_t add;
    struct page_group { /* PAGE_GROUPS of them; NULL while there is no ID */
        uint64_t *slots;
        uint64_t *pages;
        uint32_t capacity, count;
        uint32_t page_capacity, page_count;
    } * groups;
    uint8_t used_groups[PAGE_GROUPS]; /* those with IDs, so that small heap dumps do not pay for all groups */
    unsigned used_group_count;
};

void directory_init(struct id_directory *d, struct memory *memory, const struct hash_key *key);
/* Releases all pages; */
void directory_empty(struct id_directory *d, struct page_store *pages);
/* and the groups. */
void directory_clear(struct id_directory *d, struct page_store *pages);
/* Makes the groups, before several threads need them. False if memory ran out. */
bool directory_prepare(struct id_directory *d);

/* The place of a page: its group, above REST_BITS bits that tell the pages of a group apart. */
static inline uint64_t page_place(const struct id_directory *d, uint64_t number)
{
    number ^= d->add & PAGE_NUMBER_MASK;
    number = number * d->multiply[0] & PAGE_NUMBER_MASK;
    number ^= number >> PAGE_NUMBER_BITS / 2;
    number = number * d->multiply[1] & PAGE_NUMBER_MASK;
    return number ^ number >> PAGE_NUMBER_BITS / 2;
}

/* The number of the page at a place. */
uint64_t page_number(const struct id_directory *d, uint64_t place);

static inline unsigned group_of_place(uint64_t place)
{
    return (unsigned)(place >> REST_BITS);
}

/* The word of the page at a place; 0 for none. */
uint64_t directory_get(const struct id_directory *d, uint64_t place);
/* Sets a flag of an ID in the page at a place, and returns NULL if that is done, or if memory ran out: *was_set says whether the
 * flag was already set. Otherwise returns the page, in which it is not set yet. */
uint64_t *directory_set(struct id_directory *d, uint64_t place, uint32_t low, enum id_set_flag flag, bool *was_set);
/* Calls `visit` for each page. */
void directory_each(const struct id_directory *d, void (*visit)(void *context, uint64_t number, uint64_t page), void *context);

#endif
