/* hash.h: a hash depends only on the bytes, their number and the key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "dice.h"

static const struct hash_key key = {0x1234567890abcdef, 0x9E3779B97F4A7C15};

static uint64_t hash_whole(const struct hash_key *k, const void *bytes, size_t n)
{
    struct byte_hash h;

    byte_hash_begin(&h, k);
    byte_hash_add(&h, k, bytes, n);
    return byte_hash_end(&h, k);
}

static uint64_t hash_in_pieces(const uint8_t *bytes, size_t n)
{
    struct byte_hash h;
    size_t piece;

    byte_hash_begin(&h, &key);
    for (; n > 0; bytes += piece, n -= piece) {
        piece = 8 * (size_t)below(6);
        if (piece > n)
            piece = n;
        byte_hash_add(&h, &key, bytes, piece);
    }
    return byte_hash_end(&h, &key);
}

static void pieces_of_whole_words_make_no_difference(void **state)
{
    uint8_t bytes[200];

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        size_t n = below(sizeof bytes + 1);

        for (size_t j = 0; j < n; j++)
            bytes[j] = (uint8_t)below(256);
        assert_true(hash_in_pieces(bytes, n) == hash_whole(&key, bytes, n));
    }
}

static void alignment_makes_no_difference(void **state)
{
    uint8_t bytes[64 + 8];

    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        for (size_t i = 0; i < 61; i++)
            bytes[shift + i] = (uint8_t)(i * 7);
        assert_true(hash_whole(&key, bytes + shift, 61) == hash_whole(&key, memmove(bytes, bytes + shift, 61), 61));
    }
}

static void every_bit_and_the_length_count(void **state)
{
    uint8_t bytes[40] = {0};
    uint64_t zeros = hash_whole(&key, bytes, sizeof bytes);

    (void)state;
    for (size_t i = 0; i < 8 * sizeof bytes; i++) {
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_true(hash_whole(&key, bytes, sizeof bytes) != zeros);
        bytes[i / 8] = 0;
    }
    for (size_t n = 0; n < sizeof bytes; n++)
        for (size_t m = 0; m < n; m++)
            assert_true(hash_whole(&key, bytes, n) != hash_whole(&key, bytes, m));
}

static void the_order_of_words_counts(void **state)
{
    (void)state;
    assert_true(hash_whole(&key, "abcdefghABCDEFGH", 16) != hash_whole(&key, "ABCDEFGHabcdefgh", 16));
}

static void every_machine_hashes_alike(void **state)
{
    static const uint64_t ends[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX - UINT32_MAX, UINT64_MAX};
    enum { ENDS = sizeof ends / sizeof *ends };

    (void)state;
    for (size_t i = 0; i < ENDS * ENDS; i++)
        assert_true(hash_fold_by_halves(ends[i / ENDS], ends[i % ENDS]) == hash_fold(ends[i / ENDS], ends[i % ENDS]));
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t a = throw_dice(), b = throw_dice();

        assert_true(hash_fold_by_halves(a, b) == hash_fold(a, b));
    }
    assert_true(hash_fold_by_halves(UINT64_MAX, UINT64_MAX) == UINT64_MAX); /* 2^128 - 2^65 + 1 */
}

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void no_two_numbers_have_one_hash(void **state)
{
    enum { MANY = 300000 };
    uint64_t *hashes = malloc(MANY * sizeof *hashes);

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        hashes[i] = hash_u64(&key, i % 3 == 0 ? i : i % 3 == 1 ? UINT64_C(8) * i + 0x7f0000000000 : (uint64_t)i << 36);
    qsort(hashes, MANY, sizeof *hashes, by_value);
    for (uint32_t i = 1; i < MANY; i++)
        assert_true(hashes[i] != hashes[i - 1]);
    free(hashes);
}

static void parts_of_a_table_fill_alike(void **state)
{
    enum { PARTS = 16, MANY = 160000 };
    unsigned count[PARTS] = {0};

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        count[hash_u64(&key, 8 * (uint64_t)i) >> 60]++;
    for (unsigned i = 0; i < PARTS; i++)
        assert_in_range(count[i], MANY / PARTS * 9 / 10, MANY / PARTS * 11 / 10);
}

static void each_run_draws_its_own_key(void **state)
{
    struct hash_key a = hash_key_draw(), b = hash_key_draw();

    (void)state;
    assert_int_equal(a.multiply & 1, 1);
    assert_int_equal(b.multiply & 1, 1);
    assert_true(a.add != b.add || a.multiply != b.multiply);
    assert_true(hash_u64(&a, 1) != hash_u64(&b, 1));
    assert_true(hash_whole(&a, "text", 4) != hash_whole(&b, "text", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_whole_words_make_no_difference),
        cmocka_unit_test(alignment_makes_no_difference),
        cmocka_unit_test(every_bit_and_the_length_count),
        cmocka_unit_test(the_order_of_words_counts),
        cmocka_unit_test(every_machine_hashes_alike),
        cmocka_unit_test(no_two_numbers_have_one_hash),
        cmocka_unit_test(parts_of_a_table_fill_alike),
        cmocka_unit_test(each_run_draws_its_own_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
