/* input.h: whatever the bytes come from and however they are cut, a reader sees the same bytes; each fault of a gzip file is
 * told once, at its place; a failing read or allocator ends the stream and nothing else. */
#define _POSIX_C_SOURCE 200809L
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
#include <zlib.h>

#include "input.h"

/* ---- Bytes, random but the same in every run -------------------------------------------------------------------- */

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % n);
}

struct bytes {
    uint8_t *at;
    size_t size;
    size_t capacity;
};

static void append(struct bytes *b, const void *more, size_t n)
{
    if (b->size + n > b->capacity) {
        b->capacity = (b->size + n) * 2;
        b->at = realloc(b->at, b->capacity);
        assert_non_null(b->at);
    }
    if (n > 0)
        memcpy(b->at + b->size, more, n);
    b->size += n;
}

static struct bytes copy_of(const struct bytes *b)
{
    struct bytes copy = {0};

    append(&copy, b->at, b->size);
    return copy;
}

/* Compresses about as well as a heap dump: runs, repeats and noise. */
static struct bytes random_bytes(size_t size)
{
    struct bytes b = {malloc(size + 1), 0, size + 1};

    while (b.size < size) {
        size_t n = 1 + below(300);
        uint32_t kind = below(3), distance = 1 + below(40000);

        for (; n > 0 && b.size < size; n--, b.size++) {
            if (kind == 0 || b.size < distance)
                b.at[b.size] = (uint8_t)below(256);
            else
                b.at[b.size] = kind == 1 ? b.at[b.size - distance] : 0;
        }
    }
    return b;
}

/* ---- gzip files ------------------------------------------------------------------------------------------------- */

struct member_options {
    int level;
    int strategy;
    const char *comment;
    const char *name;
    unsigned extra_size; /* up to 100 */
    bool header_crc;
};

static void append_member(struct bytes *file, const uint8_t *data, size_t size, const struct member_options *options)
{
    static uint8_t extra[100];
    gz_header header = {.comment = (Bytef *)(uintptr_t)options->comment,
                        .name = (Bytef *)(uintptr_t)options->name,
                        .extra = options->extra_size ? extra : NULL,
                        .extra_len = options->extra_size,
                        .hcrc = options->header_crc,
                        .os = 3};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    uint8_t block[5000];
    int result;

    assert_int_equal(deflateInit2(&z, options->level, Z_DEFLATED, 31, 8, options->strategy), Z_OK);
    assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
    do {
        z.next_out = block;
        z.avail_out = sizeof block;
        result = deflate(&z, Z_FINISH);
        append(file, block, sizeof block - z.avail_out);
    } while (result == Z_OK);
    assert_int_equal(result, Z_STREAM_END);
    deflateEnd(&z);
}

static void append_random_member(struct bytes *file, const uint8_t *data, size_t size)
{
    static const int levels[] = {0, 1, 6}, strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY};
    struct member_options options = {.level = levels[below(3)],
                                     .strategy = strategies[below(3)],
                                     .comment = below(4) ? NULL : "HPROF BLOCKSIZE=1048576",
                                     .name = below(4) ? NULL : "heap.hprof",
                                     .extra_size = below(4) ? 0 : below(100),
                                     .header_crc = below(3) == 0};

    append_member(file, data, size, &options);
}

/* Members of up to `largest` bytes each, empty ones among them. */
static struct bytes compress_in_members(const struct bytes *data, uint32_t largest)
{
    struct bytes file = {0};
    size_t at = 0;

    append_random_member(&file, data->at, 0);
    while (at < data->size) {
        size_t size = below(5) ? below(largest + 1) : 0;

        if (size > data->size - at)
            size = data->size - at;
        append_random_member(&file, data->at + at, size);
        at += size;
    }
    return file;
}

static struct bytes one_member(const char *text)
{
    static const struct member_options plain = {.level = 6};
    struct bytes file = {0};

