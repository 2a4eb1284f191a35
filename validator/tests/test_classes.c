/* classes.h: the sizes that a superclass chain of any length adds up to, and that an invalid layout makes all its subclasses
 * invalid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "each_allocation.h"
#include "state/classes.h"

static const struct hash_key key = {0x1234567890abcdef, 0x9E3779B97F4A7C15};

static struct classes *new_classes(struct memory *memory)
{
    struct classes *c = malloc(sizeof *c);

    memory_init(memory, NULL, 0);
    classes_init(c, memory, &key, 8);
    classes_begin_dump(c);
    return c;
}

static void end_classes(struct classes *c, struct memory *memory)
{
    classes_clear(c);
    assert_int_equal(memory->used, 0);
    free(c);
}

/* Dumps a class whose fields have these types, one for each character: 2 object, 4 boolean, 5 char, b (11) long, 3
 * undefined. IDs take 8 bytes. */
static uint32_t dump_class(struct classes *c, uint64_t id, uint64_t super, const char *types)
{
    const struct CLASS_DUMP r = {.class_id = id, .super_id = super, .instance_size = 77};
    uint8_t fields[9 * 16] = {0};
    size_t n = strlen(types);

    for (size_t i = 0; i < n; i++)
        fields[9 * i + 8] = (uint8_t)(types[i] == 'b' ? 11 : types[i] - '0');
    return classes_add_layout(c, &r, 31 + id, fields, (uint16_t)n);
}

static enum layout_state resolve(struct classes *c, uint64_t id)
{
    return classes_resolve(c, classes_find_layout(c, id));
}

/* ---- Classes ---------------------------------------------------------------------------------------------------- */

static void a_class_that_was_loaded_is_found(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);
    struct class *class = classes_add(c, 8);

    (void)state;
    assert_ptr_equal(classes_find(c, 8), class);
    assert_null(classes_find(c, 16));
    assert_int_equal(c->loaded.count, 1);
    assert_null(classes_layout_of(c, 8));
    end_classes(c, &memory);
}

static void layouts_are_of_one_heap_dump(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 8, 0, "");
    assert_non_null(classes_layout_of(c, 8));
    classes_end_dump(c);
    classes_begin_dump(c);
    assert_null(classes_layout_of(c, 8));
    dump_class(c, 8, 0, "b");
    assert_int_equal(classes_layout_of(c, 8)->total, 8);
    assert_null(classes_layout_of(c, 99));
    end_classes(c, &memory);
}

static void expect_field(const struct classes *c, struct checked_field *f, unsigned type, uint32_t at)
{
    assert_true(checked_fields_next(c, f));
    assert_int_equal(f->type, type);
    assert_int_equal(f->at, at);
    assert_int_equal(f->end, at + type_size(type, 8));
}

static void a_layout_describes_the_dumped_class(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);
    uint32_t index = dump_class(c, 8, 16, "b42525");
    const struct layout *l = classes_layout(c, index);
    struct checked_field field = checked_fields_begin(c, l);

    (void)state;
    assert_int_equal(classes_find_layout(c, 8), index);
    assert_int_equal(classes_id(c, index), 8);
    assert_int_equal(l->at, 39);
    assert_int_equal(l->instance_size, 77);
    assert_int_equal(l->total, 29);
    assert_true(l->has_fields && !l->has_no_superclass && !l->bad_type);
    expect_field(c, &field, TYPE_BOOLEAN, 8);
    expect_field(c, &field, TYPE_OBJECT, 9);
    expect_field(c, &field, TYPE_OBJECT, 19);
    assert_false(checked_fields_next(c, &field));
    end_classes(c, &memory);
}

static void a_layout_may_have_no_checked_fields(void **state)
{
    static const char *const without[] = {"", "b", "555b", "3"};
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        const struct layout *l = classes_layout(c, dump_class(c, 8 + i, 0, without[i]));
        struct checked_field field = checked_fields_begin(c, l);

        assert_true(l->has_no_superclass);
        assert_int_equal(l->has_fields, i > 0);
        assert_int_equal(l->bad_type, i == 3);
        assert_false(l->has_checked_fields || checked_fields_next(c, &field));
    }
    end_classes(c, &memory);
}

/* ---- Chains ----------------------------------------------------------------------------------------------------- */

