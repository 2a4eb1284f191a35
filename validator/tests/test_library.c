/* hprof.h: bytes come from callbacks as from a file or a pipe; callbacks stop a run; results come back through the caller's
 * structure. Versions of the structures are in test_versions.py. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account.h"
#include "corpus.h"
#include "dump.h"
#include "forms.h"
#include "hprof/hprof.h"
#include "hprof/testing.h"

/* ---- Sources ---- */

struct bytes_source {
    const struct bytes *bytes;
    size_t at, most;   /* most bytes that one call gives */
    size_t fails_from; /* offset */
};

static int64_t give(struct bytes_source *s, uint64_t at, void *to, size_t size)
{
    size_t left = at < s->bytes->size ? s->bytes->size - (size_t)at : 0, n = size < left ? size : left;

    assert_true(size > 0);
    if (at >= s->fails_from)
        return -ECONNRESET;
    n = n < s->most ? n : s->most;
    if (n)
        memcpy(to, s->bytes->at + at, n);
    return (int64_t)n;
}

static int64_t read_next(void *context, void *to, size_t size)
{
    struct bytes_source *s = context;
    int64_t n = give(s, s->at, to, size);

    s->at += n > 0 ? (size_t)n : 0;
    return n;
}

static int64_t read_at(void *context, uint64_t offset, void *to, size_t size)
{
    return give(context, offset, to, size);
}

static struct hprof_source source_of(struct bytes_source *s, bool as_pipe)
{
    struct hprof_source source;

    hprof_source_init(&source);
    source.read = as_pipe ? read_next : NULL;
    source.read_at = as_pipe ? NULL : read_at;
    source.size = as_pipe ? 0 : s->bytes->size;
    source.context = s;
    return source;
}

static struct account check_source(const struct bytes *b, bool as_pipe, size_t most, unsigned threads)
{
    struct bytes_source bytes = {.bytes = b, .most = most, .fails_from = SIZE_MAX};
    struct hprof_source source = source_of(&bytes, as_pipe);
    struct hprof_testing small = {.threads_from = 1, .job_read = 400};
    struct account a;
    struct hprof_options options = options_for(&a);
    struct hprof_summary summary;

    hprof_summary_init(&summary);
    options.threads = threads;
    options.testing = threads > 1 ? &small : NULL;
    account_end(&a, hprof_validate_source(&source, &options, &summary));
    assert_int_equal(summary.status, a.status);
    assert_memory_equal(summary.totals, a.summary.totals, sizeof summary.totals);
    return a;
}

static void callbacks_give_the_report_of_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++)
        for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
            struct account expected = check_memory(&corpus[i].bytes, as_pipe), a;

            for (unsigned way = 0; way < 3; way++) {
                a = check_source(&corpus[i].bytes, as_pipe, way == 1 ? 7 : SIZE_MAX, way == 2 ? 3 : 1);
                assert_string_equal(a.all, expected.all);
                account_free(&a);
            }
            account_free(&expected);
        }
}

static void a_source_that_fails_is_named(void **state)
{
    (void)state;
    for (int as_pipe = 0; as_pipe < 2; as_pipe++)
        for (size_t at = 0; at < corpus[0].bytes.size; at += 5) {
            struct bytes_source bytes = {.bytes = &corpus[0].bytes, .most = 5, .fails_from = at};
            struct hprof_source source = source_of(&bytes, as_pipe);
            struct hprof_options options;
            struct hprof_summary summary;

            hprof_options_init(&options);
            hprof_summary_init(&summary);
            assert_int_equal(hprof_validate_source(&source, &options, &summary), HPROF_IO);
            assert_non_null(strstr(summary.failure, "reset"));
        }
}

