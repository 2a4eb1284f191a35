/* Has every allocation of a piece of code fail, one after the other. */
#ifndef HPROF_TESTS_EACH_ALLOCATION_H
#define HPROF_TESTS_EACH_ALLOCATION_H

#include "base/memory.h"
#include "caller.h"

/* Calls `use` with memory of which no allocation succeeds, then all but the first fail, and so on, until none fails. Each time all
 * memory must come back. For cmocka. */
static inline void fail_each_allocation_of(void (*use)(struct caller *caller, void *context), void *context)
{
    bool refused = true;

    for (uint64_t n = 0; refused; n++) {
        struct caller caller = {.left = n};

        use(&caller, context);
        assert_true(caller_has_all_back(&caller));
        refused = caller.refused;
    }
}

static inline void use_as_memory(struct caller *caller, void *context)
{
    void (*const *use)(struct memory * memory) = context;
    struct hprof_allocator allocator = caller_allocator(caller);
    struct memory memory;

    memory_init(&memory, &allocator, 0);
    (*use)(&memory);
    assert_int_equal(memory.exhausted, caller->refused);
}

/* The same for code that takes its memory from a struct memory, which must notice the failure. */
static inline void fail_each_allocation(void (*use)(struct memory *memory))
{
    fail_each_allocation_of(use_as_memory, &use);
}

#endif
