/* chunks.h, arena.h, byte_log.h: containers that grow in blocks never move their contents, keep what was written, and
 * release all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/byte_log.h"
#include "base/chunks.h"
#include "dice.h"
#include "each_allocation.h"

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

static void elements_stay_where_they_are(void **state)
{
    enum { MANY = 100000 };
    static const size_t sizes[] = {4, 24, 64, 1000};
    uint32_t **elements = malloc(MANY * sizeof *elements);

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct memory memory;
        struct chunks c;

        memory_init(&memory, NULL, 0);
        chunks_init(&c, &memory, sizes[s]);
        for (uint32_t i = 0; i < MANY; i++) {
            elements[i] = chunks_add(&c);
            memset(elements[i], 0xff, sizes[s]);
            *elements[i] = i;
        }
        assert_int_equal(c.count, MANY);
        for (uint32_t i = 0; i < MANY; i++) {
            assert_ptr_equal(chunks_at(&c, i), elements[i]);
            assert_int_equal(*elements[i], i);
        }
        assert_true(memory.peak <= MANY * sizes[s] * 66 / 64 + (1 << 17));
        chunks_clear(&c);
        assert_int_equal(memory.used, 0);
    }
    free(elements);
}

static void a_short_list_takes_little(void **state)
{
    struct memory memory;
    struct chunks c;

    (void)state;
    memory_init(&memory, NULL, 0);
    chunks_init(&c, &memory, 16);
    for (uint32_t i = 0; i < 64; i++)
        *(uint32_t *)chunks_add(&c) = i;
    assert_true(memory.peak <= 1200);
    chunks_clear(&c);
    assert_int_equal(memory.used, 0);
}

static void a_list_that_shrank_grows_in_the_memory_it_has(void **state)
{
    struct memory memory;
    struct chunks c;
    uint64_t used;

    (void)state;
    memory_init(&memory, NULL, 0);
    chunks_init(&c, &memory, sizeof(uint32_t));
    for (uint32_t i = 0; i < 50000; i++)
        *(uint32_t *)chunks_add(&c) = i;
    used = memory.used;
    chunks_shrink(&c, 20000);
    assert_int_equal(c.count, 20000);
    for (uint32_t i = 20000; i < 50000; i++)
        *(uint32_t *)chunks_add(&c) = i + 7;
    assert_int_equal(memory.used, used);
    assert_int_equal(*(uint32_t *)chunks_at(&c, 19999), 19999);
    assert_int_equal(*(uint32_t *)chunks_at(&c, 20000), 20007);
    assert_int_equal(*(uint32_t *)chunks_at(&c, 49999), 50006);
    chunks_clear(&c);
    assert_int_equal(memory.used, 0);
}

static void a_cleared_list_can_be_used_again(void **state)
{
    struct memory memory;
    struct chunks c;

    (void)state;
    memory_init(&memory, NULL, 0);
    chunks_init(&c, &memory, 8);
    assert_non_null(chunks_add(&c));
    chunks_clear(&c);
    assert_int_equal(c.count, 0);
    *(uint64_t *)chunks_add(&c) = 5;
    assert_int_equal(*(uint64_t *)chunks_at(&c, 0), 5);
    chunks_clear(&c);
    assert_int_equal(memory.used, 0);
}

/* ---- arena ------------------------------------------------------------------------------------------------------ */

static void pieces_do_not_overlap(void **state)
{
    enum { PIECES = 3000 };
    struct memory memory;
    struct arena a;
    uint8_t *pieces[PIECES];
    size_t sizes[PIECES];

    (void)state;
    memory_init(&memory, NULL, 0);
    arena_init(&a, &memory);
    for (unsigned i = 0; i < PIECES; i++) {
        sizes[i] = below(50) ? below(200) : below(100000);
        pieces[i] = arena_get(&a, sizes[i]);
        assert_int_equal((uintptr_t)pieces[i] % 8, 0);
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    for (unsigned i = 0; i < PIECES; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], i % 251);
    arena_clear(&a);
    assert_int_equal(memory.used, 0);
}

