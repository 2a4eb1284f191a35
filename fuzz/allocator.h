/* Memory for the library under test. Counts what is allocated, fails when asked to, and fills each block with junk. */
#ifndef HPROF_FUZZ_ALLOCATOR_H
#define HPROF_FUZZ_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "hprof/hprof.h"

struct allocator {
    uint64_t left;  /* allocations that succeed before one fails; UINT64_MAX for all */
    bool for_good;  /* after the first failure every allocation fails; otherwise only that one */
    uint8_t junk;   /* what new memory holds */
    bool failed;    /* an allocation failed */
    uint64_t count; /* allocations so far */
    uint64_t blocks, bytes, peak;
};

/* `a` must outlive the use of the result. Set the first three fields before. */
struct hprof_allocator allocator_for(struct allocator *a);

/* Fails the target if a block was not released. */
void expect_no_leak(const struct allocator *a);

#endif
