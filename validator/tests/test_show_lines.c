/* hprof_show_fd(): for any dump and any offset, lines are printable and rows are the bytes of the dump. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "corpus.h"
#include "hprof/hprof.h"

struct view {
    const struct bytes *dump; /* NULL if the file is compressed */
    uint64_t asked;
    size_t lines, texts_here, rows_here;
};

static void check_printable(const char *text)
{
    size_t n = strlen(text);

    assert_int_equal(utf8_valid((const uint8_t *)text, n), n);
    for (size_t i = 0; i < n; i++)
        assert_true((uint8_t)text[i] >= 0x20 && text[i] != 0x7f);
}

static int on_line(void *context, const struct hprof_line *line)
{
    struct view *view = context;

    view->lines++;
    check_printable(line->text);
    check_printable(line->remark);
    if (line->bytes) {
        assert_in_range(line->byte_count, 1, 16);
        if (view->dump)
            assert_memory_equal(line->bytes, view->dump->at + line->offset, line->byte_count);
        assert_int_equal(line->here, view->asked >= line->offset && view->asked < line->offset + line->byte_count);
    }
    view->rows_here += line->here && line->bytes;
    view->texts_here += line->here && !line->bytes;
    return 0;
}

static enum hprof_status show_at(int fd, struct view *view, uint64_t offset, uint64_t around)
{
    struct hprof_show show = {
        .struct_size = sizeof show, .offset = offset, .around = around, .on_line = on_line, .context = view};
    struct hprof_show_result result = {.struct_size = sizeof result};
    enum hprof_status status;

    view->asked = offset;
    view->lines = view->texts_here = view->rows_here = 0;
    status = hprof_show_fd(fd, &show, &result);
    assert_int_equal(result.failure[0] == '\0', status == HPROF_VALID);
    check_printable(result.failure);
    if (strncmp(result.failure, "not a heap dump", 15) == 0)
        assert_true(status == HPROF_INVALID && !view->lines);
    else if (status == HPROF_USAGE)
        assert_int_equal(view->lines, 0);
    else
        assert_true(view->rows_here == 1 && view->texts_here >= 1);
    return status;
}

static void check_beyond_end(int fd, struct view *view, uint64_t offset)
{
    enum hprof_status status = show_at(fd, view, offset, 2);

    assert_true(!view->lines && (status == HPROF_USAGE || status == HPROF_INVALID));
}

static int file_of(const struct bytes *bytes)
{
    int fd = memfd_create("dump", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes->at, bytes->size), bytes->size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void any_offset_of_any_dump(void **state)
{
    size_t shown = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *bytes = &corpus[i].bytes;
        struct view view = {.dump = bytes->size && bytes->at[0] == 0x1f ? NULL : bytes};
        size_t stride = bytes->size / 40 + 1;
        int fd = file_of(bytes);

        for (uint64_t offset = 0; offset < bytes->size; offset += stride)
            shown += show_at(fd, &view, offset, i % 4) == HPROF_VALID;
        if (view.dump)
            check_beyond_end(fd, &view, bytes->size);
        check_beyond_end(fd, &view, UINT64_MAX);
        close(fd);
    }
    assert_true(shown > 5000);
}

static void a_dump_that_is_truncated_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i += 7) {
        struct bytes truncated = corpus[i].bytes;
        struct view view = {.dump = truncated.size && truncated.at[0] == 0x1f ? NULL : &truncated};

        while (truncated.size > 40) {
            int fd;

            truncated.size -= truncated.size / 16 + 1;
            fd = file_of(&truncated);
            show_at(fd, &view, truncated.size - 1, 1);
            close(fd);
        }
    }
}

static void *no_memory(void *context, size_t size)
{
    size_t *left = context;

    return *left && (*left)-- ? malloc(size) : NULL;
}

static void give_back(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static void every_allocation_may_fail(void **state)
{
    size_t limits = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i += 20) {
        int fd = file_of(&corpus[i].bytes);

        for (size_t allowed = 0;; allowed++) {
            size_t left = allowed;
            struct hprof_allocator allocator = {no_memory, give_back, &left};
            struct view view = {0};
            struct hprof_show show = {.struct_size = sizeof show,
                                      .offset = 60,
                                      .around = 2,
                                      .allocator = &allocator,
                                      .on_line = on_line,
                                      .context = &view};

            view.asked = show.offset;
            if (hprof_show_fd(fd, &show, NULL) != HPROF_LIMIT)
                break;
            limits++;
        }
        close(fd);
    }
    assert_true(limits > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_offset_of_any_dump),
        cmocka_unit_test(a_dump_that_is_truncated_anywhere),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
