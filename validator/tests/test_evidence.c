/* evidence.h: bytes count no more bits than chance allows, and what a dump writes counts many. What is right in the bytes, and how
 * improbable that is, is computed here from the classes, traces and threads that the file was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "dump.h"
#include "engine/evidence.h"
#include "format/tags.h"
#include "known.h"

enum {
    FIXED_MOST = 80, /* bytes: a CLASS_DUMP takes 72 */
    DRAWS = 200000,
    SLACK = 4, /* bits: figures of evidence.c are round */
    BITS_OF_TAG = 8,
    BITS_OF_ROOT = 3, /* any of the tags of roots */
    BITS_OF_TYPE = 5,
    BITS_OF_TRACE = 32 - 9,
    BITS_OF_SIZE = 32
};

/* ---- A sub-record, some of which is right ---- */

struct sub_record {
    uint8_t bytes[FIXED_MOST];
    unsigned bits; /* that what is right in it is worth */
};

/* An ID is right if it is near those of classes. */
static unsigned set_object(const struct known *k, uint8_t *at, bool is_right)
{
    const unsigned id_size = k->file.id_size;

    if (is_right)
        put_at(at, id_size, id_of_object(k));
    return is_right && id_size == 8 ? 16 : 0;
}

static unsigned set_class(const struct known *k, uint8_t *at, bool is_right)
{
    if (is_right)
        put_at(at, k->file.id_size, id_of_class(k));
    return is_right ? 8 * k->file.id_size - 10 : 0;
}

static unsigned set_trace(uint8_t *at, bool is_right)
{
    if (is_right)
        put_at(at, 4, 1 + below(TRACES));
    return is_right ? BITS_OF_TRACE : 0;
}

static void draw_root(struct sub_record *s, const struct known *k, bool all)
{
    static const uint8_t tags[] = {0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
    const unsigned id_size = k->file.id_size;
    uint8_t *serials = s->bytes + 1 + id_size;

    s->bytes[0] = tags[below(sizeof tags)];
    s->bits = BITS_OF_ROOT + set_object(k, s->bytes + 1, all || heads());
    if (all || heads()) { /* a thread, and a trace or the number of a frame */
        put_at(serials, 4, 1 + below(THREADS));
        put_at(serials + 4, 4, 1 + below(s->bytes[0] == 0x08 ? TRACES : 100));
    }
}

/* Object, trace, class, number: all but arrays of primitive types begin so. */
static void draw_object(struct sub_record *s, const struct known *k, bool all)
{
    static const uint8_t tags[] = {0x20, 0x21, 0x22};
    const unsigned id_size = k->file.id_size;
    const uint8_t tag = tags[below(3)];
    uint8_t *trace = s->bytes + 1 + id_size, *after = trace + 4;

    s->bytes[0] = tag;
    s->bits = BITS_OF_TAG + set_trace(trace, all || heads());
    if (tag == 0x20) {
        s->bits += set_class(k, s->bytes + 1, all || heads()) + set_object(k, after, all || heads());
        return;
    }
    s->bits += set_object(k, s->bytes + 1, all || heads());
    if (tag == 0x21) {
        s->bits += set_class(k, after, all || heads());
        put_at(after + id_size, 4, all || heads() ? FIELDS_SIZE : 9);
        s->bits += after[id_size + 3] == FIELDS_SIZE ? BITS_OF_SIZE : 0;
    } else {
        s->bits += set_class(k, after + 4, all || heads());
    }
}

static void draw_primitive_array(struct sub_record *s, const struct known *k, bool all)
{
    const unsigned id_size = k->file.id_size;
    uint8_t *trace = s->bytes + 1 + id_size;

    s->bytes[0] = 0x23;
    s->bits = BITS_OF_TAG + BITS_OF_TYPE + set_trace(trace, all || heads());
    if (all || heads())
        s->bits += set_object(k, s->bytes + 1, true);
    trace[8] = (uint8_t)(4 + below(8));
}

/* `all`: as a dump writes it. */
static struct sub_record draw(const struct known *k, bool all)
{
    static void (*const kinds[])(struct sub_record *, const struct known *, bool) = {draw_root, draw_object,
                                                                                     draw_primitive_array};
    struct sub_record s;

    for (size_t i = 0; i < sizeof s.bytes; i++)
        s.bytes[i] = (uint8_t)throw_dice();
    kinds[below(3)](&s, k, all);
    return s;
}

/* ---- Tests ---- */

static void bytes_count_no_more_than_chance_allows(void **state)
{
    (void)state;
    shake_dice();
    for (unsigned mode = 0; mode < 16; mode++) {
        unsigned id_size = mode & 1 ? 4 : 8, too_many = 0;
        bool has_classes = mode & 2, has_traces = mode & 4;
        struct known k;

        learn(&k, id_size, has_classes, has_traces);
        k.file.losses.definitions = mode & 8 ? MAY_DEFINE_CLASSES : 0;
        for (unsigned i = 0; i < DRAWS / 16; i++) {
            const struct sub_record s = draw(&k, false);
            uint64_t last = 0;

            too_many += bits_of_subrecord(&k.file, s.bytes, &last) > s.bits + SLACK;
        }
        assert_true(too_many <= 1); /* what is random may be right by chance */
        forget(&k);
    }
}

static void what_a_dump_writes_counts_half_of_that_or_more(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        struct known k;

        learn(&k, id_size, true, true);
        for (unsigned i = 0; i < DRAWS / 16; i++) {
            const struct sub_record s = draw(&k, true);
            uint64_t last = 0;
            unsigned bits = bits_of_subrecord(&k.file, s.bytes, &last);

            assert_in_range(bits, s.bits / 2, s.bits + SLACK);
        }
        forget(&k);
    }
}

