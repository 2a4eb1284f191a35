/* hprof.h: a dump that is fed in pieces gives the report of a pipe, within its memory, and without a thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account.h"
#include "corpus.h"
#include "dice.h"
#include "each_allocation.h"
#include "forms.h"
#include "hprof/hprof.h"

/* Pieces of `most` bytes at most, or of random sizes if it is 0. */
static enum hprof_status feed(const struct bytes *b, size_t most, const struct hprof_options *options,
                              struct hprof_summary *summary)
{
    struct hprof_feeder *feeder = hprof_feeder_open(options);
    bool wanted = true;

    for (size_t at = 0; at < b->size && wanted;) {
        size_t left = b->size - at, n = most ? most : below(4) ? below(100) : below(100000);

        n = n < left ? n : left;
        wanted = hprof_feed(feeder, b->at + at, n);
        at += n;
    }
    return hprof_finish(feeder, summary);
}

static void pieces_give_the_report_of_a_pipe(void **state)
{
    (void)state;
    shake_dice();
    for (size_t i = 0; i < corpus_size; i++) {
        struct account expected = check_memory(&corpus[i].bytes, true);

        for (size_t most = 0; most < 3; most++) {
            struct account a;
            struct hprof_options options = options_for(&a);
            struct hprof_summary summary;

            hprof_summary_init(&summary);
            account_end(&a, feed(&corpus[i].bytes, most, &options, &summary));
            assert_string_equal(a.all, expected.all);
            assert_int_equal(summary.status, expected.status);
            assert_memory_equal(summary.totals, a.summary.totals, sizeof summary.totals);
            account_free(&a);
        }
        account_free(&expected);
    }
}

static void compressed_pieces_give_the_report_of_a_pipe(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i += 7) {
        struct bytes file = compress_gzip(&corpus[i].bytes);
        struct account expected = check_memory(&file, true), a;
        struct hprof_options options = options_for(&a);

        account_end(&a, feed(&file, 0, &options, NULL));
        assert_string_equal(a.all, expected.all);
        account_free(&a);
        account_free(&expected);
        free(file.at);
    }
}

/* ---- A large dump, which is never in memory ---- */

/* Segments of strings and arrays, one like the other: SEGMENTS of them are a GB. Sanitizers make a piece cost more. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined __clang__
enum { SEGMENTS = 32 };
#else
enum { SEGMENTS = 1024 };
#endif
enum { ARRAY = (1 << 20) - 100, PIECE = 7, ID = 9 + 1 + 4 /* the low half of the array's ID */ };

struct large {
    struct bytes head, segment;
    uint64_t at, size;
};

static struct large make_large(void)
{
    struct large l = {0};

    size_t record;

    put_header(&l.head);
    record = open_record(&l.segment, 0x1c);
    put_primitive_array(&l.segment, 0, 8, ARRAY); /* the ID: see next_bytes() */
    for (size_t i = 0; i < ARRAY; i++)
        put(&l.segment, 1, i & 0xff);
    close_record(&l.segment, record);
    l.size = l.head.size + SEGMENTS * l.segment.size;
    return l;
}

/* The next bytes, `most` at most, which stay until the next call. */
static const uint8_t *next_bytes(struct large *l, size_t most, size_t *n)
{
    uint64_t within = l->at - l->head.size, at = within % l->segment.size;

    if (l->at < l->head.size) {
        *n = l->head.size - (size_t)l->at;
        at = l->at;
    } else {
        *n = l->at < l->size ? l->segment.size - (size_t)at : 0;
        for (unsigned i = 0; i < 4; i++)
            l->segment.at[ID + i] = (uint8_t)((within / l->segment.size + 1) >> 8 * (3 - i));
    }
    *n = *n < most ? *n : most;
    l->at += *n;
    return (l->at <= l->head.size ? l->head.at : l->segment.at) + at;
}

static int64_t read_large(void *context, void *to, size_t size)
{
    size_t n;
    const uint8_t *bytes = next_bytes(context, size, &n);

    memcpy(to, bytes, n);
    return (int64_t)n;
}

/* Threads of this process. */
static unsigned count_threads(void)
{
    char line[256];
    unsigned threads = 0;
    FILE *status = fopen("/proc/self/status", "r");

    while (status && fgets(line, sizeof line, status))
        sscanf(line, "Threads: %u", &threads);
    if (status)
        fclose(status);
    return threads;
}

