/* heap_index.h: finds the record that contains an offset, as a list of all records does, in a few bytes a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dice.h"
#include "each_allocation.h"
#include "state/heap_index.h"

enum { MANY = 20000 };

static struct record {
    uint64_t at, number;
    bool is_segment;
} records[MANY];

/* Records of any size, mostly small, of one tag or both. */
static void add_records(struct heap_index *index, bool mixed)
{
    uint64_t at = 31, numbers[2] = {0};

    for (size_t i = 0; i < MANY; i++) {
        bool is_segment = !mixed || below(3);

        records[i] = (struct record){at, ++numbers[is_segment], is_segment};
        heap_index_add(index, at, is_segment);
        at += 9 + (below(100) ? below(100) : throw_dice() >> 34);
    }
}

static void expect_record(const struct heap_index *index, uint64_t offset, const struct record *record)
{
    bool is_segment = false;

    assert_int_equal(heap_index_find(index, offset, &is_segment), record->number);
    assert_int_equal(is_segment, record->is_segment);
}

static void finds_the_record_around_an_offset(void **state)
{
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        struct memory memory;
        struct heap_index index;
        bool is_segment;

        memory_init(&memory, NULL, 0);
        heap_index_init(&index, &memory);
        assert_int_equal(heap_index_find(&index, 0, &is_segment), 0);
        add_records(&index, mixed);
        assert_in_range(memory.used, MANY, 4 * MANY + (64 << 10));
        assert_int_equal(heap_index_find(&index, 39, &is_segment), 0);
        for (size_t i = 0; i < MANY; i++) {
            expect_record(&index, records[i].at + 9, &records[i]);
            expect_record(&index, i + 1 < MANY ? records[i + 1].at + 8 : UINT64_MAX, &records[i]);
        }
        heap_index_clear(&index);
        assert_int_equal(memory.used, 0);
    }
}

static void use_index(struct memory *memory)
{
    struct heap_index index;
    bool is_segment;

    heap_index_init(&index, memory);
    add_records(&index, true);
    heap_index_find(&index, UINT64_MAX, &is_segment);
    heap_index_clear(&index);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(use_index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_record_around_an_offset),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
