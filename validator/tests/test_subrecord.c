/* subrecord.h: how long each sub-record is, and how many bytes it takes to know. The sizes here are added up by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/subrecord.h"

/* ---- Sub-records of a fixed size -------------------------------------------------------------------------------- */

static const struct fixed {
    uint8_t tag;
    enum version since;
    unsigned ids, others; /* the number of IDs, and the bytes of the other fields */
} fixed_ones[] = {
    {0xff, V101, 1, 0}, {0x01, V101, 2, 0}, {0x02, V101, 1, 8}, {0x03, V101, 1, 8}, {0x04, V101, 1, 4}, {0x05, V101, 1, 0},
    {0x06, V101, 1, 4}, {0x07, V101, 1, 0}, {0x08, V101, 1, 8}, {0x89, V103, 1, 0}, {0x8a, V103, 1, 0}, {0x8b, V103, 1, 0},
    {0x8c, V103, 1, 0}, {0x8d, V103, 1, 0}, {0x8e, V103, 1, 8}, {0x90, V103, 1, 0}, {0xc3, V103, 1, 9}, {0xfe, V103, 1, 4},
};

static const struct fixed *fixed_one(unsigned tag)
{
    for (size_t i = 0; i < sizeof fixed_ones / sizeof *fixed_ones; i++)
        if (fixed_ones[i].tag == tag)
            return &fixed_ones[i];
    return NULL;
}

static void the_tag_gives_fixed_sizes(void **state)
{
    (void)state;
    for (unsigned version = V101; version <= V103; version++)
        for (unsigned id_size = 4; id_size <= 8; id_size += 4)
            for (unsigned tag = 0; tag < 256; tag++) {
                const struct fixed *f = fixed_one(tag);
                uint8_t byte = (uint8_t)tag;
                struct measure m = {0};
                enum measured result = measure_subrecord(&byte, 1, id_size, (enum version)version, &m);

                if (tag >= 0x20 && tag <= 0x23) {
                    assert_int_equal(result, MEASURE_MORE);
                } else if (!f || version < f->since) {
                    assert_int_equal(result, MEASURE_TAG);
                } else {
                    assert_int_equal(result, MEASURED);
                    assert_int_equal(m.size, 1 + f->ids * id_size + f->others);
                }
            }
}

static void no_bytes_are_too_few(void **state)
{
    struct measure m = {0};

    (void)state;
    assert_int_equal(measure_subrecord((const uint8_t *)"", 0, 8, V102, &m), MEASURE_MORE);
}

/* ---- Those that say how long they are --------------------------------------------------------------------------- */

struct bytes {
    uint8_t at[512];
    size_t size;
};

static void put(struct bytes *b, unsigned n, uint64_t value)
{
    while (n--)
        b->at[b->size++] = (uint8_t)(value >> 8 * n);
}

/* In a block of exactly this size, so that sanitizers notice a read after its end. */
static enum measured measure_crossing(const struct bytes *b, size_t n, unsigned id_size, struct measure *m)
{
    uint8_t *copy = malloc(n);
    enum measured result;

    memcpy(copy, b->at, n);
    result = measure_subrecord(copy, n, id_size, V102, m);
    free(copy);
    return result;
}

/* `known` bytes are enough, fewer are not. */
static void expect_measured_from(const struct bytes *b, size_t known, unsigned id_size, uint64_t size)
{
    for (size_t n = 1; n <= b->size; n++) {
        struct measure m = {0};

        assert_int_equal(measure_crossing(b, n, id_size, &m), n < known ? MEASURE_MORE : MEASURED);
        assert_true(m.size == (n < known ? 0 : size));
    }
}

static void an_instance_is_measured_by_its_head(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        struct bytes b = {{0x21}, 1};

        put(&b, id_size, 8);
        put(&b, 4, 0);
        put(&b, id_size, 16);
        put(&b, 4, UINT32_MAX);
        put(&b, 8, 0);
        expect_measured_from(&b, 9 + 2 * id_size, id_size, 9 + 2 * id_size + UINT64_C(0xffffffff));
    }
}

static void an_object_array_is_measured_by_its_head(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        struct bytes b = {{0x22}, 1};

        put(&b, id_size, 8);
        put(&b, 4, 0);
        put(&b, 4, UINT32_MAX);
        put(&b, id_size, 16);
        put(&b, 8, 0);
        expect_measured_from(&b, 9 + 2 * id_size, id_size, 9 + 2 * id_size + UINT64_C(0xffffffff) * id_size);
    }
}

static const unsigned sizes[12] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8}; /* by type; an object takes the size of an ID */

static void a_primitive_array_is_measured_by_its_head(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4)
        for (unsigned type = 0; type < 256; type++) {
            struct bytes b = {{0x23}, 1};
            struct measure m = {0};

            put(&b, id_size, 8);
            put(&b, 4, 0);
            put(&b, 4, UINT32_MAX);
            put(&b, 1, type);
            put(&b, 3, 0);
            if (type >= 4 && type <= 11) {
                expect_measured_from(&b, 10 + id_size, id_size, 10 + id_size + UINT64_C(0xffffffff) * sizes[type]);
            } else {
                assert_int_equal(measure_crossing(&b, 9 + id_size, id_size, &m), MEASURE_MORE);
                assert_int_equal(measure_crossing(&b, 10 + id_size, id_size, &m), MEASURE_TYPE);
                assert_int_equal(m.bad_at, 9 + id_size);
            }
        }
}

/* ---- CLASS_DUMP ------------------------------------------------------------------------------------------------- */

