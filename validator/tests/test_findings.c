/* hprof.h: as many findings as were asked for are reported, the first ones, while the totals stay exact; and path, expected
 * and found are complete. Runs in the top directory, on the dumps of corpus/. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account.h"
#include "base/utf8.h"
#include "corpus.h"
#include "dice.h"
#include "dump.h"
#include "forms.h"
#include "hprof/hprof.h"

/* ---- How many are reported -------------------------------------------------------------------------------------- */

static struct account check_capped(const struct bytes *b, uint64_t max_errors, size_t profile)
{
    struct account a;
    struct hprof_options options = options_for(&a);

    options.max_errors = max_errors;
    options.profile = profile;
    account_end(&a, hprof_validate_memory(b->at, b->size, false, &options, NULL));
    return a;
}

static void totals_are_exact_however_little_is_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct account all = check_capped(&corpus[i].bytes, 0, i % 8), one = check_capped(&corpus[i].bytes, 1, i % 8);

        for (size_t rule = 0; rule < hprof_rule_count(); rule++) {
            assert_int_equal(one.totals[rule], all.totals[rule]);
            assert_int_equal(all.findings_of[rule], all.totals[rule]);
            assert_int_equal(one.findings_of[rule], all.totals[rule] ? 1 : 0);
        }
        assert_int_equal(one.status, all.status);
        assert_int_equal(one.summary.errors, all.summary.errors);
        account_free(&all);
        account_free(&one);
    }
}

static void the_first_findings_are_shown(void **state)
{
    static const uint64_t caps[] = {0, 1, 2, 19, 20, 21, 49, 50, 51, 1000, UINT64_MAX};
    struct bytes b = {0};

    (void)state;
    put_header(&b);
    for (unsigned i = 0; i < 51; i++)
        put_string(&b, 1, "again");
    put_heap_summary(&b);
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct account a = check_capped(&b, caps[i], 0);
        uint64_t shown = caps[i] && caps[i] < 50 ? caps[i] : 50;
        const char *at = a.all;

        assert_int_equal(a.findings, shown);
        assert_int_equal(a.summary.warnings, 50);
        for (uint64_t n = 1; n <= shown; n++) {
            char text[40];

            snprintf(text, sizeof text, " at %" PRIx64 " ", 31 + n * (9 + 8 + 5) + 9);
            at = strstr(at, text);
            assert_non_null(at);
        }
        account_free(&a);
    }
    free(b.at);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

/* Puts a class and its instance, with faults that are reported with the name of the class: 200 characters of 2 bytes, or one
 * of 1 byte before them. */
static struct bytes heap_with_name(bool shifted)
{
    struct bytes b = {0};
    char name[402] = "y";
    size_t record;

    for (size_t i = 0; i < 400; i += 2)
        memcpy(name + shifted + i, "\xc3\xa9", 2);
    put_header(&b);
    put_string(&b, 1, "java/lang/Object");
    put_string(&b, 2, name);
    put_class(&b, 1, 0x100, 1);
    put_class(&b, 2, 0x200, 2);
    put_class(&b, 3, 0x300, 2);
    put_class(&b, 4, 0x400, 2);
    record = open_record(&b, 0x1c);
    put_class_dump(&b, 0x100, 0, 0);
    put_class_dump(&b, 0x200, 0x100, 9); /* CLS-017 */
    put_class_dump(&b, 0x300, 0, 0);     /* CLS-012 */
    put_class_dump(&b, 0x400, 0x408, 0); /* CLS-010 */
    put_instance(&b, 0x500, 0x200, 1);   /* OBJ-006 */
    put(&b, 1, 0);
    put_instance(&b, 0x508, 0x200, 0);
    put_instance(&b, 0x508, 0x200, 0);     /* OBJ-004 */
    put_object_array(&b, 0x600, 0x200, 1); /* OBJ-007 */
    put(&b, 8, 0x608);                     /* REF-002 */
    close_record(&b, record);
    close_record(&b, open_record(&b, 0x2c));
    return b;
}

