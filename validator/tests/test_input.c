/* input.h: a reader sees the same bytes from every source and with every block size; a failing read or allocation only ends
 * the stream. */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "forms.h"
#include "input/input.h"
#include "inputs.h"

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

/* A thread that feeds a pipe in pieces of random size. */
struct feeder {
    pthread_t thread;
    int read_end, write_end;
    const struct bytes *bytes;
    uint32_t largest;      /* of a piece */
    pthread_t interrupted; /* gets signals, if `signals` */
    bool signals;
    uint64_t seed;
};

static void *feed(void *argument)
{
    struct feeder *f = argument;
    size_t at = 0;

    while (at < f->bytes->size) {
        size_t n;
        ssize_t written;

        f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
        n = 1 + (f->seed >> 33) % f->largest;
        if (n > f->bytes->size - at)
            n = f->bytes->size - at;
        if (f->signals) {
            usleep(300);
            pthread_kill(f->interrupted, SIGUSR1);
            usleep(300);
        }
        written = write(f->write_end, f->bytes->at + at, n);
        if (written < 0)
            break; /* the reader closed its end */
        at += (size_t)written;
    }
    close(f->write_end);
    return NULL;
}

static void start_feeder(struct feeder *f, const struct bytes *bytes, uint32_t largest, bool signals)
{
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    *f = (struct feeder){.read_end = ends[0],
                         .write_end = ends[1],
                         .bytes = bytes,
                         .largest = largest,
                         .interrupted = pthread_self(),
                         .signals = signals,
                         .seed = dice};
    assert_int_equal(pthread_create(&f->thread, NULL, feed, f), 0);
}

static void stop_feeder(struct feeder *f)
{
    close(f->read_end);
    pthread_join(f->thread, NULL);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Small blocks are for small files alone: threads hand on each of them. */
static void walk_everywhere(const struct bytes *data, const struct bytes *file)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        struct feeder feeder;
        struct stream *s;
        int fd;

        if (data->size / blocks[i] > 10000)
            continue;
        fd = file_of(file);
        s = open_source(source_of_fd(fd), blocks[i]);
        walk(s, data, 150);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
        close_stream(s);
        close(fd);

        s = open_source(source_of_memory(file->at, file->size, false), blocks[i]);
        walk(s, data, 150);
        close_stream(s);

        s = open_source(source_of_memory(file->at, file->size, true), blocks[i]);
        assert_false(input_can_reread(&s->in));
        assert_false(input_seek(&s->in, 0));
        walk(s, data, 30);
        close_stream(s);

        start_feeder(&feeder, file, 1 + below(100000), false);
        s = open_source(source_of_fd(feeder.read_end), blocks[i]);
        assert_false(input_can_reread(&s->in));
        assert_int_equal(input_file_size(&s->in), 0);
        walk(s, data, 30);
        stop_feeder(&feeder);
        close_stream(s);
    }
}

static void reads_plain_bytes_the_same_from_everywhere(void **state)
{
    (void)state;
    dice = 1;
    for (int round = 0; round < 4; round++) {
        struct bytes data = random_bytes(1 + below(round == 0 ? 300000 : round == 3 ? 20000 : 100000));

        walk_everywhere(&data, &data);
        free(data.at);
    }
}

static void reads_compressed_bytes_the_same_from_everywhere(void **state)
{
    static const uint32_t largest[] = {3000000, 200000, 5000, 100};

    (void)state;
    dice = 2;
    for (int round = 0; round < 4; round++) {
        struct bytes data = random_bytes(1 + below(round == 0 ? 150000 : round == 3 ? 20000 : 60000));
        struct bytes file = compress_in_members(&data, largest[round]);

        walk_everywhere(&data, &file);
        free(data.at);
        free(file.at);
    }
}

