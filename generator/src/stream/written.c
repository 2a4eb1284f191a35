/* See written.h. */
#include "stream/written.h"

#include <stdlib.h>

bool written_add_fault(struct written *w, int rule, const char *variant, uint64_t offset)
{
    size_t n = w->fault_count;

    if (!(n & (n - 1))) { /* the array is full at 0 and at each power of two */
        struct written_fault *grown = realloc(w->faults, (n ? 2 * n : 1) * sizeof *grown);

        if (!grown)
            return false;
        w->faults = grown;
    }
    w->faults[w->fault_count++] = (struct written_fault){rule, variant, offset};
    return true;
}

void written_clear(struct written *w)
{
    free(w->faults);
}