static void expect_whole_text(const char *text)
{
    const char *name = strstr(text, "0x200 (");

    assert_int_equal(utf8_valid((const uint8_t *)text, strlen(text)), strlen(text));
    if (name)
        assert_memory_equal(strchr(name, ')') - 3, "...)", 4);
}

static int expect_whole_texts(void *context, const struct hprof_finding *f)
{
    unsigned *named = context;

    expect_whole_text(f->path);
    expect_whole_text(f->message);
    expect_whole_text(f->expected);
    expect_whole_text(f->found);
    *named += strstr(f->path, "\xc3\xa9") || strstr(f->expected, "\xc3\xa9") || strstr(f->found, "\xc3\xa9");
    return 0;
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    for (int shifted = 0; shifted < 2; shifted++) {
        struct bytes b = heap_with_name(shifted);
        struct hprof_options options;
        unsigned named = 0;

        hprof_options_init(&options);
        options.on_finding = expect_whole_texts;
        options.context = &named;
        assert_int_equal(hprof_validate_memory(b.at, b.size, false, &options, NULL), HPROF_INVALID);
        assert_true(named >= 5);
        free(b.at);
    }
}

/* ---- Before a damaged gzip member ------------------------------------------------------------------------------- */

static struct account check_in_way(const struct bytes *b, uint64_t max_errors, bool as_pipe)
{
    struct account a;
    struct hprof_options options = options_for(&a);

    options.max_errors = max_errors;
    account_end(&a, hprof_validate_memory(b->at, b->size, as_pipe, &options, NULL));
    return a;
}

static void append_compressed(struct bytes *file, const uint8_t *data, size_t size)
{
    struct bytes part = {(uint8_t *)(uintptr_t)data, size, size}, member = compress_gzip(&part);

    append(file, member.at, member.size);
    free(member.at);
}

/* The same string many times, in three members. The second has a wrong checksum, which is found at its end, far from its
 * beginning or near it. All complete strings before it are reported and counted, however the file is read and however little
 * is shown. */
static void findings_before_a_damaged_member_are_exact(void **state)
{
    enum { STRINGS = 150000, SIZE = 9 + 8 + 7, START = 31 };
    struct bytes b = {0};

    (void)state;
    dice = 5;
    put_header(&b);
    for (unsigned i = 0; i < STRINGS; i++)
        put_string(&b, 1, "a name.");
    assert_int_equal(b.size, START + STRINGS * SIZE);
    for (unsigned round = 0; round < 12; round++) {
        size_t from = START + below((uint32_t)b.size / 2), size = 1 + below(round % 2 ? 1000 : (uint32_t)b.size / 2);
        uint64_t whole = (from - START) / SIZE;
        struct bytes file = {0};

        append_compressed(&file, b.at, from);
        append_compressed(&file, b.at + from, size);
        file.at[file.size - 8] ^= 1;
        append_compressed(&file, b.at + from + size, b.size - from - size);
        for (unsigned way = 0; way < 6; way++) {
            struct account a = check_in_way(&file, way % 3, way >= 3);

            assert_int_equal(a.status, HPROF_INVALID);
            assert_int_equal(a.totals[hprof_rule_find("STR-003")], whole ? whole - 1 : 0);
            assert_int_equal(a.totals[hprof_rule_find("GZ-003")], 1);
            assert_int_equal(a.summary.errors, 1);
            assert_int_equal(a.summary.strings, whole);
            assert_int_equal(a.summary.sound_until, START + whole * SIZE);
            assert_int_equal(a.summary.bytes, b.size);
            account_free(&a);
        }
        free(file.at);
    }
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_exact_however_little_is_shown),
        cmocka_unit_test(the_first_findings_are_shown),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(findings_before_a_damaged_member_are_exact),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