static void unusable_sources_are_refused(void **state)
{
    struct hprof_options options;
    struct hprof_summary summary;
    struct hprof_source source;

    (void)state;
    hprof_options_init(&options);
    hprof_summary_init(&summary);
    assert_int_equal(hprof_validate_source(NULL, &options, &summary), HPROF_USAGE);
    assert_non_null(strstr(summary.failure, "no source"));
    hprof_source_init(&source);
    assert_int_equal(hprof_validate_source(&source, &options, &summary), HPROF_USAGE);
    assert_non_null(strstr(summary.failure, "no function"));
    memset(&source, 0, sizeof source);
    assert_int_equal(hprof_validate_source(&source, &options, &summary), HPROF_USAGE);
    assert_non_null(strstr(summary.failure, "_init"));
}

static int64_t read_too_much(void *context, void *to, size_t size)
{
    (void)context;
    memset(to, 0, size);
    return (int64_t)size + 1;
}

static void a_source_that_claims_more_than_was_asked_for_fails(void **state)
{
    struct hprof_options options;
    struct hprof_source source;

    (void)state;
    hprof_options_init(&options);
    hprof_source_init(&source);
    source.read = read_too_much;
    assert_int_equal(hprof_validate_source(&source, &options, NULL), HPROF_IO);
}

/* ---- Stopping ---- */

struct stopper {
    unsigned calls, stop_at; /* the call that stops */
    bool stopped;
};

static int call(struct stopper *s)
{
    assert_false(s->stopped);
    s->stopped = ++s->calls == s->stop_at;
    return s->stopped;
}

static int stop_at_summary(void *context, const struct hprof_summary *summary)
{
    (void)summary;
    return call(context);
}

static int stop_at_finding(void *context, const struct hprof_finding *finding)
{
    assert_true(HPROF_HAS(finding, in_baseline));
    return call(context);
}

static int stop_at_progress(void *context, uint64_t bytes, uint64_t total)
{
    (void)bytes;
    (void)total;
    return call(context);
}

/* Stops at each call in turn, until a run is not stopped. Returns how many runs were. */
static unsigned stop_everywhere(const struct bytes *b, bool as_pipe, unsigned threads)
{
    for (unsigned at = 1;; at++) {
        struct hprof_testing often = {.progress = 1, .threads_from = 1, .job_read = 400};
        struct stopper stopper = {.stop_at = at};
        struct caller caller = {.left = UINT64_MAX};
        struct hprof_allocator allocator = caller_allocator(&caller);
        struct hprof_summary summary;
        struct hprof_options options;
        enum hprof_status status;

        hprof_options_init(&options);
        hprof_summary_init(&summary);
        options.allocator = &allocator;
        options.testing = &often;
        options.threads = threads;
        options.on_summary = stop_at_summary;
        options.on_finding = stop_at_finding;
        options.on_progress = stop_at_progress;
        options.context = &stopper;
        status = hprof_validate_memory(b->at, b->size, as_pipe, &options, &summary);
        assert_true(caller_has_all_back(&caller));
        assert_int_equal(status, summary.status);
        if (!stopper.stopped)
            return at - 1;
        assert_int_equal(status, HPROF_STOPPED);
        assert_non_null(strstr(summary.failure, "stopped by the caller"));
    }
}

static void each_callback_stops_the_run(void **state)
{
    size_t stopped = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i += 3) {
        struct bytes gzip = compress_gzip(&corpus[i].bytes);

        for (int as_pipe = 0; as_pipe < 2; as_pipe++)
            for (unsigned threads = 1; threads < 4; threads += 2) {
                stopped += stop_everywhere(&corpus[i].bytes, as_pipe, threads);
                stopped += stop_everywhere(&gzip, as_pipe, threads);
            }
        free(gzip.at);
    }
    assert_true(stopped > 4 * corpus_size);
}

static FILE *stream_of(const struct bytes *b)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_true(!b->size || fwrite(b->at, 1, b->size, file) == b->size);
    assert_int_equal(fflush(file), 0);
    rewind(file);
    return file;
}

static int stop_at_line(void *context, const struct hprof_line *line)
{
    assert_true(HPROF_HAS(line, byte_count));
    return call(context);
}

