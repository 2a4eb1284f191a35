/* stretches.h, reread/find_offsets.c: the second look finds offsets anywhere in the dump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "dump.h"
#include "forms.h"
#include "hprof/hprof.h"
#include "state/stretches.h"

/* ---- Stretches -------------------------------------------------------------------------------------------------- */

enum { MANY = 3000, STRETCHES = 100 };

static void filters_meet_where_a_page_is_in_both(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct page_filter a = {{0}}, b = {{0}}, none = {{0}};
        uint64_t page = throw_dice();

        for (unsigned j = below(20); j; j--)
            page_filter_add(&a, throw_dice());
        page_filter_add(&a, page);
        page_filter_add(&b, page);
        assert_true(page_filters_meet(&a, &b));
        assert_false(page_filters_meet(&a, &none));
    }
}

/* Nearly all pairs of small sets must not meet, or the filter would be useless. */
static void filters_of_other_pages_seldom_meet(void **state)
{
    unsigned met = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct page_filter a = {{0}}, b = {{0}};

        for (unsigned j = 0; j < 10; j++)
            page_filter_add(&a, throw_dice());
        page_filter_add(&b, throw_dice());
        met += page_filters_meet(&a, &b);
    }
    assert_in_range(met, 0, 50);
}

/* ---- The second look -------------------------------------------------------------------------------------------- */

enum { OBJECT = 0x800, OBJECTS = 0x900, NAME = 1, ARRAY_NAME = 2, PLAIN = 0x100000 };

static void put_array(struct bytes *b, uint64_t id, uint32_t elements, uint64_t element)
{
    put_object_array(b, id, OBJECTS, elements);
    for (uint32_t i = 0; i < elements; i++)
        put(b, 8, element);
}

static void put_classes(struct bytes *b)
{
    put_header(b);
    put_string(b, NAME, "java/lang/Object");
    put_string(b, ARRAY_NAME, "[Ljava/lang/Object;");
    put_class(b, 1, OBJECT, NAME);
    put_class(b, 2, OBJECTS, ARRAY_NAME);
}

/* Puts a heap dump of `arrays` arrays of class Object[], each of which has `elements` elements. One element of one array may
 * dangle. Returns the offset of its first element. */
static uint64_t put_dump(struct bytes *b, uint32_t arrays, uint32_t elements, uint32_t odd_one, uint64_t missing)
{
    uint64_t at = 0;
    size_t segment = open_record(b, 0x1c);

    put_class_dump(b, OBJECT, 0, 0);
    put_class_dump(b, OBJECTS, OBJECT, 0);
    for (uint32_t i = 0; i < arrays; i++) {
        if (i == odd_one)
            at = b->size + 25;
        put_array(b, PLAIN + 8 * i, elements, i == odd_one ? missing : PLAIN + 8 * i);
    }
    close_record(b, segment);
    put(b, 1, 0x2c);
    put(b, 8, 0);
    return at;
}

struct reported {
    unsigned findings;
    const char *rule;
    uint64_t offset;
};

static int note_finding(void *context, const struct hprof_finding *f)
{
    struct reported *reported = context;

    reported->findings++;
    reported->rule = hprof_rule_at(f->rule)->id;
    reported->offset = f->offset;
    return 0;
}

static void expect_dangling_at(uint32_t arrays, uint32_t elements, uint32_t odd_one, uint64_t missing)
{
    struct bytes b = {0};
    uint64_t at;
    struct reported reported = {0};
    struct hprof_options options;

    put_classes(&b);
    at = put_dump(&b, arrays, elements, odd_one, missing);

    hprof_options_init(&options);
    options.on_finding = note_finding;
    options.context = &reported;
    assert_int_equal(hprof_validate_memory(b.at, b.size, false, &options, NULL), HPROF_VALID);
    assert_int_equal(reported.findings, 1);
    assert_string_equal(reported.rule, "REF-002");
    assert_int_equal(reported.offset, at);
    free(b.at);
}

/* 5 MB: the dangling element is in the first stretch, in the last, and in each array near the end of a stretch. */
static void a_dangling_element_is_located_in_any_stretch(void **state)
{
    enum { ARRAYS = 20000, ELEMENTS = 28, SIZE = 25 + 8 * ELEMENTS };

    (void)state;
    for (uint32_t stretch = 0; stretch < 4; stretch++)
        for (uint32_t i = (stretch << 20) / SIZE; i < (stretch << 20) / SIZE + 5; i++) {
            expect_dangling_at(ARRAYS, ELEMENTS, i, UINT64_C(0x7ffd00ae0));
            expect_dangling_at(ARRAYS, ELEMENTS, i, PLAIN + 8 * ARRAYS); /* in a page that all arrays may reference */
        }
    expect_dangling_at(ARRAYS, ELEMENTS, ARRAYS - 1, UINT64_C(0x7ffd00ae0));
}

