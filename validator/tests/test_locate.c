/* array_log.h, locate.c: an array that names what is sought is read again, wherever it stands; most others are not. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array_log.h"
#include "dice.h"
#include "dump.h"
#include "forms.h"
#include "hprof/hprof.h"

/* ---- The log ---------------------------------------------------------------------------------------------------- */

struct array {
    uint64_t offset;
    uint64_t page; /* of the IDs of its elements */
};

/* Arrays some hundred bytes, or sometimes many stretches, apart. Those near each other name pages that are near each other. */
static size_t note_arrays(struct array_log *log, struct array *arrays, size_t n)
{
    uint64_t offset = 0;

    for (size_t i = 0; i < n; i++) {
        offset += below(500) ? below(1000) + 1 : below(1 << 24);
        arrays[i] = (struct array){offset, (offset >> 23) + below(4)};
        array_log_note(log, offset);
        page_filter_add(&log->last, arrays[i].page);
    }
    return n;
}

static void an_array_that_names_what_is_sought_is_met(void **state)
{
    enum { MANY = 30000, SOUGHT = 200 };
    struct array *arrays = malloc(MANY * sizeof *arrays);
    struct memory memory;
    struct array_log log;
    size_t read = 0;

    (void)state;
    memory_init(&memory, NULL, 0);
    array_log_init(&log, &memory);
    note_arrays(&log, arrays, MANY);
    for (unsigned i = 0; i < SOUGHT; i++) {
        uint64_t page = arrays[below(MANY)].page;
        struct page_filter sought = {0};
        struct array_reader r = array_log_read(&log, &sought);
        size_t next = 0;

        page_filter_add(&sought, page);
        while (array_reader_next(&r)) {
            for (; arrays[next].offset != r.offset; next++)
                assert_true(arrays[next].page != page);
            next++;
            read++;
        }
        for (; next < MANY; next++)
            assert_true(arrays[next].page != page);
    }
    assert_in_range(read, SOUGHT, (size_t)SOUGHT * MANY / 10);
    array_log_clear(&log);
    assert_int_equal(memory.used, 0);
    free(arrays);
}

static void nothing_sought_and_nothing_noted_is_nothing_met(void **state)
{
    static const struct page_filter all = {{UINT64_MAX}}, none = {{0}};
    struct memory memory;
    struct array_log log;
    struct array_reader r;

    (void)state;
    memory_init(&memory, NULL, 0);
    array_log_init(&log, &memory);
    r = array_log_read(&log, &all);
    assert_false(array_reader_next(&r));
    array_log_note(&log, 0);
    page_filter_add(&log.last, 7);
    r = array_log_read(&log, &none);
    assert_false(array_reader_next(&r));
    array_log_clear(&log);
}

/* ---- The second look -------------------------------------------------------------------------------------------- */

enum { OBJECT = 0x800, OBJECTS = 0x900, NAME = 1, ARRAY_NAME = 2, PLAIN = 0x100000 };

static void put_array(struct bytes *b, uint64_t id, uint32_t elements, uint64_t element)
{
    put(b, 1, 0x22);
    put(b, 8, id);
    put(b, 4, 0);
    put(b, 4, elements);
    put(b, 8, OBJECTS);
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

/* A heap dump of `arrays` arrays of Object[], each with as many elements, one of which, that of an array, may be missing. Gives the
 * offset of its first element. */
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

struct told {
    unsigned findings;
    const char *rule;
    uint64_t offset;
};

static void tell(void *context, const struct hprof_finding *f)
{
    struct told *told = context;

    told->findings++;
    told->rule = hprof_rule_at(f->rule)->id;
    told->offset = f->offset;
}

static void expect_dangling_at(uint32_t arrays, uint32_t elements, uint32_t odd_one, uint64_t missing)
{
    struct bytes b = {0};
    uint64_t at;
    struct told told = {0};
    struct hprof_options options;

    put_classes(&b);
    at = put_dump(&b, arrays, elements, odd_one, missing);

    hprof_options_init(&options);
    options.on_finding = tell;
    options.context = &told;
    assert_int_equal(hprof_validate_memory(b.at, b.size, false, &options), HPROF_VALID);
    assert_int_equal(told.findings, 1);
    assert_string_equal(told.rule, "REF-002");
    assert_int_equal(told.offset, at);
    free(b.at);
}

/* 5 MB: the odd one in the first stretch, in the last, and at each array about the end of a stretch. */
static void a_dangling_element_is_located_in_any_stretch(void **state)
{
    enum { ARRAYS = 20000, ELEMENTS = 28, SIZE = 25 + 8 * ELEMENTS };

    (void)state;
    for (uint32_t stretch = 0; stretch < 4; stretch++)
        for (uint32_t i = (stretch << 20) / SIZE; i < (stretch << 20) / SIZE + 5; i++) {
            expect_dangling_at(ARRAYS, ELEMENTS, i, UINT64_C(0x7ffd00ae0));
            expect_dangling_at(ARRAYS, ELEMENTS, i, PLAIN + 8 * ARRAYS); /* in a page that all arrays may name */
        }
    expect_dangling_at(ARRAYS, ELEMENTS, ARRAYS - 1, UINT64_C(0x7ffd00ae0));
}

/* The page of an element that stands far behind the head of its array is one of the stretch of that head. */
static void a_dangling_element_is_located_in_an_array_of_many_stretches(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        expect_dangling_at(3, 400000, i, UINT64_C(0x7ffd00ae0));
}

enum { DUMPS = 400 };
struct places {
    size_t n;
    uint64_t at[DUMPS];
};

static void note_place(void *context, const struct hprof_finding *f)
{
    struct places *places = context;

    assert_true(places->n < DUMPS);
    places->at[places->n++] = f->offset;
}

/* However many heap dumps there are, and wherever blocks end: small ones, of which a block holds many, and larger than a block. */
static void a_dangling_element_of_each_dump_of_a_compressed_file_is_located(void **state)
{
    uint64_t expected[DUMPS];
    struct places found = {0};
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
    options.on_finding = note_place;
    options.context = &found;
    assert_int_equal(hprof_validate_memory(file.at, file.size, false, &options), HPROF_VALID);
    assert_int_equal(found.n, DUMPS);
    assert_memory_equal(found.at, expected, sizeof expected);
    free(file.at);
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_that_names_what_is_sought_is_met),
        cmocka_unit_test(nothing_sought_and_nothing_noted_is_nothing_met),
        cmocka_unit_test(a_dangling_element_is_located_in_any_stretch),
        cmocka_unit_test(a_dangling_element_is_located_in_an_array_of_many_stretches),
        cmocka_unit_test(a_dangling_element_of_each_dump_of_a_compressed_file_is_located),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
