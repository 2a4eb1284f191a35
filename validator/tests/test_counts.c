/* hprof.h: the counts of a dump, and progress while it is read. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account.h"
#include "dump.h"
#include "forms.h"
#include "hprof/hprof.h"

/* ---- Counts ----------------------------------------------------------------------------------------------------- */

/* Object with a static and a constant of type object; String with one reference field; three instances of String, two of
 * which hold null; an array of objects, an array of bytes. */
static struct bytes small_heap(void)
{
    struct bytes b = {0};
    size_t record;

    put_header(&b);
    put_string(&b, 1, "java/lang/Object");
    put_string(&b, 2, "java/lang/String");
    put_string(&b, 3, "[Ljava/lang/Object;");
    put_string(&b, 4, "value");
    put_class(&b, 1, 0x100, 1);
    put_class(&b, 2, 0x200, 2);
    put_class(&b, 3, 0x300, 3);
    record = open_record(&b, 0x1c);
    for (uint64_t class = 1; class <= 3; class ++) {
        put(&b, 1, 0x20);
        put(&b, 8, class << 8);
        put(&b, 4, 0);
        put(&b, 8, class == 1 ? 0 : 0x100);
        for (unsigned i = 0; i < 5; i++)
            put(&b, 8, 0);
        put(&b, 4, class == 2 ? 8 : 0);
        put(&b, 2, class == 1);
        if (class == 1) {
            put(&b, 2, 7);
            put(&b, 1, 2);
            put(&b, 8, 0x400);
        }
        put(&b, 2, class == 1);
        if (class == 1) {
            put(&b, 8, 4);
            put(&b, 1, 2);
            put(&b, 8, 0);
        }
        put(&b, 2, class == 2);
        if (class == 2) {
            put(&b, 8, 4);
            put(&b, 1, 2);
        }
    }
    for (uint64_t i = 0; i < 3; i++) {
        put(&b, 1, 0x21);
        put(&b, 8, 0x400 + 8 * i);
        put(&b, 4, 0);
        put(&b, 8, 0x200);
        put(&b, 4, 8);
        put(&b, 8, i ? 0 : 0x500);
    }
    put_object_array(&b, 0x480, 0x300, 2);
    put(&b, 8, 0x400);
    put(&b, 8, 0);
    put_primitive_array(&b, 0x500, 8, 3);
    put(&b, 3, 0);
    close_record(&b, record);
    close_record(&b, open_record(&b, 0x2c));
    return b;
}

static void counts_are_exact(void **state)
{
    struct bytes b = small_heap();
    struct account a = check_memory(&b, false);
    const struct hprof_summary *s = &a.summary;

    (void)state;
    assert_int_equal(a.status, HPROF_VALID);
    assert_int_equal(a.findings, 0);
    assert_int_equal(s->classes, 3);
    assert_int_equal(s->instances, 3);
    assert_int_equal(s->object_arrays, 1);
    assert_int_equal(s->primitive_arrays, 1);
    assert_int_equal(s->references, 1 + 1 + 3 + 2);
    assert_int_equal(s->strings, 4);
    assert_int_equal(s->record_counts[0x01], 4);
    assert_int_equal(s->record_counts[0x02], 3);
    assert_int_equal(s->record_counts[0x1c], 1);
    assert_int_equal(s->record_counts[0x2c], 1);
    assert_int_equal(s->subrecord_counts[0x20], 3);
    assert_int_equal(s->subrecord_counts[0x21], 3);
    assert_int_equal(s->bytes, b.size);
    assert_int_equal(s->file_bytes, b.size);
    assert_int_equal(s->sound_until, b.size);
    assert_int_equal(s->skipped, 0);
    assert_int_equal(s->timestamp, 1767225600000);
    account_free(&a);
    free(b.at);
}

/* ---- Progress --------------------------------------------------------------------------------------------------- */

struct progress {
    uint64_t calls, last, total;
    bool fell, total_changed;
    int shrink; /* a file to be truncated at the first call, or -1 */
};

static int note_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct progress *p = context;

    p->fell |= bytes < p->last;
    p->total_changed |= p->calls && total != p->total;
    p->last = bytes;
    p->total = total;
    p->calls++;
    if (p->shrink >= 0)
        assert_int_equal(ftruncate(p->shrink, 1 << 20), 0);
    return 0;
}

static struct progress progress_of(const struct bytes *b, bool as_pipe)
{
    struct progress p = {.shrink = -1};
    struct hprof_options options;

    hprof_options_init(&options);
    options.on_progress = note_progress;
    options.context = &p;
    assert_int_equal(hprof_validate_memory(b->at, b->size, as_pipe, &options, NULL), HPROF_VALID);
    return p;
}

static struct bytes large_dump(unsigned strings)
{
    struct bytes b = {0};

    put_header(&b);
    while (strings--) {
        size_t record = open_record(&b, 0x01);

        put(&b, 8, 1);
        close_record(&b, record);
    }
    for (unsigned i = 0; i < 500; i++) {
        size_t record = open_record(&b, 0x1c);

        put_primitive_array(&b, 8 + 8 * i, 8, 100000);
        append(&b, (uint8_t[100000]){0}, 100000);
        close_record(&b, record);
    }
    close_record(&b, open_record(&b, 0x2c));
    return b;
}

static void progress_goes_up_to_the_end(void **state)
{
    struct bytes b = large_dump(0), compressed = compress_gzip(&b);
    struct progress file = progress_of(&b, false), pipe = progress_of(&b, true), gzip = progress_of(&compressed, false);

    (void)state;
    assert_in_range(file.calls, b.size / (16 << 20), b.size >> 20);
    assert_false(file.fell || file.total_changed || pipe.fell || pipe.total_changed || gzip.fell);
    assert_int_equal(file.last, b.size);
    assert_int_equal(file.total, b.size);
    assert_int_equal(pipe.last, b.size);
    assert_int_equal(pipe.total, 0);
    assert_int_equal(gzip.last, compressed.size);
    assert_int_equal(gzip.total, compressed.size);
    free(b.at);
    free(compressed.at);
}

/* The offset of the first of two strings with one ID is found near the start. */
static void progress_ends_with_all_bytes_after_a_second_look(void **state)
{
    struct bytes b = large_dump(2);
    struct progress file = progress_of(&b, false);

    (void)state;
    assert_int_equal(file.last, b.size);
    assert_int_equal(file.total, b.size);
    free(b.at);
}

static int note_failure(void *context, const struct hprof_summary *summary)
{
    (void)context;
    assert_int_equal(summary->status, HPROF_IO);
    assert_non_null(strstr(summary->failure, "the file became shorter while it was read"));
    return 0;
}

static void a_file_that_becomes_shorter_is_reported(void **state)
{
    struct bytes b = large_dump(0);
    int fd = file_of(&b);
    struct progress p = {.shrink = fd};
    struct hprof_options options;

    (void)state;
    hprof_options_init(&options);
    options.on_progress = note_progress;
    options.on_summary = note_failure;
    options.context = &p;
    assert_int_equal(hprof_validate_fd(fd, &options, NULL), HPROF_IO);
    close(fd);
    free(b.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(progress_goes_up_to_the_end),
        cmocka_unit_test(progress_ends_with_all_bytes_after_a_second_look),
        cmocka_unit_test(a_file_that_becomes_shorter_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