/* The page of an element belongs to the stretch with the head of its array, however far the element is from it. */
static void a_dangling_element_is_located_in_an_array_of_many_stretches(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        expect_dangling_at(3, 400000, i, UINT64_C(0x7ffd00ae0));
}

enum { DUMPS = 400 };
struct offsets {
    size_t n;
    uint64_t at[DUMPS];
};

static int note_offset(void *context, const struct hprof_finding *f)
{
    struct offsets *offsets = context;

    assert_true(offsets->n < DUMPS);
    offsets->at[offsets->n++] = f->offset;
    return 0;
}

/* Many heap dumps, smaller than a block and larger than a block. */
static void a_dangling_element_of_each_dump_of_a_compressed_file_is_located(void **state)
{
    uint64_t expected[DUMPS];
    struct offsets found = {0};
    struct bytes b = {0}, file;
    struct hprof_options options;

    (void)state;
    dice = 21;
    put_classes(&b);
    for (uint32_t i = 0; i < DUMPS; i++) {
        uint32_t arrays = below(50) ? 1 + below(40) : 3000 + below(3000);

        expected[i] = put_dump(&b, arrays, 20 + below(20), below(arrays), UINT64_C(0x7ffd00ae0) + 8 * i);
    }
    file = compress_gzip(&b);
    hprof_options_init(&options);
    options.max_errors = 0;
    options.on_finding = note_offset;
    options.context = &found;
    assert_int_equal(hprof_validate_memory(file.at, file.size, false, &options, NULL), HPROF_VALID);
    assert_int_equal(found.n, DUMPS);
    assert_memory_equal(found.at, expected, sizeof expected);
    free(file.at);
    free(b.at);
}

/* ---- Skipped bytes ---------------------------------------------------------------------------------------------- */

enum { SEGMENTS = 60 };

static void put_bytes(struct bytes *b, uint64_t id, uint32_t elements)
{
    put_primitive_array(b, id, 8, elements);
    for (uint32_t i = 0; i < elements; i++)
        put(b, 1, 0x77);
}

static int expect_related(void *context, const struct hprof_finding *f)
{
    struct offsets *offsets = context;

    if (strcmp(hprof_rule_at(f->rule)->id, "OBJ-004") != 0)
        return 0;
    assert_true(offsets->n < SEGMENTS);
    assert_int_equal(f->related_offset, offsets->at[offsets->n++]);
    return 0;
}

/* Puts segments of about 50 KB. Every other one has a fault: a sub-record of undefined tag, or one that continues in the
 * next segment. The last segment defines again an object from the middle of each. */
static void earlier_definitions_are_found_between_faults(void **state)
{
    struct offsets expected = {0};
    struct bytes b = {0}, file;
    struct hprof_options options;
    uint32_t missing = 0;
    size_t segment;

    (void)state;
    dice = 4;
    put_classes(&b);
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        uint32_t damage = i % 2 ? 0 : below(3);

        segment = open_record(&b, 0x1c);
        for (; missing; missing--)
            put(&b, 1, 0x77);
        put_bytes(&b, PLAIN + 8000 * i, below(50000));
        expected.at[i] = b.size + 1;
        put_bytes(&b, PLAIN + 8000 * i + 8, below(50000));
        if (damage == 1) {
            put(&b, 1, 0x77);
            put_bytes(&b, PLAIN + 8000 * i + 8, 100); /* not looked at */
        } else if (damage == 2) {
            put_bytes(&b, PLAIN + 8000 * i + 16, 0);
            missing = 5000 + below(5000);
            b.at[b.size - 3] = (uint8_t)(missing >> 8);
            b.at[b.size - 2] = (uint8_t)missing;
        }
        close_record(&b, segment);
    }
    segment = open_record(&b, 0x1c);
    for (; missing; missing--)
        put(&b, 1, 0x77);
    for (uint32_t i = 0; i < SEGMENTS; i++)
        put_bytes(&b, PLAIN + 8000 * i + 8, 0);
    close_record(&b, segment);
    put(&b, 1, 0x2c);
    put(&b, 8, 0);

    hprof_options_init(&options);
    options.max_errors = 0;
    options.on_finding = expect_related;
    options.context = &expected;
    assert_int_equal(hprof_validate_memory(b.at, b.size, false, &options, NULL), HPROF_INVALID);
    assert_int_equal(expected.n, SEGMENTS);
    file = compress_gzip(&b);
    expected.n = 0;
    assert_int_equal(hprof_validate_memory(file.at, file.size, false, &options, NULL), HPROF_INVALID);
    assert_int_equal(expected.n, SEGMENTS);
    free(file.at);
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_meet_where_a_page_is_in_both),
        cmocka_unit_test(filters_of_other_pages_seldom_meet),
        cmocka_unit_test(a_dangling_element_is_located_in_any_stretch),
        cmocka_unit_test(a_dangling_element_is_located_in_an_array_of_many_stretches),
        cmocka_unit_test(a_dangling_element_of_each_dump_of_a_compressed_file_is_located),
        cmocka_unit_test(earlier_definitions_are_found_between_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
