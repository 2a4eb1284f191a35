/* The decisions of recovery (RULES.md M.2), which depend only on bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "dump.h"
#include "engine/recovery.h"

static struct sight sight_of(const struct bytes *b, bool ended)
{
    return (struct sight){b->at, b->size, ended, 8, V102};
}

static void put_zeros(struct bytes *b, size_t n)
{
    while (n--)
        put(b, 1, 0);
}

static void put_unload(struct bytes *b)
{
    size_t record = open_record(b, 0x03);

    put(b, 4, 1);
    close_record(b, record);
}

/* ---- Lengths by kind and count ---- */

static void a_kind_of_fixed_length_has_one_length(void **state)
{
    static const struct {
        unsigned tag;
        uint64_t in4, in8;
    } kinds[] = {{0x02, 16, 24}, {0x03, 4, 4}, {0x04, 24, 40}, {0x07, 24, 24},
                 {0x0a, 24, 40}, {0x0b, 4, 4}, {0x0e, 6, 6},   {0x2c, 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sight in4 = {.id_size = 4}, in8 = {.id_size = 8};
        uint64_t least;

        assert_int_equal(right_length(kinds[i].tag, &in4, &least), kinds[i].in4);
        assert_int_equal(right_length(kinds[i].tag, &in8, &least), kinds[i].in8);
        assert_int_equal(least, kinds[i].in8);
    }
}

static void a_count_gives_the_length(void **state)
{
    static const struct {
        unsigned tag, fixed, entry;
    } kinds[] = {{0x05, 12, 8}, {0x06, 34, 25}, {0x0d, 8, 8}};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct bytes b = {0};
        struct sight s;
        uint64_t least;

        put_zeros(&b, kinds[i].fixed - 4);
        put(&b, 4, 0xffffffff);
        s = sight_of(&b, true);
        assert_int_equal(right_length(kinds[i].tag, &s, &least), kinds[i].fixed + UINT64_C(0xffffffff) * kinds[i].entry);
        assert_int_equal(least, kinds[i].fixed);
        s.size--;
        assert_true(right_length(kinds[i].tag, &s, &least) == LENGTH_ANY);
        free(b.at);
    }
}

static void any_other_length_is_right(void **state)
{
    static const struct {
        unsigned tag;
        uint64_t least;
    } kinds[] = {{0x01, 8}, {0x0c, 0}, {0x1c, 0}, {0x77, 0}, {0x00, 0}};
    struct sight s = {.id_size = 8};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t least;

        assert_true(right_length(kinds[i].tag, &s, &least) == LENGTH_ANY);
        assert_int_equal(least, kinds[i].least);
    }
}

/* ---- What follows ---- */

static void the_end_follows(void **state)
{
    struct bytes b = {0};
    struct sight s;

    (void)state;
    put(&b, 4, 0x01020304);
    s = sight_of(&b, true);
    assert_true(records_follow(&s, 4, 1));
    assert_false(records_follow(&s, 5, 1));
    assert_false(records_follow(&s, 0, 1));
    s.ended = false; /* unknown */
    assert_true(records_follow(&s, 5, 1));
    assert_true(records_follow(&s, 0, 1));
    free(b.at);
}

static void a_record_follows_if_it_lies_within_the_dump(void **state)
{
    struct bytes b = {0};

    (void)state;
    put_unload(&b);
    put_string(&b, 1, "text");
    for (size_t size = 1; size < b.size; size++) {
        struct sight s = {b.at, size, true, 8, V102};

        assert_int_equal(records_follow(&s, 0, 1), size >= 13);
        assert_int_equal(records_follow(&s, 0, 2), size == 13);
        s.ended = false;
        assert_true(records_follow(&s, 0, 2));
    }
    free(b.at);
}

static void a_record_has_a_known_tag_and_a_length_of_its_kind(void **state)
{
    (void)state;
    for (unsigned tag = 0; tag < 256; tag++)
        for (size_t length = 0; length < 64; length++) {
            struct bytes b = {0};
            struct sight s;
            uint64_t least, right;
            size_t record = open_record(&b, tag);
            bool known = tag >= 0x01 && (tag <= 0x07 || (tag >= 0x0a && tag <= 0x0e) || tag == 0x1c || tag == 0x2c);

            for (size_t i = 0; i < length; i++)
                put(&b, 1, 0x05); /* ROOT_STICKY_CLASS begins a heap dump */
            close_record(&b, record);
            s = sight_of(&b, true);
            right = right_length(tag, &(struct sight){.id_size = 8}, &least);
            assert_int_equal(records_follow(&s, 0, 1), known && (right == LENGTH_ANY ? length >= least : length == right));
            free(b.at);
        }
}

static void a_heap_dump_record_begins_with_a_sub_record(void **state)
{
    struct bytes b = {0};
    size_t record = open_record(&b, 0x1c);
    struct sight s;

    (void)state;
    put(&b, 1, 0x24);
    close_record(&b, record);
    s = sight_of(&b, true);
    assert_false(records_follow(&s, 0, 1));
    b.at[record] = 0x23;
    assert_true(records_follow(&s, 0, 1));
    free(b.at);
}