static void large_pieces_waste_no_block(void **state)
{
    struct memory memory;
    struct arena a;
    uint64_t used;

    (void)state;
    memory_init(&memory, NULL, 0);
    arena_init(&a, &memory);
    assert_non_null(arena_get(&a, 100));
    used = memory.used;
    for (unsigned i = 1; i <= 100; i++) {
        assert_non_null(arena_get(&a, 300000));
        assert_non_null(arena_get(&a, 8));
        assert_in_range(memory.used, used + i * 300000, used + i * 300100);
    }
    arena_clear(&a);
    assert_int_equal(memory.used, 0);
}

static void the_first_piece_may_be_large(void **state)
{
    struct memory memory;
    struct arena a;

    (void)state;
    memory_init(&memory, NULL, 0);
    arena_init(&a, &memory);
    memset(arena_get(&a, 1 << 20), 1, 1 << 20);
    memset(arena_get(&a, 100), 1, 100);
    arena_clear(&a);
    assert_int_equal(memory.used, 0);
    memset(arena_get(&a, 100), 1, 100);
    arena_clear(&a);
    assert_int_equal(memory.used, 0);
}

static void no_piece_is_as_large_as_all_memory(void **state)
{
    struct memory memory;
    struct arena a;

    (void)state;
    memory_init(&memory, NULL, 0);
    arena_init(&a, &memory);
    assert_null(arena_get(&a, SIZE_MAX));
    assert_true(memory.exhausted);
    memory.exhausted = false;
    assert_null(arena_get(&a, SIZE_MAX - 16));
    assert_true(memory.exhausted);
    arena_clear(&a);
}

/* ---- byte_log ---------------------------------------------------------------------------------------------------- */

static void bytes_are_read_as_they_were_written(void **state)
{
    enum { SIZE = 1 << 20 };
    uint8_t *bytes = malloc(SIZE), *read = malloc(SIZE);
    struct memory memory;
    struct byte_log log;

    (void)state;
    memory_init(&memory, NULL, 0);
    byte_log_init(&log, &memory);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)below(256);
    for (size_t at = 0, n; at < SIZE; at += n) {
        n = below(10) ? below(100) : below(200000);
        if (n > SIZE - at)
            n = SIZE - at;
        assert_true(byte_log_append(&log, bytes + at, n));
    }
    assert_int_equal(log.size, SIZE);
    byte_log_read(&log, 0, read, SIZE);
    assert_memory_equal(read, bytes, SIZE);
    for (unsigned i = 0; i < 2000; i++) {
        size_t at = below(SIZE), n = below(i & 1 ? 100 : 200000);

        if (n > SIZE - at)
            n = SIZE - at;
        byte_log_read(&log, at, read, n);
        assert_memory_equal(read, bytes + at, n);
    }
    byte_log_clear(&log);
    assert_int_equal(memory.used, 0);
    free(bytes);
    free(read);
}

static void what_was_read_can_be_discarded(void **state)
{
    enum { BLOCKS = 9 };
    static uint8_t bytes[LOG_BLOCK];
    struct memory memory;
    struct byte_log log;

    (void)state;
    memory_init(&memory, NULL, 0);
    byte_log_init(&log, &memory);
    for (uint8_t i = 0; i < BLOCKS; i++) {
        bytes[LOG_BLOCK - 1] = i;
        assert_true(byte_log_append(&log, bytes, sizeof bytes));
    }
    for (uint64_t at = 0; at < log.size; at += 10000) {
        uint64_t used = memory.used, whole = at / LOG_BLOCK;

        byte_log_discard(&log, at);
        assert_int_equal(log.discarded, whole);
        assert_true(memory.used <= used && memory.used >= log.size - whole * LOG_BLOCK);
        assert_int_equal(byte_log_byte(&log, (whole + 1) * LOG_BLOCK - 1), whole);
    }
    byte_log_clear(&log);
    assert_int_equal(memory.used, 0);
}

