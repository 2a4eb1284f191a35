/* Recognizes each producer, and each version of HotSpot, by its quirks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump.h"
#include "hprof/hprof.h"

static int note_producer(void *context, const struct hprof_summary *summary)
{
    snprintf(context, 100, "%s, %s", summary->producer, hprof_profile_at(summary->profile)->name);
    return 0;
}

static void expect_producer(const struct bytes *b, const char *expected)
{
    struct hprof_options options;
    char producer[100] = "";

    hprof_options_init(&options);
    options.profile = hprof_profile_find("auto");
    options.on_summary = note_producer;
    options.context = producer;
    hprof_validate_memory(b->at, b->size, false, &options, NULL);
    assert_string_equal(producer, expected);
}

static void put_empty_trace(struct bytes *b, uint32_t thread)
{
    size_t record = open_record(b, 0x05);

    put(b, 4, 1);
    put(b, 4, thread);
    put(b, 4, 0);
    close_record(b, record);
}

/* A dumped class of that name, with or without a sticky class root. */
static void put_heap(struct bytes *b, const char *name, bool sticky)
{
    size_t record;

    put_string(b, 1, name);
    put_class(b, 1, 0x100, 1);
    record = open_record(b, 0x1c);
    put_class_dump(b, 0x100, 0, 0);
    put(b, 1, sticky ? 0x05 : 0xff);
    put(b, 8, 0x100);
    close_record(b, record);
    close_record(b, open_record(b, 0x2c));
}

static void hotspot_is_recognized_by_its_classes(void **state)
{
    static const struct {
        const char *class, *producer;
    } cases[] = {
        {"java/lang/Object", "HotSpot, hotspot"},
        {"java/lang/reflect/Executable", "HotSpot 8, hotspot"},
        {"java/lang/Module", "HotSpot 9 to 16, hotspot"},
        {"java/util/HexFormat", "HotSpot 17 to 20, hotspot"},
        {"java/util/SequencedCollection", "HotSpot 21 to 24, hotspot"},
        {"java/lang/ClassFrameInfo", "HotSpot 25, hotspot"},
        {"java/lang/LazyConstant", "HotSpot 26 or 27, hotspot"},
        {"jdk/internal/value/ValueClass", "HotSpot 28 or later, hotspot"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = {0};

        put_header(&b);
        put_string(&b, 2, "java/lang/Module2"); /* a string is not a class */
        put_empty_trace(&b, 0);
        put_heap(&b, cases[i].class, true);
        expect_producer(&b, cases[i].producer);
        free(b.at);
    }
}

static void others_are_recognized_by_their_quirks(void **state)
{
    struct bytes sa = {0}, mat = {0}, svm = {0}, nobody = {0};

    (void)state;
    put_header(&sa);
    put_empty_trace(&sa, 0);
    put_heap(&sa, "java/lang/Object", false);
    expect_producer(&sa, "the serviceability agent (jhsdb jmap), sa");

    put_header(&mat);
    put_empty_trace(&mat, 1);
    put_string(&mat, 3, "java.lang.Object[]");
    put_class(&mat, 3, 0x300, 3);
    put_heap(&mat, "java.lang.Object", true);
    expect_producer(&mat, "Eclipse MAT, mat");

    put_header(&svm);
    put_heap(&svm, "com.oracle.svm.core.Heap", true);
    expect_producer(&svm, "GraalVM native image, graalvm");

    put_header(&nobody);
    put_heap(&nobody, "Object", true);
    expect_producer(&nobody, ", strict");
    free(sa.at);
    free(mat.at);
    free(svm.at);
    free(nobody.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hotspot_is_recognized_by_its_classes),
        cmocka_unit_test(others_are_recognized_by_their_quirks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
