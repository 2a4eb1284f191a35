/* The uses of IDs and serials that were not defined when they were used, in the order of the file. At the end each that is
 * still undefined is one finding, at its first use in its gravest role.
 *
 * A use costs 8 bytes for a key of 4 bytes and 12 for one of 8: no more than twice what it took in the file, and nothing is
 * copied when the log grows. It is sorted in place, run by run, and the runs are merged. */
#ifndef HPROF_USELOG_H
#define HPROF_USELOG_H

#include "memory.h"

enum { USE_ROLES = 16 };

struct uselog {
    struct memory *memory;
    unsigned key_size; /* 4 or 8 */
    struct use_run *runs;
    size_t run_capacity;
    size_t run_count;
    uint64_t last_key;
    unsigned last_role;
    bool any;
};

void uselog_init(struct uselog *log, struct memory *memory, unsigned key_size);
void uselog_clear(struct uselog *log);

/* Notes a use. role is below USE_ROLES; the smaller, the graver. Offsets never fall. A use that repeats the one before it is not
 * noted again. */
void uselog_add(struct uselog *log, uint64_t key, unsigned role, uint64_t offset);

/* Calls `undefined` once for each key, in the order of keys, with its gravest role, the first use in it, and the first use in
 * any. Leaves the log sorted: nothing can be added afterwards. */
void uselog_finish(struct uselog *log,
                   void (*each)(void *context, uint64_t key, unsigned role, uint64_t offset, uint64_t first), void *context);

#endif