static void a_short_log_takes_little(void **state)
{
    struct memory memory;
    struct byte_log log;

    (void)state;
    memory_init(&memory, NULL, 0);
    byte_log_init(&log, &memory);
    for (uint64_t size = 1; size < 100000; size++) {
        assert_true(byte_log_append(&log, &(uint8_t){(uint8_t)(size % 251)}, 1));
        assert_true(memory.used <= 4 * size + 512);
    }
    for (uint64_t at = 0; at < log.size; at++)
        assert_int_equal(byte_log_byte(&log, at), (at + 1) % 251);
    byte_log_clear(&log);
    assert_int_equal(memory.used, 0);
}

static uint64_t number_at(unsigned i)
{
    return i < 130 ? (UINT64_C(1) << i / 2 % 64) - i % 2 : i < 140 ? UINT64_MAX - i : i;
}

static void numbers_are_read_as_they_were_written(void **state)
{
    enum { MANY = 100000 };
    struct memory memory;
    struct byte_log log;
    uint64_t at = 0;

    (void)state;
    memory_init(&memory, NULL, 0);
    byte_log_init(&log, &memory);
    for (unsigned i = 0; i < MANY; i++)
        assert_true(byte_log_append_number(&log, number_at(i)));
    for (unsigned i = 0; i < MANY; i++)
        assert_true(byte_log_read_number(&log, &at) == number_at(i));
    assert_int_equal(at, log.size);
    byte_log_clear(&log);
}

static void small_numbers_take_one_byte(void **state)
{
    struct memory memory;
    struct byte_log log;

    (void)state;
    memory_init(&memory, NULL, 0);
    byte_log_init(&log, &memory);
    assert_true(byte_log_append_number(&log, 127));
    assert_int_equal(log.size, 1);
    assert_true(byte_log_append_number(&log, 128));
    assert_int_equal(log.size, 3);
    assert_true(byte_log_append_number(&log, UINT64_MAX));
    assert_int_equal(log.size, 13);
    byte_log_clear(&log);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static bool fill_all(struct memory *memory)
{
    static const uint8_t bytes[100000];
    struct chunks c;
    struct arena a;
    struct byte_log log;
    bool all = true;

    chunks_init(&c, memory, 8);
    arena_init(&a, memory);
    byte_log_init(&log, memory);
    for (unsigned i = 0; i < 40000 && all; i++)
        all = chunks_add(&c) != NULL;
    for (unsigned i = 0; i < 10 && all; i++)
        all = arena_get(&a, 30000) && arena_get(&a, 9000);
    for (unsigned i = 0; i < 9 && all; i++)
        all = byte_log_append(&log, bytes, sizeof bytes) && byte_log_append_number(&log, i);
    chunks_clear(&c);
    arena_clear(&a);
    byte_log_clear(&log);
    return all;
}

static void use_all(struct memory *memory)
{
    bool all;

    all = fill_all(memory);
    assert_int_equal(all, !memory->exhausted);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(use_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stay_where_they_are),
        cmocka_unit_test(a_short_list_takes_little),
        cmocka_unit_test(a_list_that_shrank_grows_in_the_memory_it_has),
        cmocka_unit_test(a_cleared_list_can_be_used_again),
        cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(large_pieces_waste_no_block),
        cmocka_unit_test(the_first_piece_may_be_large),
        cmocka_unit_test(no_piece_is_as_large_as_all_memory),
        cmocka_unit_test(bytes_are_read_as_they_were_written),
        cmocka_unit_test(what_was_read_can_be_discarded),
        cmocka_unit_test(a_short_log_takes_little),
        cmocka_unit_test(numbers_are_read_as_they_were_written),
        cmocka_unit_test(small_numbers_take_one_byte),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
