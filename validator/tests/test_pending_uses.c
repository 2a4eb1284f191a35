/* pending_uses.h: gives the first use of each key in each role, whatever the order and number of uses, in 7 or 11 bytes a
 * use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "each_allocation.h"
#include "state/pending_uses.h"

/* The first use of a key in each role; UINT64_MAX for none. */
struct expected {
    uint64_t first[USE_ROLES];
};

struct heard {
    const struct expected *expected;
    uint64_t step; /* between keys */
    size_t count;
    uint64_t last;
};

static void expect_use(void *context, uint64_t key, const uint64_t first[USE_ROLES])
{
    struct heard *h = context;

    assert_int_equal(key % h->step, 0);
    assert_true(h->count == 0 || key > h->last);
    assert_memory_equal(first, h->expected[key / h->step].first, sizeof h->expected->first);
    h->last = key;
    h->count++;
}

static struct expected *never_used(size_t keys)
{
    struct expected *expected = malloc(keys * sizeof *expected);

    assert_non_null(expected);
    memset(expected, 0xff, keys * sizeof *expected);
    return expected;
}

static bool is_used(const struct expected *e)
{
    unsigned role;

    return uses_first(e->first, 0, USE_ROLES - 1, &role) != NEVER_USED;
}

static void expect_note(struct expected *e, unsigned role, uint64_t offset)
{
    if (offset < e->first[role])
        e->first[role] = offset;
}

/* How offsets increase from one use to the next. */
static uint64_t small_steps(uint64_t offset)
{
    return offset + below(20);
}

static uint64_t large_steps(uint64_t offset)
{
    return below(300) ? offset + below(1 << 20) : offset + (UINT64_C(1) << 33);
}

static uint64_t back_and_forth(uint64_t offset)
{
    return below(2000) ? offset + below(1000) : offset / 2;
}

static uint64_t anywhere_near(uint64_t offset)
{
    return (offset & ~UINT64_C(0xffff)) + below(0x10000);
}

static void expect_as_model(unsigned key_size, uint32_t uses, uint32_t keys, uint64_t (*next)(uint64_t))
{
    struct expected *expected = never_used(keys);
    uint64_t offset = 31, step = (key_size == 8 ? UINT64_MAX : UINT32_MAX) / keys;
    struct heard heard = {expected, step, 0, 0};
    struct pending_uses log;
    struct memory memory;
    size_t used = 0;
    uint32_t key;

    memory_init(&memory, NULL, 0);
    pending_uses_init(&log, &memory, key_size);
    for (uint32_t i = 0; i < uses; i++) {
        unsigned role = below(below(2) ? 2 : USE_ROLES);

        offset = next(offset);
        key = below(keys);
        pending_uses_add(&log, key * step, role, offset);
        expect_note(&expected[key], role, offset);
    }
    for (uint32_t i = 0; i < keys; i++)
        used += is_used(&expected[i]);
    pending_uses_finish(&log, expect_use, &heard);
    assert_int_equal(heard.count, used);
    pending_uses_clear(&log);
    assert_int_equal(memory.used, 0);
    free(expected);
}

static void gives_the_first_use_of_each_key_in_each_role(void **state)
{
    static uint64_t (*const orders[])(uint64_t) = {small_steps, large_steps, back_and_forth, anywhere_near};
    static const uint32_t uses[] = {1, 2, 3, 15, 16, 17, 64, 4095, 4096, 4097, 40000};

    (void)state;
    for (unsigned key_size = 4; key_size <= 8; key_size += 4)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
            for (size_t j = 0; j < sizeof uses / sizeof *uses; j++) {
                expect_as_model(key_size, uses[j], 7, orders[i]);
                expect_as_model(key_size, uses[j], 30000, orders[i]);
            }
}

static void an_empty_log_gives_nothing(void **state)
{
    struct pending_uses log;
    struct memory memory;
    struct heard heard = {0};

    (void)state;
    memory_init(&memory, NULL, 0);
    pending_uses_init(&log, &memory, 8);
    pending_uses_finish(&log, expect_use, &heard);
    assert_int_equal(heard.count, 0);
    assert_int_equal(memory.peak, 0);
}

/* Keys and offsets at the ends of their ranges. */
static void gives_keys_of_all_bits_at_any_offset(void **state)
{
    static const uint64_t offsets[] = {0, (UINT64_C(1) << 20) - 1, UINT64_C(1) << 20, UINT64_C(1) << 40};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof offsets / sizeof *offsets; i++) {
        unsigned key_size = i & 1 ? 8 : 4;
        uint64_t last = key_size == 8 ? UINT64_MAX : UINT32_MAX;
        struct expected *expected = never_used(2);
        struct heard heard = {expected, last, 0, 0};
        struct pending_uses log;
        struct memory memory;

        memory_init(&memory, NULL, 0);
        pending_uses_init(&log, &memory, key_size);
        pending_uses_add(&log, 0, 0, 0);
        pending_uses_add(&log, last, USE_ROLES - 1, offsets[i / 2]);
        expect_note(&expected[0], 0, 0);
        expect_note(&expected[1], USE_ROLES - 1, offsets[i / 2]);
        pending_uses_finish(&log, expect_use, &heard);
        assert_int_equal(heard.count, 2);
        pending_uses_clear(&log);
        free(expected);
    }
}