static void showing_is_stopped(void **state)
{
    FILE *file = stream_of(&corpus[0].bytes);

    (void)state;
    for (unsigned at = 1;; at++) {
        struct stopper stopper = {.stop_at = at};
        struct hprof_show_result result;
        struct hprof_show show;
        enum hprof_status status;

        hprof_show_init(&show);
        hprof_show_result_init(&result);
        show.around = 10;
        show.on_line = stop_at_line;
        show.context = &stopper;
        status = hprof_show_fd(fileno(file), &show, &result);
        if (!stopper.stopped) {
            assert_int_equal(status, HPROF_VALID);
            assert_true(at > 3);
            break;
        }
        assert_int_equal(status, HPROF_STOPPED);
        assert_string_equal(result.failure, "stopped by the caller");
    }
    fclose(file);
}

static int stop_at_left_out(void *context, const struct hprof_left_out *left_out)
{
    assert_true(HPROF_HAS(left_out, bytes));
    return call(context);
}

static void repairing_is_stopped(void **state)
{
    unsigned stopped = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i += 7)
        for (unsigned at = 1;; at++) {
            struct stopper stopper = {.stop_at = at};
            FILE *from = stream_of(&corpus[i].bytes), *to = tmpfile();
            struct hprof_repair_result result;
            struct hprof_repair repair;
            enum hprof_status status;

            hprof_repair_init(&repair);
            hprof_repair_result_init(&result);
            repair.on_progress = stop_at_progress;
            repair.on_left_out = stop_at_left_out;
            repair.context = &stopper;
            status = hprof_repair_fd(fileno(from), fileno(to), &repair, &result);
            fclose(from);
            fclose(to);
            if (!stopper.stopped)
                break;
            stopped++;
            assert_int_equal(status, HPROF_STOPPED);
            assert_string_equal(result.failure, "stopped by the caller");
        }
    assert_true(stopped > corpus_size / 7);
}

/* ---- Show and repair from callbacks ---- */

static void repairs_from_callbacks_are_those_of_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i += 5)
        for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
            struct bytes_source bytes = {.bytes = &corpus[i].bytes, .most = 11, .fails_from = SIZE_MAX};
            struct hprof_source source = source_of(&bytes, as_pipe);
            struct hprof_repair_result from_file, from_callbacks;
            struct hprof_repair repair;
            FILE *from = stream_of(&corpus[i].bytes), *to = tmpfile(), *other = tmpfile();

            hprof_repair_init(&repair);
            hprof_repair_result_init(&from_file);
            hprof_repair_result_init(&from_callbacks);
            assert_int_equal(hprof_repair_fd(fileno(from), fileno(to), &repair, &from_file),
                             hprof_repair_source(&source, fileno(other), &repair, &from_callbacks));
            assert_memory_equal(&from_file, &from_callbacks, sizeof from_file);
            fclose(from);
            fclose(to);
            fclose(other);
        }
}

static void only_sources_with_offsets_are_shown(void **state)
{
    struct bytes_source bytes = {.bytes = &corpus[0].bytes, .most = 11, .fails_from = SIZE_MAX};
    struct hprof_source source = source_of(&bytes, false), pipe = source_of(&bytes, true);
    struct hprof_show show;

    (void)state;
    hprof_show_init(&show);
    assert_int_equal(hprof_show_source(&source, &show, NULL), HPROF_VALID);
    assert_int_equal(hprof_show_source(&pipe, &show, NULL), HPROF_USAGE);
}

static void the_library_says_its_version(void **state)
{
    (void)state;
    assert_string_equal(hprof_version(), HPROF_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_give_the_report_of_the_same_bytes),
        cmocka_unit_test(a_source_that_fails_is_named),
        cmocka_unit_test(unusable_sources_are_refused),
        cmocka_unit_test(a_source_that_claims_more_than_was_asked_for_fails),
        cmocka_unit_test(each_callback_stops_the_run),
        cmocka_unit_test(showing_is_stopped),
        cmocka_unit_test(repairing_is_stopped),
        cmocka_unit_test(repairs_from_callbacks_are_those_of_files),
        cmocka_unit_test(only_sources_with_offsets_are_shown),
        cmocka_unit_test(the_library_says_its_version),
    };

    return cmocka_run_group_tests(tests, load_corpus, NULL);
}