static void reads_memory_where_it_lies(void **state)
{
    struct bytes data;
    struct stream *s = new_stream();

    (void)state;
    dice = 3;
    data = random_bytes(50000);
    assert_true(
        input_open(&s->in, source_of_memory(data.at, data.size, false), 0, &usual_sizes, &s->memory, listen, &s->findings));
    assert_int_equal(input_file_size(&s->in), data.size);
    walk(s, &data, 500);
    assert_true(input_seek(&s->in, 1234));
    assert_ptr_equal(s->in.at, data.at + 1234);
    assert_int_equal(input_file_position(&s->in), 1234);
    assert_int_equal(s->memory.peak, 0);
    close_stream(s);

    s = new_stream();
    assert_true(
        input_open(&s->in, source_of_memory(data.at, data.size, true), 0, &usual_sizes, &s->memory, listen, &s->findings));
    walk(s, &data, 50);
    close_stream(s);

    s = new_stream();
    assert_true(input_open(&s->in, source_of_memory(NULL, 0, false), 0, &usual_sizes, &s->memory, listen, &s->findings));
    expect_all(s, NULL, 0);
    assert_int_equal(input_skip(&s->in, 5), 0);
    assert_true(input_seek(&s->in, 0));
    assert_false(input_seek(&s->in, 1));
    close_stream(s);
    free(data.at);
}

static void begins_at_the_position_of_the_descriptor(void **state)
{
    struct bytes data, file = {0};
    struct stream *s;
    int fd;

    (void)state;
    dice = 4;
    data = random_bytes(20000);
    append(&file, "\x1f\x8b in front", 10);
    append(&file, data.at, data.size);
    fd = file_of(&file);
    assert_int_equal(lseek(fd, 10, SEEK_SET), 10);
    s = open_source(source_of_fd(fd), 4096);
    assert_int_equal(input_file_size(&s->in), data.size);
    expect_all(s, data.at, data.size);
    assert_int_equal(input_file_position(&s->in), data.size);
    walk(s, &data, 200);
    close_stream(s);

    assert_int_equal(lseek(fd, 1000000, SEEK_SET), 1000000);
    s = open_source(source_of_fd(fd), 4096);
    assert_int_equal(input_file_size(&s->in), 0);
    expect_all(s, NULL, 0);
    close_stream(s);
    close(fd);
    free(data.at);
    free(file.at);
}

static void a_short_file_is_just_short(void **state)
{
    static const char *const texts[] = {"", "\x1f", "\x8b", "\x1f\x1f", "\x8b\x1f", "J"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t size = strlen(texts[i]);
        struct stream *s = open_source(source_of_memory(texts[i], size, true), 2);

        assert_false(s->in.compressed);
        expect_all(s, (const uint8_t *)texts[i], size);
        assert_int_equal(s->findings.count, 0);
        close_stream(s);
    }
}

static void skips_a_terabyte_without_reading_it(void **state)
{
    static const off_t size = (off_t)1 << 40;
    struct bytes nothing = {0};
    struct stream *s = new_stream();
    int fd = file_of(&nothing);

    (void)state;
    if (ftruncate(fd, size) == 0) {
        assert_true(input_open(&s->in, source_of_fd(fd), 0, &usual_sizes, &s->memory, listen, &s->findings));
        assert_int_equal(input_skip(&s->in, (uint64_t)size - 5), (uint64_t)size - 5);
        assert_int_equal(input_need(&s->in, 100), 5);
        assert_true(input_seek(&s->in, 1));
        assert_int_equal(input_skip(&s->in, UINT64_MAX), (uint64_t)size - 1);
        assert_true(s->in.ended);
        assert_true(input_seek(&s->in, (uint64_t)size));
        assert_false(input_seek(&s->in, UINT64_MAX));
        close_stream(s);
    } else {
        free(s);
    }
    close(fd);
}