static void repeated_uses_take_nothing(void **state)
{
    struct expected *expected = never_used(2);
    struct heard heard = {expected, 9, 0, 0};
    struct pending_uses log;
    struct memory memory;

    (void)state;
    memory_init(&memory, NULL, 0);
    pending_uses_init(&log, &memory, 8);
    for (uint64_t i = 0; i < 1000000; i++)
        pending_uses_add(&log, 9, 3, 50 + i);
    assert_true(memory.used < 4096);
    expect_note(&expected[1], 3, 50);
    pending_uses_finish(&log, expect_use, &heard);
    assert_int_equal(heard.count, 1);
    pending_uses_clear(&log);
    free(expected);
}

static void what_is_discarded_was_not_used(void **state)
{
    enum { KEYS = 50 };

    (void)state;
    for (unsigned key_size = 4; key_size <= 8; key_size += 4) {
        struct expected *expected = never_used(KEYS);
        struct heard heard = {expected, 1, 0, 0};
        struct pending_uses log;
        struct memory memory;
        size_t used = 0;
        uint64_t offset = 31;

        memory_init(&memory, NULL, 0);
        pending_uses_init(&log, &memory, key_size);
        for (unsigned round = 0; round < 40; round++) {
            uint64_t left_out;

            for (uint32_t n = below(below(2) ? 10 : 9000); n; n--) {
                uint32_t key = below(KEYS);
                unsigned role = below(USE_ROLES);

                offset = small_steps(offset);
                pending_uses_add(&log, key, role, offset);
                expect_note(&expected[key], role, offset);
            }
            left_out = ++offset;
            for (uint32_t n = below(below(2) ? 10 : 9000); n; n--) {
                left_out = below(2) ? small_steps(left_out) : large_steps(left_out);
                pending_uses_add(&log, below(KEYS), below(USE_ROLES), left_out);
            }
            pending_uses_discard(&log, offset);
        }
        for (uint32_t i = 0; i < KEYS; i++)
            used += is_used(&expected[i]);
        pending_uses_finish(&log, expect_use, &heard);
        assert_int_equal(heard.count, used);
        pending_uses_discard(&log, 0);
        pending_uses_clear(&log);
        assert_int_equal(memory.used, 0);
        free(expected);
    }
}

static void finds_the_first_of_some_roles(void **state)
{
    struct expected *e = never_used(1);
    unsigned role = USE_ROLES;

    (void)state;
    assert_true(uses_first(e->first, 0, USE_ROLES - 1, &role) == NEVER_USED);
    assert_int_equal(role, USE_ROLES);
    e->first[2] = 30;
    e->first[4] = 20;
    e->first[7] = 10;
    assert_int_equal(uses_first(e->first, 0, 4, &role), 20);
    assert_int_equal(role, 4);
    assert_int_equal(uses_first(e->first, 2, 2, &role), 30);
    assert_int_equal(role, 2);
    assert_int_equal(uses_first(e->first, 0, USE_ROLES - 1, &role), 10);
    assert_int_equal(role, 7);
    free(e);
}

static void count_keys(void *context, uint64_t key, const uint64_t first[USE_ROLES])
{
    (void)key;
    (void)first;
    ++*(size_t *)context;
}

static uint64_t peak_of(unsigned key_size, uint32_t uses, uint64_t apart)
{
    struct pending_uses log;
    struct memory memory;
    size_t heard = 0;

    memory_init(&memory, NULL, 0);
    pending_uses_init(&log, &memory, key_size);
    for (uint32_t i = 0; i < uses; i++)
        pending_uses_add(&log, i * UINT32_C(0x9E3779B1), i % USE_ROLES, apart * i);
    pending_uses_finish(&log, count_keys, &heard);
    assert_int_equal(heard, uses);
    pending_uses_clear(&log);
    return memory.peak;
}

static void a_use_takes_its_key_and_three_bytes(void **state)
{
    enum { MANY = 1000000, SLACK = 3 * 65536 };

    (void)state;
    assert_true(peak_of(4, MANY, 9) <= UINT64_C(7) * MANY + SLACK);
    assert_true(peak_of(8, MANY, 9) <= UINT64_C(11) * MANY + SLACK);
    assert_true(peak_of(8, 10, 9) <= 2048);
    /* Few uses, far from each other, take almost nothing for what lies between them. */
    assert_true(peak_of(8, 1000, 1 << 20) <= 512 * 1000);
}

static void log_with(struct memory *memory)
{
    struct pending_uses log;
    size_t heard = 0;

    pending_uses_init(&log, memory, 8);
    for (uint32_t i = 0; i < 60000; i++)
        pending_uses_add(&log, i, 0, i);
    pending_uses_finish(&log, count_keys, &heard);
    assert_true(memory->exhausted || heard == 60000);
    pending_uses_clear(&log);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(log_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_first_use_of_each_key_in_each_role),
        cmocka_unit_test(an_empty_log_gives_nothing),
        cmocka_unit_test(gives_keys_of_all_bits_at_any_offset),
        cmocka_unit_test(repeated_uses_take_nothing),
        cmocka_unit_test(what_is_discarded_was_not_used),
        cmocka_unit_test(a_use_takes_its_key_and_three_bytes),
        cmocka_unit_test(finds_the_first_of_some_roles),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
