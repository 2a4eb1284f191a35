/* The hashes of candidates that do not show what is sought, so that none is tried twice. */
#ifndef HPROF_REDUCE_FAILED_H
#define HPROF_REDUCE_FAILED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failed {
    uint64_t *slots; /* 0: empty */
    size_t size, count;
};

bool failed_has(const struct failed *failed, uint64_t hash);
void failed_add(struct failed *failed, uint64_t hash);
void failed_free(struct failed *failed);

#endif
