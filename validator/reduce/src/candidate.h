/* A candidate: the dump with some edits made. */
#ifndef HPROF_REDUCE_CANDIDATE_H
#define HPROF_REDUCE_CANDIDATE_H

#include "plan.h"

struct candidate {
    uint64_t size, hash;
    bool is_known; /* it was not written: `is_failed` said so */
};

/* Writes the candidate with the edits of which made[edit] is true. `is_failed` is asked with the hash, before the bytes go to the
 * disk if there are few. False if it cannot be written or read: errno says why. */
bool candidate_write(struct plan *plan, const bool *made, const char *path, bool (*is_failed)(void *context, uint64_t hash),
                     void *context, struct candidate *candidate);

/* The hash of a dump as it is. */
bool candidate_hash(int base, uint64_t size, uint64_t *hash);

#endif
