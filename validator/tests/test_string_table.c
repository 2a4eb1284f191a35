/* string_table.h: a string is found under its ID and no other, wherever the IDs are, and takes little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "each_allocation.h"
#include "state/string_table.h"

enum { MANY = 100000 };

static const struct hash_key key = {0x1234567890abcdef, 0x9E3779B97F4A7C15};

static uint64_t consecutive(uint32_t i)
{
    return i;
}

static uint64_t down_from_all_bits(uint32_t i)
{
    return UINT32_MAX - i;
}

static uint64_t aligned_and_mixed(uint32_t i)
{
    return UINT64_C(0x7f0000000000) + UINT64_C(8) * (i * UINT32_C(7919) % (2 * MANY));
}

static uint64_t scattered(uint32_t i)
{
    return hash_u64(&key, i);
}

static const struct {
    unsigned id_size;
    uint64_t (*id)(uint32_t);
    unsigned bytes; /* the most that a string without its text takes */
} orders[] = {
    {4, consecutive, 13}, {4, down_from_all_bits, 13}, {8, consecutive, 13}, {8, aligned_and_mixed, 13}, {8, scattered, 36}};
enum { ORDERS = sizeof orders / sizeof *orders };

/* Every other ID is defined. Texts differ in length; some are longer than what is kept. */
static enum string_state define(struct strings *s, size_t order, uint32_t i, const char *form, uint64_t budget)
{
    char text[1000];
    size_t n = (size_t)snprintf(text, sizeof text, form, i % 1000 == 0 ? 500 : 1, i);
    struct byte_hash h;

    byte_hash_begin(&h, &key);
    byte_hash_add(&h, &key, text, n);
    return strings_define(s, orders[order].id(i), byte_hash_end(&h, &key), n, (const uint8_t *)text,
                          (const uint8_t *)text + n - 2, budget);
}

static void expect_text(const struct strings *s, size_t order, uint32_t i, bool kept)
{
    struct string_text text;
    char expected[1000];

    snprintf(expected, sizeof expected, "[%*u", i % 1000 == 0 ? 500 : 1, i);
    assert_int_equal(strings_text(s, orders[order].id(i), &text), kept);
    if (kept) {
        assert_int_equal(text.size, strlen(expected));
        assert_true(string_is(&text, expected));
        assert_false(string_is(&text, "["));
    }
}

static void finds_each_string_and_nothing_else(void **state)
{
    (void)state;
    for (size_t o = 0; o < ORDERS; o++) {
        struct memory memory;
        struct strings s;

        memory_init(&memory, NULL, 0);
        strings_init(&s, &memory, &key, orders[o].id_size);
        for (uint32_t i = 0; i < MANY; i += 2)
            assert_int_equal(define(&s, o, i, "[%*u", i % 4 ? UINT64_MAX : 0), STRING_NEW);
        for (uint32_t i = 0; i < MANY; i++) {
            assert_int_equal(strings_defined(&s, orders[o].id(i)), i % 2 == 0);
            expect_text(&s, o, i, i % 4 == 2);
            if (i % 2 == 0 && orders[o].id(i))
                assert_int_equal(strings_name_kind(&s, orders[o].id(i)), NAME_OF_OBJECT_ARRAY);
        }
        for (uint32_t i = 0; i < MANY; i += 2) {
            assert_int_equal(define(&s, o, i, "[%*u", 0), STRING_SAME);
            assert_int_equal(define(&s, o, i, "(%*u", 0), STRING_OTHER);
        }
        assert_true(strings_equal(&s, orders[o].id(2), orders[o].id(2)));
        assert_false(strings_equal(&s, orders[o].id(2), orders[o].id(4)));
        strings_clear(&s);
        assert_int_equal(memory.used, 0);
    }
}

static void a_string_takes_little(void **state)
{
    enum { BASE = 1 << 20 };

    (void)state;
    for (size_t o = 0; o < ORDERS; o++) {
        struct memory memory;
        struct strings s;

        memory_init(&memory, NULL, 0);
        strings_init(&s, &memory, &key, orders[o].id_size);
        for (uint32_t i = 0; i < 10 * MANY; i++)
            define(&s, o, i, "%*u", 0);
        if (memory.peak > BASE + (uint64_t)orders[o].bytes * 10 * MANY)
            fail_msg("order %zu: %llu bytes", o, (unsigned long long)memory.peak);
        strings_clear(&s);
    }
}

static void use_strings(struct memory *memory)
{
    struct strings s;
    uint32_t i = 0;

    strings_init(&s, memory, &key, 8);
    for (; i < 2000 && !memory->exhausted; i += 2)
        define(&s, 4, i, "[%*u", UINT64_MAX);
    for (uint32_t j = 0; j < 2000; j++)
        assert_int_equal(strings_defined(&s, orders[4].id(j)), j % 2 == 0 && j + 2 * memory->exhausted < i);
    strings_clear(&s);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(use_strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_string_and_nothing_else),
        cmocka_unit_test(a_string_takes_little),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
