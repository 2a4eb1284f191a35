/* The uses of IDs and serials that were not defined when they were used, in the order of the file. At the end each that is
 * still undefined is one finding, at its first use in its gravest role; the role also tells what kind of record that was.
 *
 * A use costs 7 bytes for a key of 4 bytes and 11 for one of 8: less than twice what it took in the file. The log is a list of
 * runs, each over a short stretch of the dump, so that a place in it takes few bytes. Each is sorted in place, and they are
 * merged. */
#ifndef HPROF_PENDING_USES_H
#define HPROF_PENDING_USES_H

#include "base/memory.h"

enum { USE_ROLES = 16 };

struct pending_uses {
    struct memory *memory;
    unsigned key_size; /* 4 or 8 */
    struct use_run *runs;
    size_t run_capacity;
    size_t run_count;
    uint64_t last_key, last_offset;
    unsigned last_role;
    bool any;
};

void pending_uses_init(struct pending_uses *log, struct memory *memory, unsigned key_size);
void pending_uses_clear(struct pending_uses *log);

/* Notes a use. role is below USE_ROLES. A use that repeats the one before it is not noted again. */
void pending_uses_add(struct pending_uses *log, uint64_t key, unsigned role, uint64_t offset);

/* Calls `each` once for each key, in the order of keys, with the first use in each role: NEVER_USED where there is none. Leaves
 * the log sorted: nothing can be added afterwards. */
#define NEVER_USED UINT64_MAX
void pending_uses_finish(struct pending_uses *log, void (*each)(void *context, uint64_t key, const uint64_t first[USE_ROLES]),
                         void *context);

/* The first of the uses in the roles from `from` to `to`, *role if there is one; NEVER_USED if not. */
uint64_t uses_first(const uint64_t first[USE_ROLES], unsigned from, unsigned to, unsigned *role);

#endif
