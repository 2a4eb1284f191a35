/* See id_windows.h. */
#include "state/id_windows.h"

#include <string.h>

enum { VOTES = USUAL_OR_SMALL(64, 4) }; /* for another page: as many far IDs cost about what a merge costs */

void id_windows_init(struct id_windows *w, struct id_set *set, struct id_set *twice)
{
    w->set = set;
    w->twice = twice;
    for (size_t i = 0; i < WINDOWS; i++)
        w->at[i] = (struct id_window){.number = NO_PAGE, .candidate = NO_PAGE};
    memset(w->far_count, 0, sizeof w->far_count);
}

static void merge(struct id_windows *w, size_t i)
{
    struct id_window *window = &w->at[i];
    enum id_set_flag flag = i < FIRST_REFERENCED ? ID_DEFINED : i < FIRST_ELEMENT ? ID_REFERENCED : ID_ELEMENT;

    if (window->number != NO_PAGE)
        id_set_merge(w->set, window->number, flag, w->words[i], w->twice);
    *window = (struct id_window){.number = NO_PAGE, .candidate = NO_PAGE};
}

static void apply(struct id_windows *w, unsigned group)
{
    if (w->far_count[group])
        id_set_apply(w->set, group, w->far[group], w->far_count[group], w->twice);
    w->far_count[group] = 0;
}

void id_windows_finish(struct id_windows *w, unsigned first_group)
{
    for (size_t i = 0; i < WINDOWS; i++)
        merge(w, i);
    for (unsigned i = 0; i < PAGE_GROUPS; i++)
        apply(w, (first_group + i) % PAGE_GROUPS);
}

static void add_far(struct id_windows *w, uint64_t key, enum id_set_flag flag)
{
    uint64_t place = page_place(&w->set->directory, key >> PAGE_BITS);
    unsigned group = group_of_place(place);

    w->far[group][w->far_count[group]++] = far_id(place, low_of_key(key), flag);
    if (w->far_count[group] == FAR_IDS)
        apply(w, group);
}

/* Whether the page of an ID that misses a window has won the majority. */
static bool vote(struct id_window *window, uint64_t number)
{
    if (window->candidate == number) {
        window->votes++;
    } else if (window->votes) {
        window->votes--;
    } else {
        window->candidate = number;
        window->votes = 1;
    }
    return window->candidate == number && window->votes >= VOTES;
}

uint32_t *id_windows_miss(struct id_windows *w, enum id_set_flag flag, size_t i, uint64_t key)
{
    struct id_window *window = &w->at[i];

    if (!vote(window, key >> PAGE_BITS)) {
        add_far(w, key, flag);
        return NULL;
    }
    merge(w, i);
    memset(w->words[i], 0, sizeof w->words[i]);
    window->number = key >> PAGE_BITS;
    return w->words[i];
}

void id_windows_repeat(struct id_windows *w, uint64_t key)
{
    id_set_set(w->twice, key, ID_ELEMENT);
}
