/* See id_directory.h. */
#include "state/id_directory.h"

/* A slot has the place of its page without the bits that select the group (40 bits), a kind (2 bits), and, for one ID, its entry,
 * or, for a page, its index. 0 is a free slot. */
enum slot_kind { SLOT_FREE = 0, SLOT_ONE_ID = 1, SLOT_PAGE = 2 };

enum {
    PAYLOAD_BITS = 64 - REST_BITS - 2,
    PAGES_MAX = 1 << PAYLOAD_BITS /* in a group; 2^30 in all, with 2 to 65,536 IDs each */
};

#define REST_MASK ((UINT64_C(1) << REST_BITS) - 1)
#define SLOT_REST(slot) ((slot) >> (64 - REST_BITS))
#define SLOT_KIND(slot) ((unsigned)((slot) >> PAYLOAD_BITS & 3))
#define SLOT_PAYLOAD(slot) ((uint32_t)((slot) & ((1U << PAYLOAD_BITS) - 1)))
#define MAKE_SLOT(rest, kind, payload) ((uint64_t)(rest) << (64 - REST_BITS) | (uint64_t)(kind) << PAYLOAD_BITS | (payload))

void directory_init(struct id_directory *d, struct memory *memory, const struct hash_key *key)
{
    *d = (struct id_directory){
        .memory = memory,
        .multiply = {key->multiply, key->multiply ^ 0x2545F4914F6CDD1CU},
        .add = key->add,
    };
}

void directory_empty(struct id_directory *d, struct page_store *pages)
{
    for (unsigned i = 0; i < d->used_group_count; i++) {
        struct page_group *group = &d->groups[d->used_groups[i]];

        for (size_t j = 0; j < group->page_count; j++)
            page_clear(pages, group->pages[j]);
        memory_put(d->memory, group->slots, group->capacity * sizeof *group->slots);
        memory_put(d->memory, group->pages, group->page_capacity * sizeof *group->pages);
        *group = (struct page_group){0};
    }
    d->used_group_count = 0;
}

void directory_clear(struct id_directory *d, struct page_store *pages)
{
    if (!d->groups)
        return;
    directory_empty(d, pages);
    memory_put(d->memory, d->groups, PAGE_GROUPS * sizeof *d->groups);
    d->groups = NULL;
}

bool directory_prepare(struct id_directory *d)
{
    if (!d->groups)
        d->groups = memory_get_zeroed(d->memory, PAGE_GROUPS * sizeof *d->groups);
    return d->groups;
}

/* ---- The permutation ---- */

static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd; /* correct to 3 bits; each step doubles them */

    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

uint64_t page_number(const struct id_directory *d, uint64_t place)
{
    place ^= place >> PAGE_NUMBER_BITS / 2;
    place = place * inverse(d->multiply[1]) & PAGE_NUMBER_MASK;
    place ^= place >> PAGE_NUMBER_BITS / 2;
    place = place * inverse(d->multiply[0]) & PAGE_NUMBER_MASK;
    return place ^ (d->add & PAGE_NUMBER_MASK);
}

/* ---- Slots ---- */

static uint64_t *probe(const struct page_group *group, uint64_t rest)
{
    size_t i = (size_t)((rest & UINT32_MAX) * group->capacity >> 32);

    while (group->slots[i] && SLOT_REST(group->slots[i]) != rest)
        if (++i == group->capacity)
            i = 0;
    return &group->slots[i];
}

static void note_used(struct id_directory *d, const struct page_group *group)
{
    if (d->lock)
        pthread_mutex_lock(d->lock);
    d->used_groups[d->used_group_count++] = (uint8_t)(group - d->groups);
    if (d->lock)
        pthread_mutex_unlock(d->lock);
}