/* The bits of a sub-record whose fields are given in turn: `layout` has a character for each, an ID of 8 bytes, 4 bytes or 1. */
static unsigned bits_of(struct known *k, unsigned tag, const char *layout, ...)
{
    uint8_t bytes[FIXED_MOST] = {(uint8_t)tag};
    size_t at = 1;
    uint64_t last = 0;
    va_list fields;

    va_start(fields, layout);
    for (; *layout; layout++) {
        unsigned n = *layout == 'i' ? 8 : *layout == '4' ? 4 : 1;

        put_at(bytes + at, n, va_arg(fields, uint64_t));
        at += n;
    }
    va_end(fields);
    return bits_of_subrecord(&k->file, bytes, &last);
}

static void what_cannot_be_right_counts_nothing(void **state)
{
    const uint64_t none = 0, one = 1, size = FIELDS_SIZE, long_type = 11, most = 1024, deepest = (1 << 20) - 1,
                   no_frame = UINT32_MAX;
    uint64_t class, object;
    struct known k;

    (void)state;
    learn(&k, 8, true, true);
    class = k.lowest;
    object = k.lowest + 8;
    assert_true(bits_of(&k, 0x21, "i4i4", object, one, class, size));
    assert_false(bits_of(&k, 0x21, "i4i4", none, one, class, size));
    assert_false(bits_of(&k, 0x21, "i4i4", class, one, class, size));
    assert_false(bits_of(&k, 0x21, "i4i4", object, one, class, size + 1));
    assert_true(bits_of(&k, 0x22, "i44i", object, one, most + 1, class));
    assert_false(bits_of(&k, 0x22, "i44i", none, one, most, class));
    assert_false(bits_of(&k, 0x22, "i44i", class, one, most, class));
    assert_true(bits_of(&k, 0x23, "i441", object, one, most + 1, long_type));
    assert_false(bits_of(&k, 0x23, "i441", none, one, most, long_type));
    assert_false(bits_of(&k, 0x23, "i441", class, one, most, long_type));
    assert_false(bits_of(&k, 0x23, "i441", object, one, most, (uint64_t)3));
    assert_false(bits_of(&k, 0x23, "i441", object, one, most, (uint64_t)12));
    for (unsigned tag = 0x02; tag <= 0x03; tag++) {
        assert_true(bits_of(&k, tag, "i44", object, one, deepest) > 1);
        assert_true(bits_of(&k, tag, "i44", object, one, no_frame) > 1);
        assert_false(bits_of(&k, tag, "i44", object, one, deepest + 1));
    }
    assert_true(bits_of(&k, 0x06, "i44", object, one, deepest + 1) > 1); /* it has no frame */
    forget(&k);
}

