/* keymap.h: a value is found under its key and no other; an entry takes little more than a slot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/keymap.h"
#include "dice.h"
#include "each_allocation.h"

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

static uint64_t down_from_32_bits(uint32_t i)
{
    return UINT32_MAX - i;
}

/* Maps of all sizes, with keys of those sizes. */
static const struct {
    unsigned key_size, value_size;
    uint64_t (*key)(uint32_t);
} maps[] = {{4, 4, consecutive}, {4, 4, down_from_32_bits}, {4, 8, consecutive}, {4, 8, down_from_32_bits},
            {8, 4, aligned},     {8, 4, alike_below},       {8, 8, consecutive}, {8, 8, down_from_all_bits}};
enum { MAPS = sizeof maps / sizeof *maps, MANY = 200000 };

static uint64_t value_of(size_t map, uint32_t i)
{
    return maps[map].value_size == 8 ? UINT64_MAX - i : i / 2; /* 0 is a value as any other */
}

static void fill(struct keymap *m, size_t map)
{
    for (uint32_t i = 0; i < MANY; i += 2) {
        assert_false(keymap_get(m, maps[map].key(i), NULL));
        assert_true(keymap_put(m, maps[map].key(i), value_of(map, i)));
    }
}

static void expect_filled(const struct keymap *m, size_t map)
{
    assert_int_equal(m->count, MANY / 2);
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t value;
        bool there = keymap_get(m, maps[map].key(i), &value);

        assert_int_equal(there, i % 2 == 0);
        if (there)
            assert_int_equal(value, value_of(map, i));
    }
}

static void finds_what_was_put_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAPS; i++) {
        struct keymap m;
        struct memory memory;

        memory_init(&memory, NULL, 0);
        keymap_init(&m, &memory, &hash, maps[i].key_size, maps[i].value_size);
        fill(&m, i);
        expect_filled(&m, i);
        keymap_clear(&m);
        assert_int_equal(memory.used, 0);
    }
}

static void a_value_can_be_changed(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAPS; i++) {
        struct keymap m;
        struct memory memory;

        memory_init(&memory, NULL, 0);
        keymap_init(&m, &memory, &hash, maps[i].key_size, maps[i].value_size);
        for (uint32_t j = 0; j < MANY; j += 2)
            assert_true(keymap_put(&m, maps[i].key(j), 7));
        for (uint32_t j = 0; j < MANY; j += 2)
            assert_true(keymap_put(&m, maps[i].key(j), value_of(i, j)));
        expect_filled(&m, i);
        keymap_clear(&m);
    }
}

static void can_be_used_again_when_cleared(void **state)
{
    struct keymap m;
    struct memory memory;

    (void)state;
    memory_init(&memory, NULL, 0);
    keymap_init(&m, &memory, &hash, 4, 4);
    assert_false(keymap_get(&m, 0, NULL));
    fill(&m, 0);
    keymap_clear(&m);
    assert_int_equal(m.count, 0);
    assert_false(keymap_get(&m, 0, NULL));
    fill(&m, 0);
    expect_filled(&m, 0);
    keymap_clear(&m);
    assert_int_equal(memory.used, 0);
}

static void adding_keeps_what_was_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAPS; i++) {
        struct keymap m;
        struct memory memory;
        uint64_t earlier = 0;

        memory_init(&memory, NULL, 0);
        keymap_init(&m, &memory, &hash, maps[i].key_size, maps[i].value_size);
        for (uint32_t j = 0; j < MANY; j += 2)
            assert_true(keymap_add(&m, maps[i].key(j), value_of(i, j), &earlier));
        for (uint32_t j = 0; j < MANY; j += 2) {
            assert_false(keymap_add(&m, maps[i].key(j), 7, &earlier));
            assert_int_equal(earlier, value_of(i, j));
        }
        expect_filled(&m, i);
        keymap_clear(&m);
    }
}

struct heard {
    size_t count;
    uint64_t sum;
};

static void hear(void *context, uint64_t key, uint64_t value)
{
    struct heard *h = context;

    h->count++;
    h->sum += key * 3 + value;
}

static void each_key_is_visited_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAPS; i++) {
        struct keymap m;
        struct memory memory;
        struct heard heard = {0};
        uint64_t sum = 0;

        memory_init(&memory, NULL, 0);
        keymap_init(&m, &memory, &hash, maps[i].key_size, maps[i].value_size);
        keymap_each(&m, hear, &heard);
        assert_int_equal(heard.count, 0);
        fill(&m, i);
        keymap_each(&m, hear, &heard);
        for (uint32_t j = 0; j < MANY; j += 2)
            sum += maps[i].key(j) * 3 + value_of(i, j);
        assert_int_equal(heard.count, MANY / 2);
        assert_true(heard.sum == sum);
        keymap_clear(&m);
    }
}

/* At any time, once the map is large: parts grow in turn, so they are never all half empty, and a part that grows exists twice for
 * a moment. */
static void an_entry_takes_little_more_than_its_slot(void **state)
{
    enum { BASE = 1 << 20 };

    (void)state;
    for (size_t i = 0; i < MAPS; i++) {
        uint64_t slot = maps[i].key_size + maps[i].value_size;
        struct keymap m;
        struct memory memory;

        memory_init(&memory, NULL, 0);
        keymap_init(&m, &memory, &hash, maps[i].key_size, maps[i].value_size);
        for (uint32_t j = 0; j < 1000000; j++) {
            keymap_put(&m, maps[i].key(j), 1);
            if (memory.peak > slot * 2 * (j + 1) + BASE)
                fail_msg("%llu bytes for %u entries", (unsigned long long)memory.peak, j + 1);
        }
        keymap_clear(&m);
    }
}

static void use_keymap(struct memory *memory)
{
    struct keymap m;
    uint32_t added = 0;

    keymap_init(&m, memory, &hash, 4, 4);
    while (added < 3000 && keymap_put(&m, added, added + 1))
        added++;
    assert_true(added == 3000 || memory->exhausted);
    for (uint32_t i = 0; i < added; i++) {
        uint64_t value;

        assert_true(keymap_get(&m, i, &value));
        assert_int_equal(value, i + 1);
    }
    keymap_clear(&m);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(use_keymap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put_and_nothing_else),
        cmocka_unit_test(a_value_can_be_changed),
        cmocka_unit_test(adding_keeps_what_was_there),
        cmocka_unit_test(can_be_used_again_when_cleared),
        cmocka_unit_test(each_key_is_visited_once),
        cmocka_unit_test(an_entry_takes_little_more_than_its_slot),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
