/* See put_off.h. */
#include "put_off.h"

#include <stdlib.h>

bool runs_are_alike(const struct hprof_item runs[SIDES], const struct hprof_counted counted[SIDES])
{
    return runs[0].heap_dump == runs[1].heap_dump && counted[0].low_id == counted[1].low_id &&
           counted[0].high_id == counted[1].high_id && counted[0].objects == counted[1].objects;
}

/* Its offset is the place in the list of its side. */
static struct entry entry_of(unsigned side, const struct hprof_item *run, const struct hprof_counted *counted, size_t place)
{
    return (struct entry){.id = counted->low_id,
                          .digest = (counted->high_id * 31 + counted->objects) * 31 + run->size,
                          .offset = place,
                          .heap_dump = (uint32_t)run->heap_dump,
                          .side = (uint8_t)side};
}

bool put_off_add(struct put_off *p, unsigned side, const struct hprof_item *run, const struct hprof_counted *counted)
{
    struct put_off_runs *of = &p->of[side];
    struct entry entry = entry_of(side, run, counted, of->count);

    if (of->count == of->capacity) {
        size_t capacity = of->capacity ? 2 * of->capacity : 64;
        struct hprof_item *grown = realloc(of->runs, capacity * sizeof *grown);

        if (grown == NULL)
            return false;
        of->runs = grown;
        of->capacity = capacity;
    }
    if (!table_add(&p->table, &entry))
        return false;
    of->runs[of->count++] = *run;
    return true;
}

bool put_off_take(struct put_off *p, unsigned side, const struct hprof_item *run, const struct hprof_counted *counted,
                  struct hprof_item *other)
{
    struct entry like = entry_of(side, run, counted, 0), taken;
    struct hprof_item *found;

    if (!table_take(&p->table, &like, &taken))
        return false;
    found = &p->of[!side].runs[taken.offset];
    *other = *found;
    found->size = 0;
    return true;
}

const struct hprof_item *put_off_next(struct put_off *p, unsigned side)
{
    struct put_off_runs *of = &p->of[side];

    while (of->next < of->count)
        if (of->runs[of->next++].size > 0)
            return &of->runs[of->next - 1];
    return NULL;
}

void put_off_free(struct put_off *p)
{
    for (unsigned side = 0; side < SIDES; side++)
        free(p->of[side].runs);
    table_free(&p->table);
}