static void the_buffer_grows_with_bytes_not_with_requests(void **state)
{
    struct bytes data;
    struct stream *s;

    (void)state;
    dice = 5;
    data = random_bytes(300000);
    s = open_source(source_of_memory(data.at, data.size, true), 1000);
    assert_int_equal(input_need(&s->in, 100), 1000);
    assert_int_equal(input_skip(&s->in, data.size - 500), data.size - 500);
    assert_int_equal(input_need(&s->in, SIZE_MAX), 500);
    assert_true(s->memory.peak < 100000);
    close_stream(s);

    s = open_source(source_of_memory(data.at, data.size, true), 1000);
    assert_int_equal(input_need(&s->in, SIZE_MAX), data.size);
    assert_memory_equal(s->in.at, data.at, data.size);
    assert_true(s->memory.peak < 8 * data.size);
    close_stream(s);
    free(data.at);
}

/* ---- When reading fails ----------------------------------------------------------------------------------------- */

static void no_signal(int number)
{
    (void)number;
}

static void signals_do_not_disturb(void **state)
{
    struct sigaction action = {.sa_handler = no_signal};
    struct bytes data;
    struct feeder feeder;
    struct stream *s;

    (void)state;
    dice = 6;
    data = random_bytes(3000);
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        start_feeder(&feeder, &data, 50, true);
        if (nonblocking)
            assert_int_equal(fcntl(feeder.read_end, F_SETFL, O_NONBLOCK), 0);
        s = open_source(source_of_fd(feeder.read_end), 4096);
        expect_all(s, data.at, data.size);
        stop_feeder(&feeder);
        close_stream(s);
    }
    free(data.at);
}

static void expect_failure_to_open(int fd, int error)
{
    struct stream *s = new_stream();

    assert_false(input_open(&s->in, source_of_fd(fd), 0, &usual_sizes, &s->memory, listen, &s->findings));
    assert_int_equal(s->in.error, error);
    assert_true(s->in.ended);
    assert_int_equal(input_need(&s->in, 1), 0);
    close_stream(s);
}

static void what_cannot_be_read_is_an_error(void **state)
{
    struct bytes data;
    int directory = open(".", O_RDONLY), ends[2];

    (void)state;
    dice = 7;
    data = random_bytes(10);
    assert_true(directory >= 0);
    expect_failure_to_open(directory, EISDIR);
    close(directory);
    expect_failure_to_open(directory, EBADF);
    assert_int_equal(pipe(ends), 0);
    expect_failure_to_open(ends[1], EBADF);
    close(ends[0]);
    close(ends[1]);
    free(data.at);
}

/* Reading the memory of the process as a file fails where nothing is mapped. */
static void a_read_that_fails_midway_ends_the_stream(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/proc/self/mem", O_RDONLY);
    struct bytes data, file;
    struct stream *s;

    (void)state;
    assert_true(pages != MAP_FAILED);
    if (fd < 0 || lseek(fd, (off_t)(uintptr_t)pages, SEEK_SET) < 0)
        skip();
    dice = 8;
    data = random_bytes(page);
    file = one_member("it is not the file that is at fault");
    memcpy(pages, data.at, page);
    munmap(pages + page, page);

    s = open_source(source_of_fd(fd), 1000);
    assert_int_equal(input_need(&s->in, SIZE_MAX), page);
    assert_memory_equal(s->in.at, data.at, page);
    assert_int_equal(s->in.error, EIO);
    assert_true(s->in.ended);
    assert_false(input_seek(&s->in, 5));
    close_stream(s);

    /* Within each part of a gzip member, and after it: no fault of the file is reported. */
    for (size_t n = 2; n <= file.size + 1; n++) {
        memcpy(pages + page - smaller(n, file.size), file.at, smaller(n, file.size));
        if (n > file.size) {
            memmove(pages + page - n, pages + page - file.size, file.size);
            pages[page - 1] = 0x1f;
        }
        assert_int_not_equal(lseek(fd, (off_t)(uintptr_t)(pages + page - n), SEEK_SET), -1);
        s = open_source(source_of_fd(fd), 1000);
        while (input_need(&s->in, 1))
            input_advance(&s->in, 1);
        assert_int_equal(s->in.error, EIO);
        assert_int_equal(s->findings.count, 0);
        close_stream(s);
    }
    munmap(pages, page);
    close(fd);
    free(data.at);
    free(file.at);
}

