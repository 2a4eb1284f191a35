/* Uses of IDs and serials that were undefined when they were used, in the order of the file. At the end, each key that is still
 * undefined is one finding, at its first use in its gravest role. The role also says which kind of record used it.
 *
 * A use takes 7 bytes with a key of 4 bytes and 11 with a key of 8: less than twice what it takes in the file. The log is a list of
 * runs. Each run covers a short range of offsets, so that an offset within it takes few bytes. At the end each run is sorted in
 * place, and the runs are merged. */
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

/* Adds a use, unless it repeats the one before. role is below USE_ROLES. */
void pending_uses_add(struct pending_uses *log, uint64_t key, unsigned role, uint64_t offset);

/* Discards the uses at an offset and after it, which were added last. */
void pending_uses_discard(struct pending_uses *log, uint64_t from);

/* Calls `each` once for each key, in the order of keys, with the first use in each role, or NEVER_USED. Releases the log. */
#define NEVER_USED UINT64_MAX
void pending_uses_finish(struct pending_uses *log, void (*each)(void *context, uint64_t key, const uint64_t first[USE_ROLES]),
                         void *context);

/* The first use in any of the roles from `from` to `to`, and its role; NEVER_USED if there is none. */
uint64_t uses_first(const uint64_t first[USE_ROLES], unsigned from, unsigned to, unsigned *role);

#endif
