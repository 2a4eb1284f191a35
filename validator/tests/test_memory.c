/* memory.h: allocations are counted and limited, and released with their size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

/* The caller's allocator: keeps the size of each block before it, and fails when `left` is 0. */
struct caller {
    size_t blocks;
    size_t bytes;
    size_t left;
};

static void *allocate(void *context, size_t size)
{
    struct caller *caller = context;
    size_t *block;

    if (caller->left == 0)
        return NULL;
    caller->left--;
    block = malloc(sizeof(max_align_t) + size);
    assert_non_null(block);
    *block = size;
    caller->blocks++;
    caller->bytes += size;
    return (char *)block + sizeof(max_align_t);
}

static void release(void *context, void *memory, size_t size)
{
    struct caller *caller = context;
    size_t *block = (size_t *)(void *)((char *)memory - sizeof(max_align_t));

    assert_int_equal(*block, size);
    caller->blocks--;
    caller->bytes -= size;
    free(block);
}

static struct memory memory_of(struct caller *caller, uint64_t limit)
{
    struct hprof_allocator allocator = {allocate, release, caller};
    struct memory m;

    memory_init(&m, &allocator, limit);
    return m;
}

static void counts_what_is_in_use(void **state)
{
    struct caller caller = {.left = SIZE_MAX};
    struct memory m = memory_of(&caller, 0);
    void *a = memory_get(&m, 100), *b = memory_get(&m, 0);

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(m.used, 101);
    assert_int_equal(caller.bytes, 101);
    memory_put(&m, a, 100);
    memory_put(&m, b, 0);
    memory_put(&m, NULL, 7);
    assert_int_equal(m.used, 0);
    assert_int_equal(m.peak, 101);
    assert_int_equal(caller.blocks, 0);
    assert_false(m.exhausted);
}

static void uses_malloc_if_no_allocator_is_given(void **state)
{
    struct memory m;
    void *block;

    (void)state;
    memory_init(&m, NULL, 0);
    block = memory_get(&m, 1000);
    assert_non_null(block);
    memset(block, 1, 1000);
    memory_put(&m, block, 1000);
    assert_int_equal(m.used, 0);
}

static void keeps_within_the_limit(void **state)
{
    struct caller caller = {.left = SIZE_MAX};
    struct memory m = memory_of(&caller, 1000);
    void *a = memory_get(&m, 600), *b;

    (void)state;
    assert_null(memory_get(&m, 401));
    assert_true(m.exhausted);
    assert_null(memory_get(&m, SIZE_MAX));
    assert_int_equal(m.used, 600);
    b = memory_get(&m, 400);
    assert_non_null(b);
    memory_put(&m, a, 600);
    memory_put(&m, b, 400);
    assert_int_equal(m.peak, 1000);
    assert_int_equal(caller.blocks, 0);
}

static void zeroes_on_demand(void **state)
{
    struct caller caller = {.left = 1};
    struct memory m = memory_of(&caller, 0);
    unsigned char *block = memory_get_zeroed(&m, 64), zeros[64] = {0};

    (void)state;
    assert_memory_equal(block, zeros, 64);
    assert_null(memory_get_zeroed(&m, 64));
    assert_true(m.exhausted);
    memory_put(&m, block, 64);
}

static void resizes_with_the_contents(void **state)
{
    struct caller caller = {.left = 3};
    struct memory m = memory_of(&caller, 0);
    char *block = memory_resize(&m, NULL, 0, 6);

    (void)state;
    memcpy(block, "hello", 6);
    block = memory_resize(&m, block, 6, 600);
    assert_string_equal(block, "hello");
    block = memory_resize(&m, block, 600, 3);
    assert_memory_equal(block, "hel", 3);
    assert_null(memory_resize(&m, block, 3, 9));
    assert_memory_equal(block, "hel", 3);
    assert_int_equal(m.used, 3);
    memory_put(&m, block, 3);
    assert_int_equal(caller.blocks, 0);
}

static void grows_arrays_by_half_at_least(void **state)
{
    struct caller caller = {.left = SIZE_MAX};
    struct memory m = memory_of(&caller, 0);
    void *array = NULL;
    size_t capacity = 0, grown = 0;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        size_t before = capacity;

        assert_true(memory_grow(&m, &array, &capacity, (size_t)i + 1, sizeof i));
        grown += capacity != before;
        ((uint32_t *)array)[i] = i;
    }
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(((uint32_t *)array)[i], i);
    assert_true(grown < 30);
    assert_int_equal(m.used, capacity * sizeof(uint32_t));
    memory_put(&m, array, capacity * sizeof(uint32_t));
    assert_int_equal(caller.blocks, 0);
}

static void a_failed_growth_changes_nothing(void **state)
{
    struct caller caller = {.left = 1};
    struct memory m = memory_of(&caller, 0);
    void *array = NULL, *before;
    size_t capacity = 0;

    (void)state;
    assert_true(memory_grow(&m, &array, &capacity, 10, 8));
    before = array;
    assert_false(memory_grow(&m, &array, &capacity, 1000, 8));
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, 10);
    m.exhausted = false;
    assert_false(memory_grow(&m, &array, &capacity, SIZE_MAX / 4, 8));
    assert_true(m.exhausted);
    assert_ptr_equal(array, before);
    memory_put(&m, array, capacity * 8);
    assert_int_equal(caller.blocks, 0);
}

/* A little more than several huge pages, and nearly one. */
static void large_blocks_are_whole(void **state)
{
    static const size_t sizes[] = {(2 << 20) - 1, 2 << 20, (7 << 20) + 5};
    struct memory m;

    (void)state;
    memory_init(&m, NULL, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *block = memory_get(&m, sizes[i]), *larger;

        memset(block, 0x5a, sizes[i]);
        larger = memory_resize(&m, block, sizes[i], 3 * sizes[i]);
        assert_int_equal(larger[0], 0x5a);
        assert_int_equal(larger[sizes[i] - 1], 0x5a);
        memset(larger, 0xa5, 3 * sizes[i]);
        memory_put(&m, larger, 3 * sizes[i]);
    }
    assert_int_equal(m.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_is_in_use),           cmocka_unit_test(uses_malloc_if_no_allocator_is_given),
        cmocka_unit_test(keeps_within_the_limit),          cmocka_unit_test(zeroes_on_demand),
        cmocka_unit_test(resizes_with_the_contents),       cmocka_unit_test(grows_arrays_by_half_at_least),
        cmocka_unit_test(a_failed_growth_changes_nothing), cmocka_unit_test(large_blocks_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