    append_member(&file, (const uint8_t *)text, strlen(text), &plain);
    return file;
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

struct findings {
    size_t count;
    struct gzip_finding list[8];
};

static void listen(void *context, const struct gzip_finding *finding)
{
    struct findings *f = context;

    if (f->count < sizeof f->list / sizeof f->list[0])
        f->list[f->count] = *finding;
    f->count++;
}

/* Gives nothing when `left` is 0, and checks that all is given back with its size. */
struct caller {
    size_t left;
    size_t bytes;
};

static void *allocate(void *context, size_t size)
{
    struct caller *caller = context;
    void *block;

    if (caller->left == 0)
        return NULL;
    caller->left--;
    caller->bytes += size;
    block = malloc(size);
    assert_non_null(block);
    memset(block, 0xa5, size);
    return block;
}

static void release(void *context, void *memory, size_t size)
{
    struct caller *caller = context;

    caller->bytes -= size;
    free(memory);
}

struct stream {
    struct input in;
    struct memory memory;
    struct caller caller;
    struct findings findings;
};

static struct stream *new_stream(void)
{
    struct stream *s = calloc(1, sizeof *s);
    struct hprof_allocator allocator = {allocate, release, NULL};

    assert_non_null(s);
    s->caller.left = SIZE_MAX;
    allocator.context = &s->caller;
    memory_init(&s->memory, &allocator, 0);
    return s;
}

static struct stream *open_source(struct input_source source, size_t block)
{
    struct stream *s = new_stream();

