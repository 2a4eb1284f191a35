/* id_directory.h: each page has a place of its own, and is found there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "state/id_directory.h"

enum { PAGES = 100000 };

static uint64_t number_of(uint32_t i)
{
    return i % 2 ? i : i * UINT64_C(0x9E3779B97F4A7C15) & PAGE_NUMBER_MASK;
}

static struct hash_key draw_key(void)
{
    return (struct hash_key){throw_dice(), throw_dice() | 1};
}

static void places_lead_back(void **state)
{
    (void)state;
    for (unsigned keys = 0; keys < 20; keys++) {
        struct hash_key key = draw_key();
        struct id_directory d;

        directory_init(&d, NULL, &key);
        for (uint32_t i = 0; i < 10000; i++) {
            uint64_t number = throw_dice() >> below(64) & PAGE_NUMBER_MASK, place = page_place(&d, number);

            assert_true(page_number(&d, place) == number);
            assert_true(group_of_place(place) < PAGE_GROUPS);
        }
    }
}

struct visits {
    const uint8_t *ids; /* of each page: 0, 1 or 2 */
    uint8_t *seen;
    const struct page_store *store;
    size_t count;
};

static void visit(void *context, uint64_t number, uint64_t page)
{
    struct visits *v = context;
    uint32_t i = (uint32_t)(number < PAGES && number % 2 ? number : 0);

    v->count++;
    if (!i)
        return; /* the others are counted only */
    assert_int_equal(v->seen[i]++, 0);
    assert_int_equal(page_get(v->store, page, 7), v->ids[i] ? ID_DEFINED : 0);
    assert_int_equal(page_get(v->store, page, 8), v->ids[i] == 2 ? ID_ELEMENT : 0);
}

static void set(struct id_directory *d, struct page_store *store, uint64_t number, uint32_t low, enum id_set_flag flag)
{
    bool was_set;
    uint64_t *page = directory_set(d, page_place(d, number), low, flag, &was_set);

    if (page)
        was_set = page_set(store, page, low, flag);
    assert_false(was_set);
}

/* Pages with no, one or two IDs. */
static void each_page_is_found(void **state)
{
    uint8_t *ids = calloc(1, PAGES), *seen = calloc(1, PAGES);
    struct hash_key key = draw_key();
    struct id_directory d;
    struct page_store store;
    struct memory memory;
    struct visits visits = {ids, seen, &store, 0};
    size_t pages = 0;
    bool was_set;

    (void)state;
    memory_init(&memory, NULL, 0);
    directory_init(&d, &memory, &key);
    page_store_init(&store, &memory, 1);
    assert_true(directory_get(&d, page_place(&d, 1)) == 0);
    for (uint32_t i = 1; i < PAGES; i++) {
        ids[i] = (uint8_t)below(3);
        pages += ids[i] > 0;
        if (ids[i] > 0)
            set(&d, &store, number_of(i), 7, ID_DEFINED);
        if (ids[i] > 1)
            set(&d, &store, number_of(i), 8, ID_ELEMENT);
    }
    for (uint32_t i = 1; i < PAGES; i++) {
        uint64_t page = directory_get(&d, page_place(&d, number_of(i)));

        assert_int_equal(page != 0, ids[i] > 0);
        assert_int_equal(page ? page_get(&store, page, 7) : 0, ids[i] ? ID_DEFINED : 0);
        assert_int_equal(page ? page_get(&store, page, 8) : 0, ids[i] == 2 ? ID_ELEMENT : 0);
        if (ids[i] == 1) {
            assert_null(directory_set(&d, page_place(&d, number_of(i)), 7, ID_DEFINED, &was_set));
            assert_true(was_set);
        }
    }
    directory_each(&d, visit, &visits);
    assert_int_equal(visits.count, pages);
    for (uint32_t i = 1; i < PAGES; i += 2)
        assert_int_equal(seen[i], ids[i] > 0);
    directory_clear(&d, &store);
    page_store_clear(&store);
    assert_int_equal(memory.used, 0);
    free(ids);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_lead_back),
        cmocka_unit_test(each_page_is_found),
    };

    shake_dice();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
