/* What one thread among others adds to a set of IDs. It has windows, which are its own words for one flag of a page each: to set a
 * flag there costs no more than it costs one thread alone. A window is merged into its page under the lock of the page's group. An
 * ID without a window is far: it goes to a buffer for its group, which is applied under the same lock when it is full.
 *
 * A window moves to another page once most of the IDs that miss it lie there, and there were enough of them to be worth a merge. So
 * it follows the objects of a dump, whose addresses ascend, and no page that is used at random moves it. */
#ifndef HPROF_ID_WINDOWS_H
#define HPROF_ID_WINDOWS_H

#include "state/id_set.h"

/* Objects are defined in ascending order, so few windows do. References lead anywhere, so they have more. Many more would break the
 * bound of memory for small dumps. */
enum {
    FIRST_DEFINED = 0,
    DEFINED_WINDOWS = USUAL_OR_SMALL(32, 4),
    FIRST_REFERENCED = FIRST_DEFINED + DEFINED_WINDOWS,
    REFERENCED_WINDOWS = USUAL_OR_SMALL(64, 4),
    FIRST_ELEMENT = FIRST_REFERENCED + REFERENCED_WINDOWS,
    ELEMENT_WINDOWS = USUAL_OR_SMALL(32, 4),
    WINDOWS = FIRST_ELEMENT + ELEMENT_WINDOWS,
    FAR_IDS = USUAL_OR_SMALL(256, 4)
};

struct id_windows {
    struct id_set *set;
    struct id_set *twice; /* gets, as elements, IDs that are defined twice */
    struct id_window {
        uint64_t number;    /* NO_PAGE for none */
        uint64_t candidate; /* the page that most IDs that missed the window were in, */
        uint32_t votes;     /* and by how many more */
    } at[WINDOWS];
    uint16_t far_count[PAGE_GROUPS];
    uint64_t far[PAGE_GROUPS][FAR_IDS];
    uint32_t words[WINDOWS][PAGE_WORDS];
};

void id_windows_init(struct id_windows *w, struct id_set *set, struct id_set *twice);
/* Adds all that is not in the set yet. Each thread begins with another group, so that they do not wait for each other. */
void id_windows_finish(struct id_windows *w, unsigned first_group);

/* For an ID that misses a window: the words of that window, if it moves to the ID's page; otherwise NULL, and the flag will be
 * set. */
uint32_t *id_windows_miss(struct id_windows *w, enum id_set_flag flag, size_t window, uint64_t key);
/* An ID is defined twice. */
void id_windows_repeat(struct id_windows *w, uint64_t key);

/* Consecutive IDs cycle through eight pages whose numbers differ only in the top bits. */
ID_SET_HOT size_t window_among(uint64_t number, const size_t first, const size_t count, const unsigned id_size)
{
    return first + ((number ^ (number >> (id_size == 8 ? 45 : 13)) * (count / 8)) & (count - 1));
}

ID_SET_HOT size_t window_of_page(uint64_t number, const enum id_set_flag flag, const unsigned id_size)
{
    return flag == ID_DEFINED      ? window_among(number, FIRST_DEFINED, DEFINED_WINDOWS, id_size)
           : flag == ID_REFERENCED ? window_among(number, FIRST_REFERENCED, REFERENCED_WINDOWS, id_size)
                                   : window_among(number, FIRST_ELEMENT, ELEMENT_WINDOWS, id_size);
}

/* Fetches the word of an ID into the cache, if its page has a window. */
ID_SET_HOT void id_windows_fetch(const struct id_windows *w, uint64_t key, const enum id_set_flag flag, const unsigned id_size)
{
    size_t i = window_of_page(key >> PAGE_BITS, flag, id_size);

    if (w->at[i].number == key >> PAGE_BITS)
        __builtin_prefetch(&w->words[i][low_of_key(key) >> 5], 1);
}

/* Sets a flag of an ID. An ID that is defined twice is noted sooner or later. The flag and the size are constants. */
ID_SET_HOT void id_windows_mark(struct recent_page *near, uint64_t key, const enum id_set_flag flag, const unsigned id_size)
{
    uint64_t number = key >> PAGE_BITS;

    if (__builtin_expect(near->page != number, 0)) {
        struct id_windows *w = near->windows;
        size_t i = window_of_page(number, flag, id_size);
        uint32_t *words = w->words[i];

        if (near->pages)
            page_filter_add(near->pages, number);
        if (w->at[i].number != number)
            words = id_windows_miss(w, flag, i, key);
        if (!words)
            return;
        near->page = number;
        near->words = words;
    }
    if (set_bit(&near->words[low_of_key(key) >> 5], low_of_key(key)) && flag == ID_DEFINED)
        id_windows_repeat(near->windows, key);
}

#endif