static void a_chain_adds_up(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 1, 0, "2b");
    dump_class(c, 2, 1, "5");
    dump_class(c, 3, 2, "");
    dump_class(c, 4, 3, "4");
    assert_int_equal(resolve(c, 4), LAYOUT_VALID);
    assert_int_equal(classes_layout_of(c, 4)->total, 16 + 2 + 0 + 1);
    assert_int_equal(classes_layout_of(c, 1)->total, 16);
    assert_int_equal(resolve(c, 3), LAYOUT_VALID);
    end_classes(c, &memory);
}

static void classes_without_checked_fields_are_skipped(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 1, 0, "2");
    dump_class(c, 2, 1, "5");
    dump_class(c, 3, 2, "");
    dump_class(c, 4, 3, "4");
    dump_class(c, 5, 4, "");
    resolve(c, 5);
    assert_int_equal(classes_above(c, classes_find_layout(c, 5)), classes_find_layout(c, 4));
    assert_int_equal(classes_above(c, classes_find_layout(c, 4)), classes_find_layout(c, 1));
    assert_int_equal(classes_above(c, classes_find_layout(c, 1)), LAYOUT_NONE);
    end_classes(c, &memory);
}

static void a_chain_of_a_million_adds_up(void **state)
{
    enum { MANY = 1000000 };
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    for (uint64_t id = 1; id <= MANY; id++)
        dump_class(c, id, id - 1, id % 100 ? "" : "b");
    c->complete = true;
    assert_int_equal(resolve(c, MANY), LAYOUT_VALID);
    assert_int_equal(classes_layout_of(c, MANY)->total, MANY / 100 * 8);
    for (uint64_t id = 1; id <= MANY; id++)
        assert_int_equal(resolve(c, id), LAYOUT_VALID);
    end_classes(c, &memory);
}

/* From the top on, so that each call resolves one step. */
static void a_million_subclasses_add_up(void **state)
{
    enum { MANY = 1000000 };
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 1, 0, "b");
    for (uint64_t id = 2; id <= MANY; id++) {
        dump_class(c, id, 1, "");
        assert_int_equal(resolve(c, id), LAYOUT_VALID);
        assert_int_equal(classes_layout_of(c, id)->total, 8);
    }
    end_classes(c, &memory);
}

/* ---- Invalid chains --------------------------------------------------------------------------------------------- */

static void a_cycle_is_invalid_with_all_subclasses(void **state)
{
    (void)state;
    for (uint64_t length = 1; length < 50; length++) {
        struct memory memory;
        struct classes *c = new_classes(&memory);

        for (uint64_t id = 1; id <= length; id++)
            dump_class(c, id, id % length + 1, "b");
        dump_class(c, 100, length, "");
        dump_class(c, 101, 100, "");
        dump_class(c, 102, 0, "");
        c->complete = length & 1;
        assert_int_equal(resolve(c, 101), LAYOUT_INVALID);
        for (uint64_t id = 1; id <= length; id++)
            assert_int_equal(resolve(c, id), LAYOUT_INVALID);
        assert_int_equal(resolve(c, 100), LAYOUT_INVALID);
        assert_int_equal(resolve(c, 102), LAYOUT_VALID);
        end_classes(c, &memory);
    }
}

static void a_missing_superclass_may_still_follow(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 3, 2, "b");
    dump_class(c, 2, 1, "b");
    assert_int_equal(resolve(c, 3), LAYOUT_OPEN);
    assert_int_equal(resolve(c, 2), LAYOUT_OPEN);
    dump_class(c, 1, 0, "b");
    assert_int_equal(resolve(c, 3), LAYOUT_VALID);
    assert_int_equal(classes_layout_of(c, 3)->total, 24);
    end_classes(c, &memory);
}

static void a_missing_superclass_is_undefined_at_the_end(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    classes_add(c, 1); /* loaded, not dumped */
    dump_class(c, 3, 2, "b");
    dump_class(c, 2, 1, "b");
    assert_int_equal(resolve(c, 3), LAYOUT_OPEN);
    c->complete = true;
    assert_int_equal(resolve(c, 3), LAYOUT_INVALID);
    assert_int_equal(resolve(c, 2), LAYOUT_INVALID);
    end_classes(c, &memory);
}

static void a_superclass_in_another_heap_dump_is_undefined(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 1, 0, "");
    classes_end_dump(c);
    classes_begin_dump(c);
    dump_class(c, 2, 1, "");
    c->complete = true;
    assert_int_equal(resolve(c, 2), LAYOUT_INVALID);
    end_classes(c, &memory);
}