static void a_gigabyte_in_pieces_of_7_bytes_takes_the_memory_of_a_pipe(void **state)
{
    struct large l = make_large();
    struct hprof_source source;
    struct hprof_feeder *feeder;
    struct caller callers[2] = {{.left = UINT64_MAX}, {.left = UINT64_MAX}};
    struct hprof_allocator allocators[2] = {caller_allocator(&callers[0]), caller_allocator(&callers[1])};
    struct hprof_options options;
    struct hprof_summary piped, fed;
    unsigned threads = count_threads(), most_threads = 0;
    size_t n;

    (void)state;
    hprof_options_init(&options);
    hprof_summary_init(&piped);
    hprof_summary_init(&fed);
    hprof_source_init(&source);
    source.read = read_large;
    source.context = &l;
    options.allocator = &allocators[0];
    assert_in_range(hprof_validate_source(&source, &options, &piped), HPROF_VALID, HPROF_INVALID);

    l.at = 0;
    options.allocator = &allocators[1];
    options.threads = 8;
    feeder = hprof_feeder_open(&options);
    for (uint64_t pieces = 0;; pieces++) {
        const uint8_t *bytes = next_bytes(&l, PIECE, &n);

        if (!n)
            break;
        assert_true(hprof_feed(feeder, bytes, n));
        if (pieces % (1 << 20) == 0 && count_threads() > most_threads)
            most_threads = count_threads();
    }
    assert_int_equal(hprof_finish(feeder, &fed), piped.status);
    assert_int_equal(fed.bytes, l.size);
    assert_memory_equal(&fed, &piped, sizeof fed);
    assert_int_equal(most_threads, threads);
    assert_true(callers[1].peak <= callers[0].peak + (256 << 10));
    for (int i = 0; i < 2; i++)
        assert_true(caller_has_all_back(&callers[i]));
    free(l.head.at);
    free(l.segment.at);
}

/* ---- What goes wrong ---- */

static void feed_with(struct caller *caller, void *context)
{
    struct hprof_allocator allocator = caller_allocator(caller);
    struct hprof_options options;
    struct hprof_summary summary;

    hprof_options_init(&options);
    hprof_summary_init(&summary);
    options.allocator = &allocator;
    feed(context, 100, &options, &summary);
    assert_true(caller->refused == (summary.status == HPROF_LIMIT));
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation_of(feed_with, &corpus[below((uint32_t)corpus_size)].bytes);
}

/* Pieces of a MiB of this byte, until no more are wanted: how many. */
static int count_pieces(uint8_t byte)
{
    enum { SIZE = 1 << 20, MOST = 64 };
    uint8_t *bytes = malloc(SIZE);
    struct hprof_options options;
    struct hprof_feeder *feeder;
    int count = 1;

    memset(bytes, byte, SIZE);
    hprof_options_init(&options);
    feeder = hprof_feeder_open(&options);
    assert_true(hprof_feed(feeder, NULL, 0));
    assert_true(hprof_feed(feeder, bytes, 1));
    while (hprof_feed(feeder, bytes, SIZE) && count < MOST)
        count++;
    assert_false(hprof_feed(feeder, bytes, SIZE));
    assert_int_equal(hprof_finish(feeder, NULL), HPROF_INVALID);
    free(bytes);
    return count;
}

static void what_is_no_dump_needs_no_more_bytes(void **state)
{
    (void)state;
    assert_int_equal(count_pieces('x'), 1);
    assert_in_range(count_pieces(0), 16, 17); /* a dump may follow as many zeros */
}

static void wrong_options_are_refused_at_the_end(void **state)
{
    struct hprof_options options;
    struct hprof_summary summary;
    struct hprof_allocator allocator = {0};
    struct hprof_feeder *feeder;

    (void)state;
    hprof_summary_init(&summary);
    for (unsigned i = 0; i < 4; i++) {
        hprof_options_init(&options);
        if (i == 1)
            memset(&options, 0, sizeof options);
        else if (i == 2)
            options.profile = 1000;
        else if (i == 3)
            options.allocator = &allocator;
        feeder = hprof_feeder_open(i ? &options : NULL);
        assert_non_null(feeder);
        assert_false(hprof_feed(feeder, "JAVA", 4));
        assert_int_equal(hprof_finish(feeder, &summary), HPROF_USAGE);
        assert_string_not_equal(summary.failure, "");
    }
    hprof_options_init(&options);
    memset(&summary, 0, sizeof summary);
    assert_int_equal(hprof_finish(hprof_feeder_open(&options), &summary), HPROF_USAGE);
    hprof_summary_init(&summary);
    assert_false(hprof_feed(NULL, "JAVA", 4));
    assert_int_equal(hprof_finish(NULL, &summary), HPROF_LIMIT);
}

static int stop(void *context, uint64_t bytes, uint64_t total)
{
    (void)total;
    *(uint64_t *)context = bytes;
    return 1;
}

static void a_callback_stops_the_check_between_two_pieces(void **state)
{
    struct large l = make_large();
    struct hprof_options options;
    struct hprof_summary summary;
    struct hprof_feeder *feeder;
    uint64_t stopped_at = 0;
    const uint8_t *bytes;
    size_t n;

    (void)state;
    hprof_options_init(&options);
    hprof_summary_init(&summary);
    options.on_progress = stop;
    options.context = &stopped_at;
    feeder = hprof_feeder_open(&options);
    do
        bytes = next_bytes(&l, 10000, &n);
    while (n && hprof_feed(feeder, bytes, n));
    assert_true(n > 0 && stopped_at > 0);
    assert_int_equal(hprof_finish(feeder, &summary), HPROF_STOPPED);
    assert_non_null(strstr(summary.failure, "stopped by the caller"));
    free(l.head.at);
    free(l.segment.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_give_the_report_of_a_pipe),
        cmocka_unit_test(compressed_pieces_give_the_report_of_a_pipe),
        cmocka_unit_test(a_gigabyte_in_pieces_of_7_bytes_takes_the_memory_of_a_pipe),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(what_is_no_dump_needs_no_more_bytes),
        cmocka_unit_test(wrong_options_are_refused_at_the_end),
        cmocka_unit_test(a_callback_stops_the_check_between_two_pieces),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