/* ---- Where checking resumes ---- */

static void of_two_lengths_that_records_follow_the_shorter_one_holds(void **state)
{
    enum { UNLOAD = 13 };
    struct bytes b = {0};
    struct sight s;

    (void)state;
    put_zeros(&b, 10);
    for (int i = 0; i < 3; i++)
        put_unload(&b);
    s = sight_of(&b, true);
    assert_int_equal(resume_after_record(&s, 10 + UNLOAD, 10), RESUME_AT_RIGHT);
    assert_int_equal(resume_after_record(&s, 10, 10 + UNLOAD), RESUME_AT_DECLARED);
    free(b.at);
}

static void the_declared_length_holds_if_a_record_follows_it(void **state)
{
    struct bytes b = {0};
    struct sight s;

    (void)state;
    put_zeros(&b, 10);
    put_unload(&b);
    put_unload(&b);
    s = sight_of(&b, true);
    assert_int_equal(resume_after_record(&s, 10, 23), RESUME_AT_DECLARED);
    assert_int_equal(resume_after_record(&s, 9, 23), RESUME_AT_RIGHT);
    assert_int_equal(resume_after_record(&s, 9, 22), RESUME_NOWHERE);
    assert_int_equal(resume_after_record(&s, 9, LENGTH_ANY), RESUME_NOWHERE);
    assert_int_equal(resume_after_record(&s, s.size, LENGTH_ANY), RESUME_AT_DECLARED);
    assert_int_equal(resume_after_record(&s, s.size + 1, LENGTH_ANY), RESUME_NOWHERE);
    s.ended = false;
    assert_int_equal(resume_after_record(&s, s.size + 1, LENGTH_ANY), RESUME_UNSEEN);
    assert_int_equal(resume_after_record(&s, s.size + 1, 10), RESUME_AT_RIGHT);
    free(b.at);
}

/* An instance without fields, then others. Its declared length is one byte off, or leads to the end of the heap dump record. */
static void an_instance_has_the_size_of_its_class_only_if_its_own_leads_nowhere(void **state)
{
    enum { HEAD = 25 };
    struct bytes b = {0};
    struct sight s;
    uint64_t left;

    (void)state;
    for (uint64_t id = 1; id < 5; id++)
        put_instance(&b, id, 0x77, 0);
    s = sight_of(&b, true);
    left = b.size;
    assert_true(resume_by_class(&s, HEAD + 1, HEAD, left));
    assert_false(resume_by_class(&s, 2 * HEAD, HEAD, left));     /* a sub-record follows */
    assert_false(resume_by_class(&s, left, HEAD, left));         /* the end of the record follows */
    assert_true(resume_by_class(&s, left + 1, HEAD, left));      /* it crosses the end */
    assert_false(resume_by_class(&s, left + 1, left, left));     /* so it is truncated, not wrong */
    assert_false(resume_by_class(&s, HEAD + 1, HEAD + 2, left)); /* neither leads to a sub-record */
    assert_true(resume_by_class(&s, HEAD + 1, left - HEAD, left));
    assert_false(resume_by_class(&s, HEAD, HEAD + 1, left));
    free(b.at);
}

/* ---- What may be missing ---- */

static void a_length_says_what_may_be_defined(void **state)
{
    (void)state;
    assert_int_equal(definitions_of_length(0, 8), 0);
    assert_int_equal(definitions_of_length(4, 8), MAY_DEFINE_THREADS);
    assert_int_equal(definitions_of_length(8, 8), MAY_DEFINE_STRINGS);
    assert_int_equal(definitions_of_length(24, 8), MAY_DEFINE_STRINGS | MAY_DEFINE_CLASSES);
    assert_int_equal(definitions_of_length(20, 8), MAY_DEFINE_STRINGS | MAY_DEFINE_TRACES);
    assert_int_equal(definitions_of_length(40, 8), MAY_DEFINE_STRINGS | MAY_DEFINE_FRAMES | MAY_DEFINE_THREADS);
    assert_int_equal(definitions_of_length(16, 4), MAY_DEFINE_STRINGS | MAY_DEFINE_CLASSES | MAY_DEFINE_TRACES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_of_fixed_length_has_one_length),
        cmocka_unit_test(a_count_gives_the_length),
        cmocka_unit_test(any_other_length_is_right),
        cmocka_unit_test(the_end_follows),
        cmocka_unit_test(a_record_follows_if_it_lies_within_the_dump),
        cmocka_unit_test(a_record_has_a_known_tag_and_a_length_of_its_kind),
        cmocka_unit_test(a_heap_dump_record_begins_with_a_sub_record),
        cmocka_unit_test(the_declared_length_holds_if_a_record_follows_it),
        cmocka_unit_test(of_two_lengths_that_records_follow_the_shorter_one_holds),
        cmocka_unit_test(an_instance_has_the_size_of_its_class_only_if_its_own_leads_nowhere),
        cmocka_unit_test(a_length_says_what_may_be_defined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
