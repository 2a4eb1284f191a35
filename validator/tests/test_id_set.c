/* id_set.h: for IDs of any distribution, the set agrees with a plain table and takes less than twice the bytes of the
 * references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "each_allocation.h"
#include "state/id_set.h"

static const struct hash_key key = {0x1234567890abcdef, 0x9E3779B97F4A7C15};

/* ---- Where IDs lie ---------------------------------------------------------------------------------------------- */

static uint64_t aligned(uint32_t i)
{
    return 0x6c0000000 + UINT64_C(8) * i;
}

static uint64_t consecutive(uint32_t i)
{
    return i;
}

static uint64_t one_for_each_page(uint32_t i)
{
    return ((uint64_t)i << (PAGE_BITS + 3)) + i % 5;
}

static uint64_t some_for_each_page(uint32_t i)
{
    return ((uint64_t)(i / 40) << (PAGE_BITS + 3)) + i % 40 * 4096;
}

static uint64_t any_bits(uint32_t i)
{
    return (i + 1) * 0x9E3779B97F4A7C15;
}

static uint64_t down_from_all_bits(uint32_t i)
{
    return ~(uint64_t)i;
}

static uint64_t (*const distributions[])(uint32_t) = {aligned,  consecutive,       one_for_each_page, some_for_each_page,
                                                      any_bits, down_from_all_bits};
enum { DISTRIBUTIONS = sizeof distributions / sizeof *distributions };

static uint64_t id_at(unsigned distribution, unsigned id_size, uint32_t i)
{
    uint64_t id = distributions[distribution](i);

    return id_size == 8 ? id : (uint32_t)id;
}

/* ---- The plain table -------------------------------------------------------------------------------------------- */

enum { MODEL_SLOTS = 1 << 18, IDS = 50000, STEPS = 150000 };

struct model {
    struct {
        uint64_t id;
        unsigned flags; /* 0: free */
    } slots[MODEL_SLOTS];
};

static unsigned *model_at(struct model *m, uint64_t id)
{
    size_t i = id * 0x9E3779B97F4A7C15 >> 46;

    while (m->slots[i].flags && m->slots[i].id != id)
        i = (i + 1) % MODEL_SLOTS;
    m->slots[i].id = id;
    return &m->slots[i].flags;
}

struct swept {
    struct model *expected;
    size_t count;
};

static void expect_missing(void *context, uint64_t id, unsigned flags)
{
    struct swept *s = context;

    assert_int_equal(flags & ID_DEFINED, 0);
    assert_int_equal(*model_at(s->expected, id), flags);
    s->count++;
}

static void expect_sweep(const struct id_set *set, struct model *m)
{
    struct swept swept = {m, 0};
    size_t missing = 0;

    for (size_t i = 0; i < MODEL_SLOTS; i++)
        missing += m->slots[i].flags && !(m->slots[i].flags & ID_DEFINED);
    id_set_sweep(set, expect_missing, &swept);
    assert_int_equal(swept.count, missing);
}

static void expect_defined(const struct id_set *set, const struct model *m)
{
    const struct defined_ids found = id_set_defined(set);
    struct defined_ids expected = {.count = 0};

    for (unsigned i = 0; i < 8; i++) {
        expected.by_remainder[i].lowest = UINT64_MAX;
        expected.by_remainder[i].highest = 0;
    }
    for (size_t i = 0; i < MODEL_SLOTS; i++) {
        const uint64_t id = m->slots[i].id;
        uint64_t *lowest = &expected.by_remainder[id % 8].lowest, *highest = &expected.by_remainder[id % 8].highest;

        if (!(m->slots[i].flags & ID_DEFINED))
            continue;
        expected.count++;
        *lowest = *lowest < id ? *lowest : id;
        *highest = *highest > id ? *highest : id;
    }
    assert_int_equal(found.count, expected.count);
    for (unsigned i = 0; i < 8; i++) {
        assert_true(found.by_remainder[i].lowest == expected.by_remainder[i].lowest);
        assert_true(found.by_remainder[i].highest == expected.by_remainder[i].highest);
    }
}

