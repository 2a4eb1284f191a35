/* See allocator.h. Each small dump takes some large blocks. They are kept from run to run, because mapping and unmapping them would
 * take most of the time; while nobody holds one, AddressSanitizer reports any access to it. */
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

enum { LARGE = 16 << 10, SHELF = 32, JUNK_MAX = 1 << 16 };

static struct {
    void *block;
    size_t size;
} shelf[SHELF];

static void *take_from_shelf(size_t size)
{
    for (int i = 0; i < SHELF; i++)
        if (shelf[i].block && shelf[i].size == size) {
            void *block = shelf[i].block;

            shelf[i].block = NULL;
            ASAN_UNPOISON_MEMORY_REGION(block, size);
            return block;
        }
    return NULL;
}

static void put_on_shelf(void *block, size_t size)
{
    static unsigned turn;
    unsigned at = turn;

    for (unsigned i = 0; i < SHELF && shelf[at].block; i++)
        at = (at + 1) % SHELF;
    if (shelf[at].block) {
        ASAN_UNPOISON_MEMORY_REGION(shelf[at].block, shelf[at].size);
        free(shelf[at].block);
        turn = (turn + 1) % SHELF;
    }
    shelf[at].block = block;
    shelf[at].size = size;
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
    block = size >= LARGE ? take_from_shelf(size) : NULL;
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
    if (size >= LARGE)
        put_on_shelf(block, size);
    else
        free(block);
}

struct hprof_allocator allocator_for(struct allocator *a)
{
    return (struct hprof_allocator){allocate, release, a};
}

void expect_no_leak(const struct allocator *a)
{
    if (a->blocks || a->bytes)
        fail_target("%llu blocks of %llu bytes in all were not released", (unsigned long long)a->blocks,
                    (unsigned long long)a->bytes);
}
