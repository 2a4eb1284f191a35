/* See allocator.h. Blocks come from one region, because with AddressSanitizer malloc() takes more time than the library: it keeps
 * two stacks for each block, and a released block is not used again for long, so new pages are mapped all the time. The region
 * finds the same errors: only live blocks can be accessed, and no run gets the same bytes twice. Such a report lacks only
 * the stacks of allocation and release; with HPROF_FUZZ_MALLOC in the environment, blocks come from malloc() and it has them. */
#include "allocator.h"

#include <stdlib.h>
#include <string.h>

#include "target.h"

#if defined __SANITIZE_ADDRESS__
#define HAS_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#if __has_feature(memory_sanitizer)
#define HAS_MSAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif
#ifdef HAS_MSAN
#include <sanitizer/msan_interface.h>
#else
#define __msan_allocated_memory(at, size) ((void)(at), (void)(size))
#endif

enum {
    REGION = 4 << 20, /* bytes; what has no room in it comes from malloc() */
    REDZONE = 256,    /* bytes before and after each block that nothing may access */
    ALIGNMENT = 16,
    JUNK_MAX = 1 << 16
};

static struct {
    _Alignas(ALIGNMENT) uint8_t bytes[REGION];
    size_t used;
    uint64_t blocks;
    bool prepared, unwanted;
} region;

/* For a new run. A block that another run still holds keeps the region from starting again. */
static void begin_region(void)
{
    if (!region.prepared) {
        region.prepared = true;
        region.unwanted = getenv("HPROF_FUZZ_MALLOC") != NULL;
        ASAN_POISON_MEMORY_REGION(region.bytes, REGION);
    }
    if (region.blocks == 0)
        region.used = REDZONE;
}

static bool is_in_region(const void *block)
{
    uintptr_t at = (uintptr_t)block, start = (uintptr_t)region.bytes;

    return at >= start && at - start < REGION;
}

static void *take_from_region(size_t size)
{
    uint8_t *block = region.bytes + region.used;

    if (region.unwanted || size > REGION - REDZONE - ALIGNMENT || region.used > REGION - REDZONE - ALIGNMENT - size)
        return NULL;
    region.used += (size + REDZONE + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    region.blocks++;
    ASAN_UNPOISON_MEMORY_REGION(block, size);
    return block;
}

static void give_to_region(void *block, size_t size)
{
    region.blocks--;
    __msan_allocated_memory(block, size);
    ASAN_POISON_MEMORY_REGION(block, size);
}

static void *allocate(void *context, size_t size)
{
    struct allocator *a = context;
    void *block;

    if (a->left == 0 && (a->for_good || !a->failed)) {
        a->failed = true;
        return NULL;
    }
    if (a->left && a->left != UINT64_MAX)
        a->left--;
    block = take_from_region(size);
    if (!block)
        block = malloc(size);
    if (!block)
        fail_target("malloc(%zu) failed: the library asks for more than there is", size);
    memset(block, a->junk, size < JUNK_MAX ? size : JUNK_MAX);
    __msan_allocated_memory(block, size); /* junk is not initialised */
    a->count++;
    a->blocks++;
    a->bytes += size;
    if (a->bytes > a->peak)
        a->peak = a->bytes;
    return block;
}

static void release(void *context, void *block, size_t size)
{
    struct allocator *a = context;

    if (a->blocks == 0 || a->bytes < size)
        fail_target("a block of %zu bytes is released that was not allocated", size);
    a->blocks--;
    a->bytes -= size;
    if (is_in_region(block))
        give_to_region(block, size);
    else
        free(block);
}

struct hprof_allocator allocator_for(struct allocator *a)
{
    begin_region();
    return (struct hprof_allocator){allocate, release, a};
}

void expect_no_leak(const struct allocator *a)
{
    if (a->blocks || a->bytes)
        fail_target("%llu blocks of %llu bytes in all were not released", (unsigned long long)a->blocks,
                    (unsigned long long)a->bytes);
}