    assert_true(input_open_source(&s->in, source, block, &s->memory, listen, &s->findings));
    return s;
}

static void close_stream(struct stream *s)
{
    input_close(&s->in);
    assert_int_equal(s->caller.bytes, 0);
    free(s);
}

static int file_of(const struct bytes *b)
{
    FILE *file = tmpfile();
    int fd;

    assert_non_null(file);
    fd = dup(fileno(file));
    fclose(file);
    assert_true(fd >= 0);
    for (size_t at = 0; at < b->size;) {
        ssize_t n = write(fd, b->at + at, b->size - at);

        assert_true(n > 0);
        at += (size_t)n;
    }
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* A thread that feeds a pipe in pieces of random size. */
struct feeder {
    pthread_t thread;
    int read_end, write_end;
    const struct bytes *bytes;
    uint32_t largest;      /* of a piece */
    pthread_t interrupted; /* who gets a signal now and then, if `signals` */
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
            break; /* the reader had enough */
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
                         .seed = seed};
    assert_int_equal(pthread_create(&f->thread, NULL, feed, f), 0);
}

static void stop_feeder(struct feeder *f)
{
    close(f->read_end);
    pthread_join(f->thread, NULL);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static void expect_all(struct stream *s, const uint8_t *bytes, size_t size)
{
    size_t at = 0, n;

    while ((n = input_need(&s->in, 1)) > 0) {
        assert_true(n <= size - at);
        assert_memory_equal(s->in.at, bytes + at, n);
        input_advance(&s->in, n);
        at += n;
        assert_int_equal(s->in.offset, at);
    }
    assert_int_equal(at, size);
    assert_true(s->in.ended);
    assert_int_equal(s->in.error, 0);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Mostly small, at times more than there is. */
static size_t random_length(size_t size)
{
    switch (below(8)) {
    case 0:
        return below((uint32_t)size + 2);
    case 1:
        return below((uint32_t)size / 10 + 2);
    default:
        return below(100);
    }
}

/* Random operations; the model is `data` and an offset. */
static void walk(struct stream *s, const struct bytes *data, int steps)
{
    struct input *in = &s->in;
    size_t at = (size_t)in->offset;

    while (steps-- > 0) {
        size_t n = random_length(data->size), rest = data->size - at, have;

        switch (below(input_can_reread(in) ? 4 : 3)) {
        case 0:
            have = input_need(in, n);
            assert_true(have >= smaller(n, rest) && have <= rest);
            assert_memory_equal(in->at, data->at + at, have);
            break;
        case 1:
            have = smaller(n, input_need(in, n));
            assert_memory_equal(in->at, data->at + at, have);
            input_advance(in, have);
            at += have;
            break;
        case 2:
            if (below(10) == 0)
                n += data->size;
            assert_int_equal(input_skip(in, n), smaller(n, rest));
            at += smaller(n, rest);
            break;
        default:
            at = below((uint32_t)data->size + 1);
            if (below(10) == 0) {
                assert_false(input_seek(in, data->size + 1 + below(1000)));
                at = data->size;
            } else {
                assert_true(input_seek(in, at));
            }
        }
        assert_int_equal(in->offset, at);
        assert_int_equal(in->error, 0);
    }
    assert_int_equal(s->findings.count, 0);
}

static const size_t blocks[] = {2, 3, 7, 61, 1000, 4096, 65536, INPUT_BLOCK};
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

static void walk_everywhere(const struct bytes *data, const struct bytes *file)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        int fd = file_of(file);
        struct stream *s = open_source(source_of_fd(fd), blocks[i]);
        struct feeder feeder;

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
    seed = 1;
    for (int round = 0; round < 4; round++) {
        struct bytes data = random_bytes(1 + below(round == 0 ? 3000000 : 100000));

        walk_everywhere(&data, &data);
        free(data.at);
    }
}

static void reads_compressed_bytes_the_same_from_everywhere(void **state)
{
    static const uint32_t largest[] = {3000000, 200000, 5000, 100};

    (void)state;
    seed = 2;
    for (int round = 0; round < 4; round++) {
        struct bytes data = random_bytes(1 + below(round == 0 ? 2000000 : 60000));
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
    seed = 3;
    data = random_bytes(50000);
    assert_true(input_open_memory(&s->in, data.at, data.size, false, &s->memory, listen, &s->findings));
    assert_int_equal(input_file_size(&s->in), data.size);
    walk(s, &data, 500);
    assert_true(input_seek(&s->in, 1234));
    assert_ptr_equal(s->in.at, data.at + 1234);
    assert_int_equal(input_file_position(&s->in), 1234);
    assert_int_equal(s->memory.peak, 0);
    close_stream(s);

    s = new_stream();
    assert_true(input_open_memory(&s->in, data.at, data.size, true, &s->memory, listen, &s->findings));
    walk(s, &data, 50);
    close_stream(s);

    s = new_stream();
    assert_true(input_open_memory(&s->in, NULL, 0, false, &s->memory, listen, &s->findings));
    expect_all(s, NULL, 0);
    assert_int_equal(input_skip(&s->in, 5), 0);
    assert_true(input_seek(&s->in, 0));
    assert_false(input_seek(&s->in, 1));
    close_stream(s);
    free(data.at);
}

static void begins_where_the_descriptor_stands(void **state)
{
    struct bytes data, file = {0};
    struct stream *s;
    int fd;

    (void)state;
    seed = 4;
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
        assert_true(input_open_fd(&s->in, fd, &s->memory, listen, &s->findings));
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

static void the_buffer_grows_with_bytes_not_with_wishes(void **state)
{
    struct bytes data;
    struct stream *s;

    (void)state;
    seed = 5;
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
    seed = 6;
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

    assert_false(input_open_fd(&s->in, fd, &s->memory, listen, &s->findings));
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
    seed = 7;
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

/* The process's own memory is a file whose reading fails where nothing is mapped. */
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
    seed = 8;
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

    /* Within each part of a gzip member, and behind it: no fault of the file is told. */
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
    seed = 9;
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
    seed = 10;
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

static void no_memory_is_no_disaster(void **state)
{
    struct bytes data, file;

    (void)state;
    seed = 11;
    data = random_bytes(3000000);
    file = compress_in_members(&data, 1000000);
    for (int compressed = 0; compressed < 2; compressed++) {
        const struct bytes *b = compressed ? &file : &data;
        bool enough = false;

        for (size_t allocations = 0; !enough; allocations++) {
            struct stream *s = new_stream();

            s->caller.left = allocations;
            if (input_open_memory(&s->in, b->at, b->size, true, &s->memory, listen, &s->findings)) {
                size_t have = input_need(&s->in, data.size);

                enough = have == data.size;
                assert_memory_equal(s->in.at, data.at, have);
            } else {
                assert_int_equal(input_need(&s->in, 1), 0);
            }
            assert_int_equal(s->memory.exhausted, !enough);
            assert_int_equal(s->in.error, 0);
            close_stream(s);
            assert_true(allocations < 10);
        }
    }
    free(data.at);
    free(file.at);
}

/* ---- Faults of gzip --------------------------------------------------------------------------------------------- */

struct fault {
    enum gzip_fault fault;
    uint64_t member;
    uint64_t offset;
    const char *expected;
    const char *found;
};

/* However the file is read: these bytes, this fault, nothing else, and nothing more when it is read again. */
static void expect_fault(const struct bytes *file, const char *text, const struct fault *fault)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
            struct stream *s = open_source(source_of_memory(file->at, file->size, as_pipe), blocks[i]);

            for (int pass = 0; pass < (as_pipe ? 1 : 2); pass++) {
                expect_all(s, (const uint8_t *)text, strlen(text));
                assert_true(s->in.compressed);
                assert_int_equal(s->findings.count, fault ? 1 : 0);
                assert_int_equal(input_seek(&s->in, strlen(text) + 1), false);
                assert_int_equal(input_seek(&s->in, 0), !as_pipe);
            }
            if (fault) {
                const struct gzip_finding *found = &s->findings.list[0];

                assert_int_equal(found->fault, fault->fault);
                assert_int_equal(found->member, fault->member);
                assert_int_equal(found->offset, fault->offset);
                assert_string_equal(found->expected, fault->expected);
                assert_string_equal(found->found, fault->found);
            }
            close_stream(s);
        }
    }
}

/* "one" and "two", a member each; the second has all fields that a header can have. */
struct two_members {
    struct bytes file;
    size_t second;       /* where it starts */
    size_t second_extra; /* XLEN */
    size_t second_crc16;
    size_t second_data;
    size_t second_trailer;
};

static struct two_members two_members(void)
{
    static const struct member_options all = {
        .level = 6, .comment = "comment", .name = "name", .extra_size = 4, .header_crc = true};
    struct two_members t = {.file = one_member("one")};

    t.second = t.file.size;
    t.second_extra = t.second + 10;
    t.second_crc16 = t.second_extra + 2 + 4 + sizeof "name" + sizeof "comment";
    t.second_data = t.second_crc16 + 2;
    append_member(&t.file, (const uint8_t *)"two", 3, &all);
    t.second_trailer = t.file.size - 8;
    return t;
}

static void sound_members_have_no_fault(void **state)
{
    struct two_members t = two_members();

    (void)state;
    expect_fault(&t.file, "onetwo", NULL);
    free(t.file.at);
}

/* `file` with one byte changed. */
static void expect_fault_of_byte(const struct bytes *file, size_t at, uint8_t byte, const char *text, const struct fault *fault)
{
    struct bytes changed = copy_of(file);

    changed.at[at] = byte;
    expect_fault(&changed, text, fault);
    free(changed.at);
}

static void a_bad_header_ends_the_stream(void **state)
{
    struct two_members t = two_members();
    uint8_t crc_low = t.file.at[t.second_crc16], crc_high = t.file.at[t.second_crc16 + 1];
    char right[32], wrong[32];

    (void)state;
    expect_fault_of_byte(&t.file, 2, 7, "", &(struct fault){GZIP_HEADER, 1, 2, "compression method 8", "compression method 7"});
    expect_fault_of_byte(&t.file, t.second + 2, 9, "one",
                         &(struct fault){GZIP_HEADER, 2, t.second + 2, "compression method 8", "compression method 9"});
    expect_fault_of_byte(&t.file, 3, 0x20, "", &(struct fault){GZIP_HEADER, 1, 3, "reserved flags of 0", "flags 0x20"});
    expect_fault_of_byte(&t.file, t.second + 3, 0x9e, "one",
                         &(struct fault){GZIP_HEADER, 2, t.second + 3, "reserved flags of 0", "flags 0x9e"});
    snprintf(right, sizeof right, "CRC16 0x%02x%02x", crc_high, crc_low);
    snprintf(wrong, sizeof wrong, "CRC16 0x%02x%02x", crc_high ^ 1, crc_low);
    expect_fault_of_byte(&t.file, t.second_crc16 + 1, crc_high ^ 1, "one",
                         &(struct fault){GZIP_HEADER, 2, t.second_crc16, right, wrong});
    free(t.file.at);
}

static void bad_data_ends_the_stream_behind_what_precedes_it(void **state)
{
    static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    static const struct {
        const char *text;
        size_t size;
        const char *bytes;
        size_t bad; /* the byte with which it becomes invalid */
        const char *found;
    } cases[] = {
        {"", 1, "\x07", 0, "a block with an invalid header"},     /* block type 3 */
        {"", 2, "\x06\x00", 0, "a block with an invalid header"}, /* not the last one */
        {"abc", 9,
         "\x00\x03\x00\xfc\xff"
         "abc\x07",
         8, "a block with an invalid header"}, /* behind a stored block */
        {"", 8,
         "\x01\x03\x00\xfd\xff"
         "abc",
         4, "a block with an invalid header"},                                    /* LEN and NLEN */
        {"a", 3, "\x4b\x04\x62", 2, "a copy of bytes in front of the first one"}, /* fixed: a, copy 3 from 4 back */
        {"", 2, "\x1b\x03", 1, "an invalid code"},                                /* fixed: word of length 286 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct two_members t = two_members();
        struct bytes file = copy_of(&t.file);
        size_t at = file.size + sizeof header;
        char text[20];

        append(&file, header, sizeof header);
        append(&file, cases[i].bytes, cases[i].size);
        append(&file, "12345678", 8);
        snprintf(text, sizeof text, "onetwo%s", cases[i].text);
        expect_fault(&file, text, &(struct fault){GZIP_DATA, 3, at + cases[i].bad, "deflate data", cases[i].found});
        free(file.at);
        free(t.file.at);
    }
}

static void a_bad_trailer_does_not_end_the_stream(void **state)
{
    struct bytes file = one_member("one");
    size_t first = file.size;
    struct fault wrong_crc = {GZIP_CHECKSUM, 1, first - 8, NULL, NULL}, wrong_size = {GZIP_SIZE, 1, first - 4, NULL, NULL};
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)"one", 3);
    char right[32], wrong[32];
    struct bytes two = one_member("two");

    (void)state;
    append(&file, two.at, two.size);
    snprintf(right, sizeof right, "CRC32 0x%08x", (unsigned)crc);
    snprintf(wrong, sizeof wrong, "CRC32 0x%08x", (unsigned)(crc ^ 0x100));
    wrong_crc.expected = right;
    wrong_crc.found = wrong;
    expect_fault_of_byte(&file, first - 7, file.at[first - 7] ^ 1, "onetwo", &wrong_crc);
    wrong_size.expected = "ISIZE 3";
    wrong_size.found = "ISIZE 4";
    expect_fault_of_byte(&file, first - 4, 4, "onetwo", &wrong_size);
    file.at[first - 4] = 4;
    expect_fault_of_byte(&file, first - 7, file.at[first - 7] ^ 1, "onetwo", &wrong_crc);
    free(file.at);
    free(two.at);
}

/* The end of the file within data: of the last few letters as many come as the words that are complete tell. */
static void expect_cut_in_data(const struct bytes *file, const struct fault *fault)
{
    struct stream *s = open_source(source_of_memory(file->at, file->size, true), 2);

    input_skip(&s->in, UINT64_MAX);
    assert_int_equal(s->findings.count, 1);
    assert_int_equal(s->findings.list[0].fault, fault->fault);
    assert_int_equal(s->findings.list[0].offset, fault->offset);
    assert_string_equal(s->findings.list[0].found, fault->found);
    close_stream(s);
}

static void every_cut_is_told(void **state)
{
    struct two_members t = two_members();
    size_t whole = t.file.size;

    (void)state;
    for (size_t size = 2; size < whole; size++) {
        bool in_second = size > t.second;
        size_t data = in_second ? t.second_data : 10, trailer = in_second ? t.second_trailer : t.second - 8;
        char found[96];
        struct fault fault = {GZIP_TRUNCATED, in_second ? 2 : 1, in_second ? t.second : 0, "a complete member", found};

        snprintf(found, sizeof found, "the end of the file at 0x%zx, within the %s", size,
                 size < data      ? "header"
                 : size < trailer ? "data"
                                  : "trailer");
        if (size == t.second + 1)
            fault = (struct fault){GZIP_TRAILING, 2, t.second, "1f 8b, or the end of the file", "1f, then the end of the file"};
        t.file.size = size;
        if (size == t.second)
            expect_fault(&t.file, "one", NULL);
        else if (size >= data && size < trailer)
            expect_cut_in_data(&t.file, &fault);
        else
            expect_fault(&t.file, size >= t.second_trailer ? "onetwo" : size >= t.second - 8 ? "one" : "", &fault);
    }
    free(t.file.at);
}

static void what_follows_members_is_told(void **state)
{
    static const struct {
        size_t size;
        const char *bytes;
        const char *found;
    } cases[] = {
        {1, "", "00, then the end of the file"},
        {512, "", "00 00"},
        {1, "\x1f", "1f, then the end of the file"},
        {2, "\x1f\x1f", "1f 1f"},
        {2, "\x8b\x1f", "8b 1f"},
        {5, "JAVA ", "4a 41"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct two_members t = two_members();
        uint8_t bytes[512] = {0};

        memcpy(bytes, cases[i].bytes, strlen(cases[i].bytes));
        append(&t.file, bytes, cases[i].size);
        expect_fault(&t.file, "onetwo",
                     &(struct fault){GZIP_TRAILING, 3, t.second_trailer + 8, "1f 8b, or the end of the file", cases[i].found});
        free(t.file.at);
    }
}

static void gzip_within_gzip_is_told_and_not_read(void **state)
{
    static const struct member_options stored = {.level = 0};
    static const uint8_t sizes[] = {0, 1, 2, 30};

    (void)state;
    for (size_t i = 0; i < sizeof sizes; i++) {
        struct bytes inner = one_member("inner"), file = {0};
        struct fault fault = {GZIP_NESTED, sizes[i] < 2 ? 2 : 1, 0, "a dump, compressed once", "1f 8b: gzip within gzip"};

        /* Cut so that the first two bytes are in one member or in two; with a fault behind, which is not told. */
        append_member(&file, inner.at, smaller(sizes[i], inner.size), &stored);
        append_member(&file, inner.at + smaller(sizes[i], inner.size), inner.size - smaller(sizes[i], inner.size), &stored);
        file.at[file.size - 1] ^= 1;
        expect_fault(&file, "", &fault);
        free(file.at);
        free(inner.at);
    }
}

/* Any change of any file: the blocks do not matter, neither for the bytes nor for the faults. */
static void faults_do_not_depend_on_blocks(void **state)
{
    (void)state;
    seed = 12;
    for (int round = 0; round < 300; round++) {
        struct bytes data = random_bytes(below(round % 10 ? 2000 : 150000));
        struct bytes file = compress_in_members(&data, round % 3 ? 700 : 100000);
        struct stream *first = NULL;
        struct bytes text = {0};

        for (uint32_t changes = 1 + below(3); changes > 0; changes--)
            file.at[2 + below((uint32_t)file.size - 2)] ^= (uint8_t)(1 << below(8));
        for (size_t i = file.size > 5000 ? 4 : 0; i < BLOCKS; i++) {
            struct stream *s = open_source(source_of_memory(file.at, file.size, true), blocks[i]);
            size_t at = 0, n;

            while ((n = input_need(&s->in, 1)) > 0) {
                if (!first)
                    append(&text, s->in.at, n);
                assert_true(n <= text.size - at);
                assert_memory_equal(s->in.at, text.at + at, n);
                input_advance(&s->in, n);
                at += n;
            }
            assert_int_equal(at, text.size);
            if (!first) {
                first = s;
                continue;
            }
            assert_memory_equal(&s->findings, &first->findings, sizeof s->findings);
            close_stream(s);
        }
        close_stream(first);
        free(text.at);
        free(data.at);
        free(file.at);
    }
}

/* ---- Hostile files ---------------------------------------------------------------------------------------------- */

static void what_expands_hugely_takes_no_more_memory(void **state)
{
    static const struct member_options best = {.level = 9};
    struct bytes zeros = {calloc(1, 64 << 20), 64 << 20, 0}, file = {0};
    struct stream *s = new_stream();

    (void)state;
    append_member(&file, zeros.at, zeros.size, &best);
    append_member(&file, zeros.at, zeros.size, &best);
    assert_true(file.size < 200000);
    assert_true(input_open_memory(&s->in, file.at, file.size, true, &s->memory, listen, &s->findings));
    assert_int_equal(input_skip(&s->in, UINT64_MAX), 2 * zeros.size);
    assert_int_equal(s->findings.count, 0);
    assert_true(s->memory.peak < 4 << 20);
    close_stream(s);
    free(zeros.at);
    free(file.at);
}

static void very_many_members_can_be_sought(void **state)
{
    static const struct member_options stored = {.level = 0};
    struct bytes file = {0}, data = {0};
    struct stream *s;

    (void)state;
    seed = 13;
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t byte = (uint8_t)(i * 7);

        append_member(&file, &byte, i % 3 == 0, &stored);
        append(&data, &byte, i % 3 == 0);
    }
    s = open_source(source_of_memory(file.at, file.size, false), 100);
    expect_all(s, data.at, data.size);
    walk(s, &data, 300);
    close_stream(s);
    free(file.at);
    free(data.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_plain_bytes_the_same_from_everywhere),
        cmocka_unit_test(reads_compressed_bytes_the_same_from_everywhere),
        cmocka_unit_test(reads_memory_where_it_lies),
        cmocka_unit_test(begins_where_the_descriptor_stands),
        cmocka_unit_test(a_short_file_is_just_short),
        cmocka_unit_test(skips_a_terabyte_without_reading_it),
        cmocka_unit_test(the_buffer_grows_with_bytes_not_with_wishes),
        cmocka_unit_test(signals_do_not_disturb),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
        cmocka_unit_test(a_read_that_fails_midway_ends_the_stream),
        cmocka_unit_test(a_file_that_shrinks_is_an_error),
        cmocka_unit_test(a_file_that_grows_is_read_to_its_end),
        cmocka_unit_test(no_memory_is_no_disaster),
        cmocka_unit_test(sound_members_have_no_fault),
        cmocka_unit_test(a_bad_header_ends_the_stream),
        cmocka_unit_test(bad_data_ends_the_stream_behind_what_precedes_it),
        cmocka_unit_test(a_bad_trailer_does_not_end_the_stream),
        cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(what_follows_members_is_told),
        cmocka_unit_test(gzip_within_gzip_is_told_and_not_read),
        cmocka_unit_test(faults_do_not_depend_on_blocks),
        cmocka_unit_test(what_expands_hugely_takes_no_more_memory),
        cmocka_unit_test(very_many_members_can_be_sought),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