/* Text looks like objects; while no class is known, little else speaks against it. */
static void before_a_class_is_known_what_is_long_counts_nothing(void **state)
{
    const uint64_t none = 0, one = 1, most = 1024, class = 0x1000, object = 0x2000;
    struct known k;

    (void)state;
    learn(&k, 8, false, true);
    assert_true(bits_of(&k, 0x21, "i4i4", object, one, class, most));
    assert_false(bits_of(&k, 0x21, "i4i4", object, one, class, most + 1));
    assert_true(bits_of(&k, 0x22, "i44i", object, one, most, class));
    assert_false(bits_of(&k, 0x22, "i44i", object, one, most + 1, class));
    assert_true(bits_of(&k, 0x20, "i4iiiiii", class, one, none, none, none, none, none, none));
    assert_false(bits_of(&k, 0x20, "i4iiiiii", class, one, none, none, none, none, one, none));
    assert_false(bits_of(&k, 0x20, "i4iiiiii", class, one, none, none, none, none, none, one));
    forget(&k);
}

/* Where a LOAD_CLASS may be lost, a known trace or two IDs that are near classes make up for it; IDs of 4 bytes are too short. */
static void an_object_of_a_lost_class_needs_one_more_sign(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4)
        for (unsigned signs = 0; signs < 8; signs++) {
            bool may_be_lost = signs & 1, has_trace = signs & 2, is_near = signs & 4;
            uint64_t last = 0;
            uint8_t array[FIXED_MOST] = {0x22};
            struct known k;

            learn(&k, id_size, true, true);
            k.file.losses.definitions = may_be_lost ? MAY_DEFINE_CLASSES : 0;
            put_at(array + 1, id_size, is_near ? k.lowest + 8 : 8);
            put_at(array + 1 + id_size, 4, has_trace ? 1 : TRACES + 1);
            put_at(array + 1 + id_size + 8, id_size, k.lowest + 4);
            assert_int_equal(bits_of_subrecord(&k.file, array, &last) > 0,
                             may_be_lost && (has_trace || (is_near && id_size == 8)));
            forget(&k);
        }
}

/* A LOAD_CLASS and a CLASS_DUMP say of what class an object may be: each for itself. */
static void a_class_is_known_that_was_loaded_or_dumped(void **state)
{
    const struct CLASS_DUMP dumped = {.class_id = 0x2000};
    const uint64_t one = 1, object = 0x3000;

    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        struct known k;
        uint64_t last = 0;
        uint8_t array[FIXED_MOST] = {0x22};

        learn(&k, id_size, false, true);
        classes_add(&k.file.classes, 0x1000);
        assert_false(knows_no_class(&k.file));
        classes_add_layout(&k.file.classes, &dumped, 31, NULL, 0);
        for (uint64_t class = 0x1000; class <= 0x3000; class += 0x1000) {
            unsigned bits;

            put_at(array + 1, id_size, object);
            put_at(array + 1 + id_size, 4, one);
            put_at(array + 1 + id_size + 8, id_size, class);
            bits = bits_of_subrecord(&k.file, array, &last);
            assert_int_equal(bits > BITS_OF_TRACE, class != 0x3000);
        }
        forget(&k);
        learn(&k, id_size, false, true);
        classes_add_layout(&k.file.classes, &dumped, 31, NULL, 0);
        assert_false(knows_no_class(&k.file));
        forget(&k);
    }
}

