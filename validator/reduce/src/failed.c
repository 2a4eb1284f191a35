/* See failed.h. */
#include "failed.h"

#include <stdlib.h>

#include "store.h"

enum { SMALLEST = 1024 };

static size_t slot_of(const struct failed *failed, uint64_t hash)
{
    size_t slot = (size_t)hash & (failed->size - 1);

    while (failed->slots[slot] != 0 && failed->slots[slot] != hash)
        slot = (slot + 1) & (failed->size - 1);
    return slot;
}

bool failed_has(const struct failed *failed, uint64_t hash)
{
    return failed->size != 0 && failed->slots[slot_of(failed, hash != 0 ? hash : 1)] != 0;
}

void failed_add(struct failed *failed, uint64_t hash)
{
    struct failed larger = {.size = failed->size != 0 ? 2 * failed->size : SMALLEST, .count = failed->count};

    if (2 * failed->count >= failed->size) {
        larger.slots = store_zeroed(larger.size, sizeof *larger.slots);
        for (size_t i = 0; i < failed->size; i++)
            if (failed->slots[i] != 0)
                larger.slots[slot_of(&larger, failed->slots[i])] = failed->slots[i];
        free(failed->slots);
        *failed = larger;
    }
    hash = hash != 0 ? hash : 1;
    failed->count += !failed_has(failed, hash);
    failed->slots[slot_of(failed, hash)] = hash;
}

void failed_free(struct failed *failed)
{
    free(failed->slots);
    *failed = (struct failed){0};
}