static void step(struct id_set *set, struct recent_page near[2], uint64_t id, struct model *m)
{
    uint64_t k = id_to_key(id, set->id_size);
    unsigned *flags = model_at(m, id);

    switch (below(4)) {
    case 0:
        assert_int_equal(id_set_define(set, &near[0], k), *flags & ID_DEFINED);
        *flags |= ID_DEFINED;
        break;
    case 1:
        id_set_refer(set, &near[1], k, ID_ELEMENT);
        *flags |= ID_ELEMENT;
        break;
    default:
        id_set_refer(set, &near[1], k, ID_REFERENCED);
        *flags |= ID_REFERENCED;
    }
}

static void expect_as_model(struct id_set *set, unsigned distribution)
{
    struct model *m = calloc(1, sizeof *m);
    struct recent_page near[2] = {{.page = NO_PAGE}, {.page = NO_PAGE}};

    for (uint32_t i = 0; i < STEPS; i++)
        step(set, near, id_at(distribution, set->id_size, below(IDS)), m);
    for (uint32_t i = 0; i < 2 * IDS; i++) {
        uint64_t id = id_at(distribution, set->id_size, i);

        assert_int_equal(id_set_get(set, id), *model_at(m, id));
    }
    expect_sweep(set, m);
    expect_defined(set, m);
    free(m);
}

static void expect_as_model_and_clear(unsigned id_size, uint64_t allowance)
{
    for (unsigned d = 0; d < DISTRIBUTIONS; d++) {
        struct id_set *set = malloc(sizeof *set);
        struct memory memory;

        memory_init(&memory, NULL, 0);
        id_set_init(set, &memory, &key, id_size);
        id_set_allow(set, allowance);
        expect_as_model(set, d);
        id_set_clear(set);
        assert_int_equal(memory.used, 0);
        assert_int_equal(id_set_get(set, id_at(d, id_size, 1)), 0);
        expect_as_model(set, (d + 1) % DISTRIBUTIONS);
        id_set_clear(set);
        assert_int_equal(memory.used, 0);
        assert_false(memory.exhausted);
        free(set);
    }
}

static void is_a_set_of_8_byte_ids_without_allowance(void **state)
{
    (void)state;
    expect_as_model_and_clear(8, 0);
}

static void is_a_set_of_8_byte_ids_with_allowance(void **state)
{
    (void)state;
    expect_as_model_and_clear(8, UINT64_MAX / 2);
}

static void is_a_set_of_4_byte_ids_without_allowance(void **state)
{
    (void)state;
    expect_as_model_and_clear(4, 0);
}

static void is_a_set_of_4_byte_ids_with_allowance(void **state)
{
    (void)state;
    expect_as_model_and_clear(4, UINT64_MAX / 2);
}

static void ids_and_keys_are_each_others(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t id = throw_dice() >> below(64);

        assert_true(key_to_id(id_to_key(id, 8), 8) == id);
        assert_true(key_to_id(id_to_key((uint32_t)id, 4), 4) == (uint32_t)id);
        assert_true(id_to_key((uint32_t)id, 4) <= UINT32_MAX);
    }
}