/* A CLASS_DUMP that is damaged gives its instances a size that they do not have. */
static void a_size_on_which_two_instances_agree_counts_as_that_of_the_class(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        const uint8_t head = 0x21;
        uint8_t right[FIXED_MOST] = {head}, other[FIXED_MOST] = {head};
        uint64_t class, last = 0;
        struct known k;

        learn(&k, id_size, true, false);
        class = id_of_class(&k);
        for (unsigned i = 0; i < 2; i++) {
            uint8_t *p = i ? other : right;

            put_at(p + 1, id_size, id_of_object(&k));
            put_at(p + 1 + id_size + 4, id_size, class);
            put_at(p + 1 + 2 * id_size + 4, 4, i ? FIELDS_SIZE + 4 : FIELDS_SIZE);
        }
        assert_int_equal(bits_of_subrecord(&k.file, other, &last), 0);
        classes_note_other_size(&k.file.classes, class, FIELDS_SIZE + 4, 1000);
        assert_int_equal(bits_of_subrecord(&k.file, other, &last), 0);
        classes_note_other_size(&k.file.classes, class, FIELDS_SIZE + 4, 2000);
        assert_int_equal(bits_of_subrecord(&k.file, other, &last), bits_of_subrecord(&k.file, right, &last));
        assert_true(bits_of_subrecord(&k.file, right, &last) > 0);
        put_at(other + 1 + 2 * id_size + 4, 4, FIELDS_SIZE + 5);
        assert_int_equal(bits_of_subrecord(&k.file, other, &last), 0);
        forget(&k);
    }
}

static void a_pattern_is_no_row_of_roots(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        uint8_t root[FIXED_MOST] = {0x05}, erased[FIXED_MOST];
        uint64_t last = 0;
        struct known k;

        memset(erased, 0xff, sizeof erased);
        learn(&k, id_size, true, true);
        put_at(root + 1, id_size, k.lowest + 8);
        assert_true(bits_of_subrecord(&k.file, root, &last) > 1);
        assert_int_equal(bits_of_subrecord(&k.file, root, &last), 1); /* again */
        put_at(root + 1, id_size, 0);
        assert_int_equal(bits_of_subrecord(&k.file, root, &last), 0);
        forget(&k);
        learn(&k, id_size, false, false);
        assert_int_equal(bits_of_subrecord(&k.file, erased, &last), 0);
        forget(&k);
    }
}

/* Once a class is known, the IDs of roots are near those of classes. */
static void a_root_far_from_classes_counts_only_before_one_is_known(void **state)
{
    (void)state;
    for (unsigned id_size = 4; id_size <= 8; id_size += 4)
        for (unsigned has_classes = 0; has_classes < 2; has_classes++) {
            uint8_t root[FIXED_MOST] = {0x05};
            uint64_t last = 0;
            struct known k;

            learn(&k, id_size, has_classes, true);
            put_at(root + 1, id_size, 0xf0e0d0c0);
            assert_int_equal(bits_of_subrecord(&k.file, root, &last), has_classes ? 0 : BITS_OF_ROOT);
            put_at(root + 1, id_size, 0);
            assert_int_equal(bits_of_subrecord(&k.file, root, &last), 0);
            forget(&k);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_count_no_more_than_chance_allows),
        cmocka_unit_test(what_a_dump_writes_counts_half_of_that_or_more),
        cmocka_unit_test(what_cannot_be_right_counts_nothing),
        cmocka_unit_test(before_a_class_is_known_what_is_long_counts_nothing),
        cmocka_unit_test(an_object_of_a_lost_class_needs_one_more_sign),
        cmocka_unit_test(a_class_is_known_that_was_loaded_or_dumped),
        cmocka_unit_test(a_size_on_which_two_instances_agree_counts_as_that_of_the_class),
        cmocka_unit_test(a_pattern_is_no_row_of_roots),
        cmocka_unit_test(a_root_far_from_classes_counts_only_before_one_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
