/* keymap.h: what was put under a key is found under it and no other; an entry takes 24 bytes at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "caller.h"
#include "dice.h"
#include "keymap.h"

static const struct hash_key hash = {0x1234567890abcdef, 0x9E3779B97F4A7C15};

static uint64_t consecutive(uint32_t i)
{
    return i;
}

static uint64_t aligned(uint32_t i)
{
    return 0x7f0000000000 + UINT64_C(16) * i;
}

static uint64_t down_from_all_bits(uint32_t i)
{
    return ~(uint64_t)i;
}

static uint64_t alike_below(uint32_t i)
{
    return (uint64_t)i << 40;
}

static uint64_t (*const keys[])(uint32_t) = {consecutive, aligned, down_from_all_bits, alike_below};
enum { KEYS = sizeof keys / sizeof *keys, MANY = 200000 };

static void fill(struct keymap *m, uint64_t (*key)(uint32_t))
{
    for (uint32_t i = 0; i < MANY; i += 2) {
        uint64_t *value = keymap_add(m, key(i));

        assert_int_equal(*value, 0);
        *value = i + 1;
    }
}

static void finds_what_was_added_and_nothing_else(void **state)
{
    (void)state;
    for (size_t k = 0; k < KEYS; k++) {
        struct keymap m;
        struct memory memory;

        memory_init(&memory, NULL, 0);
        keymap_init(&m, &memory, &hash);
        fill(&m, keys[k]);
        assert_int_equal(m.count, MANY / 2);
        for (uint32_t i = 0; i < MANY; i++) {
            const uint64_t *value = keymap_find(&m, keys[k](i));

            if (i % 2)
                assert_null(value);
            else
                assert_int_equal(*value, i + 1);
        }
        keymap_clear(&m);
        assert_int_equal(memory.used, 0);
    }
}

static void adding_again_gives_the_same_value(void **state)
{
    struct keymap m;
    struct memory memory;

    (void)state;
    memory_init(&memory, NULL, 0);
    keymap_init(&m, &memory, &hash);
    fill(&m, aligned);
    for (uint32_t i = 0; i < MANY; i += 2)
        *keymap_add(&m, aligned(i)) *= 3;
    assert_int_equal(m.count, MANY / 2);
    for (uint32_t i = 0; i < MANY; i += 2)
        assert_int_equal(*keymap_find(&m, aligned(i)), 3 * ((uint64_t)i + 1));
    keymap_clear(&m);
}

static void can_be_used_again_when_cleared(void **state)
{
    struct keymap m;
    struct memory memory;

    (void)state;
    memory_init(&memory, NULL, 0);
    keymap_init(&m, &memory, &hash);
    assert_null(keymap_find(&m, 0));
    fill(&m, consecutive);
    keymap_clear(&m);
    assert_int_equal(m.count, 0);
    assert_null(keymap_find(&m, 0));
    fill(&m, consecutive);
    keymap_clear(&m);
    assert_int_equal(memory.used, 0);
}

static void an_entry_takes_24_bytes_at_most(void **state)
{
    enum { BASE = 64 << 10 };

    (void)state;
    for (size_t k = 0; k < KEYS; k++) {
        struct keymap m;
        struct memory memory;

        memory_init(&memory, NULL, 0);
        keymap_init(&m, &memory, &hash);
        for (uint32_t i = 0; i < 1000000; i++) {
            *keymap_add(&m, keys[k](i)) = 1;
            if (memory.used > UINT64_C(24) * (i + 1) + BASE)
                fail_msg("%llu bytes for %u entries", (unsigned long long)memory.used, i + 1);
        }
        keymap_clear(&m);
    }
}

static void any_allocation_may_fail(void **state)
{
    bool refused = true;

    (void)state;
    for (uint64_t n = 0; refused; n++) {
        struct caller caller = {.left = n};
        struct hprof_allocator allocator = caller_allocator(&caller);
        struct memory memory;
        struct keymap m;
        uint64_t *value = NULL;
        uint32_t added = 0;

        memory_init(&memory, &allocator, 0);
        keymap_init(&m, &memory, &hash);
        while (added < 3000 && (value = keymap_add(&m, added)))
            *value = ++added;
        assert_true(value || memory.exhausted);
        for (uint32_t i = 0; i < added; i++)
            assert_int_equal(*keymap_find(&m, i), i + 1);
        keymap_clear(&m);
        assert_true(caller_has_all_back(&caller));
        refused = caller.refused;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added_and_nothing_else),
        cmocka_unit_test(adding_again_gives_the_same_value),
        cmocka_unit_test(can_be_used_again_when_cleared),
        cmocka_unit_test(an_entry_takes_24_bytes_at_most),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
