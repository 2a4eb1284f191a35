/* id_page.h: a page agrees with a plain table of flags, whatever its form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "state/id_page.h"

static void expect_missing(void *context, uint32_t low, unsigned flags)
{
    uint8_t *left = context;

    assert_int_equal(flags, left[low]);
    left[low] = 0; /* each once */
}

static void expect_defined(uint64_t page, const uint8_t *flags)
{
    uint32_t lowest = 0, highest = PAGE_IDS, count = 0, found_lowest, found_highest;

    while (lowest < PAGE_IDS && !(flags[lowest] & ID_DEFINED))
        lowest++;
    while (highest && !(flags[highest - 1] & ID_DEFINED))
        highest--;
    for (uint32_t low = 0; low < PAGE_IDS; low++)
        count += (flags[low] & ID_DEFINED) != 0;
    assert_int_equal(page_defined(page, &found_lowest, &found_highest), count);
    if (highest) {
        assert_int_equal(found_lowest, lowest);
        assert_int_equal(found_highest, highest - 1);
    }
}

static void expect_flags(const struct page_store *store, uint64_t page, const uint8_t *flags)
{
    uint8_t *left = malloc(PAGE_IDS);

    for (uint32_t low = 0; low < PAGE_IDS; low++) {
        assert_int_equal(page_get(store, page, low), flags[low]);
        left[low] = flags[low] & ID_DEFINED ? 0 : flags[low];
    }
    page_sweep(page, expect_missing, left);
    for (uint32_t low = 0; low < PAGE_IDS; low++)
        assert_int_equal(left[low], 0);
    expect_defined(page, flags);
    free(left);
}

/* A page that gets `count` IDs, all flags of some of them, in any order. */
static void fill(struct page_store *store, uint32_t count)
{
    uint8_t *flags = calloc(1, PAGE_IDS);
    uint32_t first = below(PAGE_IDS), step = below(PAGE_IDS) | 1; /* odd: so all IDs are different */
    const enum id_set_flag of_first = heads() ? ID_DEFINED : ID_REFERENCED;
    uint64_t page = page_of_entry((uint32_t)of_first << PAGE_BITS | first);

    flags[first] = (uint8_t)of_first;
    for (uint32_t n = 0; n < 3 * count; n++) {
        uint32_t low = (first + step * (n < count ? n : below(count))) & (PAGE_IDS - 1);
        enum id_set_flag flag = 1U << below(3);

        assert_int_equal(page_set(store, &page, low, flag), (flags[low] & flag) != 0);
        flags[low] |= (uint8_t)flag;
    }
    expect_flags(store, page, flags);
    page_clear(store, page);
    free(flags);
}

static void is_a_table_of_flags(void **state)
{
    static const uint32_t counts[] = {1,    2,    3,    4,    5,    6,    8,    11,   12,   15,   20,   27,   36,
                                      48,   63,   64,   65,   86,   115,  154,  206,  275,  367,  490,  654,  872,
                                      1163, 1551, 2068, 2758, 3219, 3220, 3678, 4095, 4096, 4097, 4904, 9000, PAGE_IDS};

    (void)state;
    for (unsigned allowed = 0; allowed < 2; allowed++) {
        struct page_store store;
        struct memory memory;

        memory_init(&memory, NULL, 0);
        page_store_init(&store, &memory, 0x9E3779B9);
        store.allowance = allowed ? UINT64_MAX / 2 : 0;
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
            if (counts[i] <= PAGE_IDS)
                fill(&store, counts[i]);
        page_store_clear(&store);
        assert_int_equal(memory.used, 0);
    }
}

enum { EARLY = USUAL_OR_SMALL(64, 8) };

/* Without an allowance, bitmaps come when a table would be as large. */
static void few_ids_have_no_bitmaps(void **state)
{
    (void)state;
    for (unsigned allowed = 0; allowed < 2; allowed++) {
        struct page_store store;
        struct memory memory;
        uint64_t page = page_of_entry((uint32_t)ID_DEFINED << PAGE_BITS);
        uint32_t n = 1;

        memory_init(&memory, NULL, 0);
        page_store_init(&store, &memory, 0x9E3779B9);
        store.allowance = allowed ? sizeof(struct id_bitmaps) : sizeof(struct id_bitmaps) - 1;
        while (!page_bitmaps(page) && n < PAGE_IDS)
            page_set(&store, &page, n++, ID_REFERENCED);
        assert_in_range(n, allowed ? EARLY : PAGE_IDS / 24, allowed ? 2 * EARLY : PAGE_IDS / 12);
        assert_true(memory.used <= 2 * sizeof(struct id_bitmaps) + (64 << 10));
        page_clear(&store, page);
        page_store_clear(&store);
        assert_int_equal(memory.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_table_of_flags),
        cmocka_unit_test(few_ids_have_no_bitmaps),
    };

    shake_dice();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