static void a_file_that_shrinks_is_an_error(void **state)
{
    struct bytes data;

    (void)state;
    dice = 9;
    data = random_bytes(100000);
    for (int way = 0; way < 4; way++) {
        int fd = file_of(&data);
        struct stream *s = open_source(source_of_fd(fd), 4096);

        assert_int_equal(ftruncate(fd, 50000), 0);
        if (way == 0)
            assert_int_equal(input_need(&s->in, SIZE_MAX), 50000);
        else if (way == 1)
            assert_true(input_skip(&s->in, 99990) <= 99990);
        else if (way == 2)
            assert_true(input_skip(&s->in, UINT64_MAX) < 100000);
        else
            assert_true(input_seek(&s->in, 70000));
        assert_true(input_need(&s->in, SIZE_MAX) <= 50000);
        assert_int_equal(s->in.error, ESTALE);
        close_stream(s);
        close(fd);
    }
    free(data.at);
}

static void a_file_that_grows_is_read_to_its_end(void **state)
{
    struct bytes data;

    (void)state;
    dice = 10;
    data = random_bytes(100000);
    for (int way = 0; way < 2; way++) {
        int fd = file_of(&data);
        struct stream *s = open_source(source_of_fd(fd), 4096);

        assert_int_equal(pwrite(fd, data.at, 50000, (off_t)data.size), 50000);
        if (way == 0)
            assert_int_equal(input_need(&s->in, SIZE_MAX), 150000);
        else
            assert_int_equal(input_skip(&s->in, UINT64_MAX), 150000);
        assert_int_equal(s->in.error, 0);
        assert_true(input_seek(&s->in, 120000));
        assert_int_equal(input_need(&s->in, 30000), 30000);
        assert_memory_equal(s->in.at, data.at + 20000, 30000);
        close_stream(s);
        close(fd);
    }
    free(data.at);
}

static void any_allocation_may_fail(void **state)
{
    struct bytes data, file;

    (void)state;
    dice = 11;
    data = random_bytes(3000000);
    file = compress_in_members(&data, 1000000);
    for (int compressed = 0; compressed < 2; compressed++) {
        const struct bytes *b = compressed ? &file : &data;
        bool enough = false;

        for (size_t allocations = 0; !enough; allocations++) {
            struct stream *s = new_stream();

            s->caller.left = allocations;
            if (input_open(&s->in, source_of_memory(b->at, b->size, true), 0, &usual_sizes, &s->memory, listen, &s->findings)) {
                size_t have = input_need(&s->in, data.size);

                enough = have == data.size;
                assert_memory_equal(s->in.at, data.at, have);
            } else {
                assert_int_equal(input_need(&s->in, 1), 0);
            }
            assert_int_equal(s->memory.exhausted, !enough);
            assert_int_equal(s->in.error, 0);
            close_stream(s);
            assert_true(allocations < 20);
        }
    }
    free(data.at);
    free(file.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_plain_bytes_the_same_from_everywhere),
        cmocka_unit_test(reads_compressed_bytes_the_same_from_everywhere),
        cmocka_unit_test(reads_memory_where_it_lies),
        cmocka_unit_test(begins_at_the_position_of_the_descriptor),
        cmocka_unit_test(a_short_file_is_just_short),
        cmocka_unit_test(skips_a_terabyte_without_reading_it),
        cmocka_unit_test(the_buffer_grows_with_bytes_not_with_requests),
        cmocka_unit_test(signals_do_not_disturb),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
        cmocka_unit_test(a_read_that_fails_midway_ends_the_stream),
        cmocka_unit_test(a_file_that_shrinks_is_an_error),
        cmocka_unit_test(a_file_that_grows_is_read_to_its_end),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