static void an_undefined_type_makes_all_subclasses_invalid(void **state)
{
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 1, 0, "b");
    dump_class(c, 2, 1, "b3");
    dump_class(c, 3, 2, "b");
    assert_int_equal(resolve(c, 3), LAYOUT_INVALID);
    assert_int_equal(resolve(c, 2), LAYOUT_INVALID);
    assert_int_equal(resolve(c, 1), LAYOUT_VALID);
    end_classes(c, &memory);
}

/* What is read again is no second instance, and between two that agree there is no other that does not. */
static void two_instances_in_succession_say_what_size_a_class_has(void **state)
{
    const struct CLASS_DUMP shorter = {.class_id = 5};
    struct memory memory;
    struct classes *c = new_classes(&memory);

    (void)state;
    dump_class(c, 5, 4, "b");
    classes_note_other_size(c, 5, 24, 100);
    classes_note_other_size(c, 5, 24, 200);
    assert_int_equal(classes_check_size(c, 5, 24), SIZE_UNKNOWN); /* the superclass is not dumped yet */
    dump_class(c, 4, 0, "b");
    dump_class(c, 6, 0, "b");
    assert_int_equal(classes_check_size(c, 5, 24), SIZE_RIGHT);
    assert_int_equal(classes_check_size(c, 5, 16), SIZE_RIGHT);
    assert_int_equal(classes_check_size(c, 5, 25), SIZE_WRONG);
    assert_int_equal(classes_check_size(c, 6, 24), SIZE_WRONG);
    assert_int_equal(classes_check_size(c, 7, 24), SIZE_UNKNOWN);
    classes_note_other_size(c, 5, 25, 300);
    classes_note_other_size(c, 5, 25, 400);
    assert_int_equal(classes_check_size(c, 5, 24), SIZE_RIGHT);
    assert_int_equal(classes_check_size(c, 5, 25), SIZE_WRONG);

    classes_note_other_size(c, 6, 24, 500);
    classes_note_other_size(c, 6, 24, 500);
    classes_note_other_size(c, 6, 32, 600);
    classes_note_other_size(c, 6, 24, 500);
    assert_int_equal(classes_check_size(c, 6, 24), SIZE_WRONG);
    assert_int_equal(classes_check_size(c, 6, 32), SIZE_WRONG);
    classes_note_other_size(c, 6, 24, 500 + (UINT64_C(1) << 30));
    assert_int_equal(classes_check_size(c, 6, 24), SIZE_RIGHT);
    assert_int_equal(classes_check_size(c, 6, 32), SIZE_WRONG);

    classes_end_dump(c);
    classes_begin_dump(c);
    classes_add_layout(c, &shorter, 31, NULL, 0);
    assert_int_equal(classes_check_size(c, 5, 24), SIZE_WRONG);
    assert_int_equal(classes_check_size(c, 5, 0), SIZE_RIGHT);
    end_classes(c, &memory);
}

static void use_classes(struct memory *memory)
{
    struct classes *c = malloc(sizeof *c);

    classes_init(c, memory, &key, 8);
    classes_begin_dump(c);
    for (uint64_t id = 1; id <= 2000 && !memory->exhausted; id++)
        dump_class(c, id, id - 1, "242b2b2b2b");
    if (!memory->exhausted)
        assert_true(resolve(c, 2000) == LAYOUT_VALID || memory->exhausted);
    for (uint64_t i = 0; i < 40 && !memory->exhausted; i++)
        classes_note_other_size(c, 1 + i / 2, 1, i);
    if (!memory->exhausted)
        assert_true(classes_check_size(c, 20, 1) == SIZE_RIGHT || memory->exhausted);
    classes_clear(c);
    free(c);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(use_classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_that_was_loaded_is_found),
        cmocka_unit_test(layouts_are_of_one_heap_dump),
        cmocka_unit_test(a_layout_describes_the_dumped_class),
        cmocka_unit_test(a_layout_may_have_no_checked_fields),
        cmocka_unit_test(a_chain_adds_up),
        cmocka_unit_test(classes_without_checked_fields_are_skipped),
        cmocka_unit_test(a_chain_of_a_million_adds_up),
        cmocka_unit_test(a_million_subclasses_add_up),
        cmocka_unit_test(a_cycle_is_invalid_with_all_subclasses),
        cmocka_unit_test(a_missing_superclass_may_still_follow),
        cmocka_unit_test(a_missing_superclass_is_undefined_at_the_end),
        cmocka_unit_test(a_superclass_in_another_heap_dump_is_undefined),
        cmocka_unit_test(an_undefined_type_makes_all_subclasses_invalid),
        cmocka_unit_test(two_instances_in_succession_say_what_size_a_class_has),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