static void an_empty_set_lacks_nothing(void **state)
{
    struct id_set *set = malloc(sizeof *set);
    struct memory memory;
    struct swept none = {0};

    (void)state;
    memory_init(&memory, NULL, 0);
    id_set_init(set, &memory, &key, 8);
    id_set_sweep(set, expect_missing, &none);
    assert_int_equal(id_set_get(set, 8), 0);
    assert_int_equal(memory.used, 0);
    free(set);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* Two in a page are the worst case: 15.5 bytes each. IDs of 4 bytes have 2^16 pages, which take at most 2 MB more than 7
 * bytes an ID. */
enum { MOST_OF_8 = 16, MOST_OF_4 = 7, BASE = 1 << 20, BASE_OF_4 = 2 << 20 };

static uint64_t peak_of(unsigned id_size, uint32_t count, uint32_t per_page)
{
    struct id_set *set = malloc(sizeof *set);
    struct recent_page near = {.page = NO_PAGE};
    struct memory memory;
    uint64_t peak;

    memory_init(&memory, NULL, 0);
    id_set_init(set, &memory, &key, id_size);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page = i / per_page, low = i % per_page * (PAGE_IDS / per_page);

        id_set_refer(set, &near, (uint64_t)page << PAGE_BITS | low, ID_REFERENCED);
    }
    peak = memory.peak;
    id_set_clear(set);
    free(set);
    return peak;
}

static void takes_less_than_twice_the_bytes_of_references(void **state)
{
    static const uint32_t per_page[] = {1,   2,   3,    4,    5,    7,    9,    12,   16,   24,   40,
                                        100, 500, 1000, 2500, 3000, 3219, 3220, 4096, 4097, 65536};

    (void)state;
    for (unsigned i = 0; i < sizeof per_page / sizeof *per_page; i++) {
        uint32_t most = per_page[i] < 16 ? per_page[i] << 16 : 1000000; /* 4-byte IDs have 2^16 pages */
        uint64_t large = peak_of(8, 1000000, per_page[i]), small = peak_of(4, most, per_page[i]);

        if (large > MOST_OF_8 * UINT64_C(1000000) + BASE || small > MOST_OF_4 * (uint64_t)most + BASE_OF_4)
            fail_msg("%u in a page: %.2f bytes for an ID of 8, %.2f for one of 4", per_page[i], (double)large / 1e6,
                     (double)small / most);
    }
}

static void the_allowance_is_not_exceeded(void **state)
{
    enum { ALLOWED = 1 << 20 };
    struct id_set *set = malloc(sizeof *set);
    struct recent_page near = {.page = NO_PAGE};
    struct memory memory;

    (void)state;
    memory_init(&memory, NULL, 0);
    id_set_init(set, &memory, &key, 8);
    id_set_allow(set, ALLOWED);
    for (uint32_t page = 0; page < 1000; page++)
        for (uint32_t low = 0; low < 100; low++)
            id_set_refer(set, &near, page << PAGE_BITS | low * 600, ID_REFERENCED);
    assert_in_range(set->pages.bitmap_bytes, ALLOWED - sizeof(struct id_bitmaps), ALLOWED);
    id_set_clear(set);
    free(set);
}

static void fill_with(struct memory *memory)
{
    struct id_set *set = malloc(sizeof *set);
    struct recent_page near = {.page = NO_PAGE};

    id_set_init(set, memory, &key, 8);
    id_set_allow(set, 1 << 17);
    for (uint32_t i = 0; i < 3000 && !memory->exhausted; i++)
        id_set_refer(set, &near, id_to_key(some_for_each_page(i), 8), ID_REFERENCED);
    for (uint32_t i = 0; i < 4000 && !memory->exhausted; i++)
        id_set_refer(set, &near, id_to_key(aligned(i * 15), 8), ID_REFERENCED);
    id_set_clear(set);
    free(set);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(fill_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_set_of_8_byte_ids_without_allowance),
        cmocka_unit_test(is_a_set_of_8_byte_ids_with_allowance),
        cmocka_unit_test(is_a_set_of_4_byte_ids_without_allowance),
        cmocka_unit_test(is_a_set_of_4_byte_ids_with_allowance),
        cmocka_unit_test(ids_and_keys_are_each_others),
        cmocka_unit_test(an_empty_set_lacks_nothing),
        cmocka_unit_test(takes_less_than_twice_the_bytes_of_references),
        cmocka_unit_test(the_allowance_is_not_exceeded),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