static void put_class_head(struct bytes *b, unsigned id_size)
{
    put(b, 1, 0x20);
    put(b, id_size, 8);
    put(b, 4, 0);
    for (unsigned i = 0; i < 6; i++)
        put(b, id_size, 0);
    put(b, 4, 0);
}

static void put_value(struct bytes *b, unsigned type, unsigned id_size)
{
    put(b, 1, type);
    put(b, type == 2 ? id_size : sizes[type], 0);
}

static void a_class_is_measured_up_to_its_fields(void **state)
{
    static const uint8_t types[] = {2, 4, 5, 6, 7, 8, 9, 10, 11};

    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        struct bytes b = {{0}, 0};
        size_t known;

        put_class_head(&b, id_size);
        put(&b, 2, sizeof types);
        for (size_t i = 0; i < sizeof types; i++) {
            put(&b, 2, i);
            put_value(&b, types[i], id_size);
        }
        put(&b, 2, sizeof types);
        for (size_t i = 0; i < sizeof types; i++) {
            put(&b, id_size, 77);
            put_value(&b, types[i], id_size);
        }
        put(&b, 2, 3);
        known = b.size;
        put(&b, id_size, 77);
        put(&b, 1, 2);
        expect_measured_from(&b, known, id_size, known + 3 * (id_size + 1));
    }
}

static void a_constant_of_undefined_type_cannot_be_measured(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        struct bytes b = {{0}, 0};
        struct measure m = {0};
        size_t at;

        put_class_head(&b, 8);
        put(&b, 2, 2);
        put(&b, 2, 0);
        put_value(&b, 4, 8);
        put(&b, 2, 0);
        at = b.size;
        put(&b, 1, type);
        if (type == 2 || (type >= 4 && type <= 11)) {
            assert_int_equal(measure_crossing(&b, b.size, 8, &m), MEASURE_MORE);
        } else {
            assert_int_equal(measure_crossing(&b, b.size - 1, 8, &m), MEASURE_MORE);
            assert_int_equal(measure_crossing(&b, b.size, 8, &m), MEASURE_TYPE);
            assert_true(m.in_constant_pool);
            assert_int_equal(m.bad_at, at);
        }
    }
}

static void a_static_field_of_undefined_type_cannot_be_measured(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        struct bytes b = {{0}, 0};
        struct measure m = {0};
        size_t at;

        put_class_head(&b, 4);
        put(&b, 2, 0);
        put(&b, 2, 1);
        put(&b, 4, 77);
        at = b.size;
        put(&b, 1, type);
        if (type == 2 || (type >= 4 && type <= 11)) {
            assert_int_equal(measure_crossing(&b, b.size, 4, &m), MEASURE_MORE);
        } else {
            assert_int_equal(measure_crossing(&b, b.size, 4, &m), MEASURE_TYPE);
            assert_false(m.in_constant_pool);
            assert_int_equal(m.bad_at, at);
        }
    }
}

/* ---- Whether bytes may be sub-records --------------------------------------------------------------------------- */

static void what_fits_is_plausible(void **state)
{
    struct bytes b = {{0}, 0};

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        put(&b, 1, 0x05);
        put(&b, 8, 8);
    }
    for (unsigned n = 1; n <= 20; n++)
        assert_true(plausible_subrecords(b.at, 9 * n, 9 * n, 8, V102));
    assert_true(plausible_subrecords(b.at, 0, 0, 8, V102));
}

static void what_the_available_bytes_truncate_is_plausible(void **state)
{
    struct bytes b = {{0x21}, 1};

    (void)state;
    put(&b, 8, 8);
    assert_true(plausible_subrecords(b.at, b.size, 1000, 8, V102));
    assert_true(plausible_subrecords(b.at, 0, 1000, 8, V102));
    b.at[0] = 0x05;
    assert_true(plausible_subrecords(b.at, 3, 9, 8, V102));
}

static void what_does_not_fit_is_not_plausible(void **state)
{
    struct bytes b = {{0x05}, 1};

    (void)state;
    put(&b, 8, 8);
    put(&b, 1, 0x05);
    put(&b, 7, 8);
    assert_false(plausible_subrecords(b.at, b.size, b.size, 8, V102));          /* the second crosses the end */
    assert_false(plausible_subrecords(b.at, 9, 8, 8, V102));                    /* the first too */
    assert_false(plausible_subrecords((const uint8_t *)"\x10", 1, 9, 8, V102)); /* an undefined tag */
    assert_false(plausible_subrecords((const uint8_t *)"\x89", 1, 9, 8, V102)); /* not of this version */
    assert_true(plausible_subrecords((const uint8_t *)"\x89", 1, 9, 8, V103));
    assert_false(plausible_subrecords((const uint8_t *)"\x21\0\0", 3, 3, 8, V102)); /* no room for its head */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tag_gives_fixed_sizes),
        cmocka_unit_test(no_bytes_are_too_few),
        cmocka_unit_test(an_instance_is_measured_by_its_head),
        cmocka_unit_test(an_object_array_is_measured_by_its_head),
        cmocka_unit_test(a_primitive_array_is_measured_by_its_head),
        cmocka_unit_test(a_class_is_measured_up_to_its_fields),
        cmocka_unit_test(a_constant_of_undefined_type_cannot_be_measured),
        cmocka_unit_test(a_static_field_of_undefined_type_cannot_be_measured),
        cmocka_unit_test(what_fits_is_plausible),
        cmocka_unit_test(what_the_available_bytes_truncate_is_plausible),
        cmocka_unit_test(what_does_not_fit_is_not_plausible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