static bool slots_grow(struct id_directory *d, struct page_group *group)
{
    struct page_group old = *group;

    /* Groups begin with slightly different sizes, so that they grow in turn. */
    group->capacity = old.capacity ? old.capacity + old.capacity / 4 : 32 + (uint32_t)(group - d->groups) % 8;
    group->slots = memory_get_zeroed(d->memory, group->capacity * sizeof *group->slots);
    if (!group->slots) {
        *group = old;
        return false;
    }
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i])
            *probe(group, SLOT_REST(old.slots[i])) = old.slots[i];
    memory_put(d->memory, old.slots, old.capacity * sizeof *old.slots);
    if (!old.capacity)
        note_used(d, group);
    return true;
}

/* Grows by an eighth, not by half, because a page with two IDs costs nothing else. */
static bool pages_grow(struct id_directory *d, struct page_group *group)
{
    uint32_t more = group->page_capacity + group->page_capacity / 8 + 8;
    void *pages;

    if (group->page_count < group->page_capacity)
        return true;
    pages = memory_resize(d->memory, group->pages, group->page_capacity * sizeof *group->pages, more * sizeof *group->pages);
    if (!pages)
        return false;
    group->pages = pages;
    group->page_capacity = more;
    return true;
}

/* Turns a slot with one ID into a page of its own. */
static uint64_t *slot_to_page(struct id_directory *d, struct page_group *group, uint64_t *slot)
{
    if (group->page_count == PAGES_MAX) {
        memory_exhaust(d->memory);
        return NULL;
    }
    if (!pages_grow(d, group))
        return NULL;
    group->pages[group->page_count] = page_of_entry(SLOT_PAYLOAD(*slot));
    *slot = MAKE_SLOT(SLOT_REST(*slot), SLOT_PAGE, group->page_count);
    return &group->pages[group->page_count++];
}

/* Sets a flag of the one ID of a slot. False if that is another ID. */
static bool add_to_slot(uint64_t *slot, uint32_t low, enum id_set_flag flag, bool *was_set)
{
    if ((SLOT_PAYLOAD(*slot) & (PAGE_IDS - 1)) != low)
        return false;
    *was_set = SLOT_PAYLOAD(*slot) >> PAGE_BITS & flag;
    *slot |= (uint64_t)flag << PAGE_BITS;
    return true;
}

uint64_t *directory_set(struct id_directory *d, uint64_t place, uint32_t low, enum id_set_flag flag, bool *was_set)
{
    uint64_t rest = place & REST_MASK, *slot;
    struct page_group *group;

    *was_set = false;
    if (!directory_prepare(d))
        return NULL;
    group = &d->groups[group_of_place(place)];
    if (group->count >= group->capacity - group->capacity / 8 && !slots_grow(d, group))
        return NULL;
    slot = probe(group, rest);
    if (!*slot) {
        *slot = MAKE_SLOT(rest, SLOT_ONE_ID, (uint32_t)flag << PAGE_BITS | low);
        group->count++;
        return NULL;
    }
    if (SLOT_KIND(*slot) != SLOT_ONE_ID)
        return &group->pages[SLOT_PAYLOAD(*slot)];
    return add_to_slot(slot, low, flag, was_set) ? NULL : slot_to_page(d, group, slot);
}

static uint64_t page_in_slot(const struct page_group *group, uint64_t slot)
{
    if (!slot)
        return 0;
    return SLOT_KIND(slot) == SLOT_ONE_ID ? page_of_entry(SLOT_PAYLOAD(slot)) : group->pages[SLOT_PAYLOAD(slot)];
}

uint64_t directory_get(const struct id_directory *d, uint64_t place)
{
    const struct page_group *group = d->groups ? &d->groups[group_of_place(place)] : NULL;

    return group && group->count ? page_in_slot(group, *probe(group, place & REST_MASK)) : 0;
}

void directory_each(const struct id_directory *d, void (*visit)(void *context, uint64_t number, uint64_t page), void *context)
{
    for (unsigned i = 0; i < d->used_group_count; i++) {
        uint64_t number_of_group = d->used_groups[i];
        const struct page_group *group = &d->groups[number_of_group];

        for (size_t j = 0; j < group->capacity; j++)
            if (group->slots[j])
                visit(context, page_number(d, number_of_group << REST_BITS | SLOT_REST(group->slots[j])),
                      page_in_slot(group, group->slots[j]));
    }
}
