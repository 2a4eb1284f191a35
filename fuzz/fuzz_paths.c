/* The same bytes give the same report, however they arrive and whoever checks them: as memory, as a file or a pipe read in
 * blocks of any size, fed in pieces, as gzip of one member or of many, with another key of the hash tables, in jobs of any size, by
 * any number of threads; with all sizes of the library that no report depends on drawn for each. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "account.h"
#include "allocator.h"
#include "gzip.h"
#include "memory_file.h"
#include "sizes.h"
#include "target.h"

struct path {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    enum { FROM_MEMORY, LIKE_A_PIPE, FED, A_FILE, A_PIPE } way; /* the last two through a descriptor */
    struct hprof_testing testing;
    unsigned threads;
};

static bool is_pipe(const struct path *path)
{
    return path->way == LIKE_A_PIPE || path->way == FED || path->way == A_PIPE;
}

/* Fills a pipe: in a thread, if that takes more than one write. */
struct writer {
    const struct path *path;
    int end;
    bool is_running;
    pthread_t thread;
};

static void *write_all(void *context)
{
    const struct writer *writer = context;

    for (size_t done = 0; done < writer->path->size;) {
        ssize_t n = write(writer->end, writer->path->bytes + done, writer->path->size - done);

        if (n < 0 && errno == EPIPE)
            break; /* the library does not read what is no dump to its end */
        if (n <= 0)
            fail_target("a pipe cannot be written");
        done += (size_t)n;
    }
    close(writer->end);
    return NULL;
}

/* A descriptor to read the bytes from. */
static int open_descriptor(const struct path *path, struct writer *writer)
{
    int ends[2], fd = -1;

    if (path->way == A_FILE) {
        fill_memory_file(&fd, path->bytes, path->size);
        return fd;
    }
    if (pipe(ends) != 0)
        return -1;
    writer->path = path;
    writer->end = ends[1];
    writer->is_running = path->size > PIPE_BUF;
    signal(SIGPIPE, SIG_IGN);
    if (!writer->is_running)
        write_all(writer);
    else if (pthread_create(&writer->thread, NULL, write_all, writer) != 0)
        fail_target("no thread to write into a pipe");
    return ends[0];
}

/* In pieces of all sizes up to that of a block, one after the other. */
static void feed(const struct path *path, const struct hprof_options *options)
{
    struct hprof_feeder *feeder = hprof_feeder_open(options);
    size_t most = path->testing.block ? path->testing.block : 1 << 12, at = 0;

    for (size_t n = 1; at < path->size; n = n % most + 1) {
        size_t left = path->size - at;

        (void)hprof_feed(feeder, path->bytes + at, n < left ? n : left);
        at += n < left ? n : left;
    }
    (void)hprof_finish(feeder, NULL);
}

static void validate(const struct path *path, struct hprof_options options, struct account *account)
{
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};
    struct hprof_allocator allocator = allocator_for(&memory);
    struct writer writer = {0};
    int fd;

    account_begin(account);
    account_listen(account, &options);
    options.allocator = &allocator;
    options.testing = &path->testing;
    options.threads = path->threads;
    fd = path->way == A_FILE || path->way == A_PIPE ? open_descriptor(path, &writer) : -1;
    if (fd >= 0)
        (void)hprof_validate_fd(fd, &options, NULL);
    else if (path->way == FED)
        feed(path, &options);
    else
        (void)hprof_validate_memory(path->bytes, path->size, is_pipe(path), &options, NULL);
    if (fd >= 0)
        close(fd);
    if (writer.is_running)
        pthread_join(writer.thread, NULL);
    expect_no_leak(&memory);
    expect_consistent(account, &options, path->size, is_pipe(path));
}

/* ---- The input as gzip ---- */

static struct {
    uint8_t *at;
    size_t size, capacity;
} gzip;

/* Level 1 and a small window: the matches matter little here, and a larger state would have to be cleared for each member. */
static void append_member(const uint8_t *data, size_t size)
{
    static z_stream z;
    static bool ready;
    size_t bound;

    if (!ready && deflateInit2(&z, 1, Z_DEFLATED, 16 + 9, 1, Z_DEFAULT_STRATEGY) != Z_OK)
        fail_target("deflateInit2() failed");
    ready = true;
    deflateReset(&z);
    bound = deflateBound(&z, size) + 32;
    if (bound > gzip.capacity - gzip.size) {
        gzip.capacity = 2 * (gzip.capacity + bound);
        gzip.at = realloc(gzip.at, gzip.capacity);
        if (!gzip.at)
            fail_target("no memory for the gzip file");
    }
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = gzip.at + gzip.size;
    z.avail_out = (uInt)bound;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        fail_target("deflate() failed");
    gzip.size += bound - z.avail_out;
}

static void compress_in_members(const uint8_t *data, size_t size, size_t member)
{
    gzip.size = 0;
    do {
        size_t n = size < member ? size : member;

        append_member(data, n);
        data += n;
        size -= n;
    } while (size);
}

/* Every size on which no report depends, drawn afresh; those of `limits` for the rest. */
static void draw_testing(struct path *path, const struct hprof_testing *limits, struct dice *dice)
{
    struct hprof_testing testing = *limits;

    testing.hash_seed = path->testing.hash_seed;
    testing.block = path->testing.block;
    testing.job = path->testing.job;
    draw_sizes(&testing, dice, path->size);
    testing.usual_order = one_in(dice, 4);
    path->testing = testing;
}

static void compare_gzip(const struct account *expected, const char *name, size_t block, unsigned threads,
                         const struct hprof_testing *limits, struct dice *dice, const struct hprof_options *options)
{
    static struct account account;
    const uint8_t *bytes = copy_to_guard_page(gzip.at, gzip.size);
    struct path file = {name, bytes, gzip.size, FROM_MEMORY, {.hash_seed = 1, .block = block}, 1};
    struct path by_threads = {name, bytes, gzip.size, FROM_MEMORY, {.hash_seed = 1, .block = block}, threads};
    struct path pipe = {name, bytes, gzip.size, LIKE_A_PIPE, {.hash_seed = 1, .block = block}, 1};

    draw_testing(&file, limits, dice);
    draw_testing(&by_threads, limits, dice);
    draw_testing(&pipe, limits, dice);
    validate(&file, *options, &account);
    expect_same(expected, "memory", &account, name, COMPRESSION_DIFFERS);
    validate(&by_threads, *options, &account);
    expect_same(expected, "memory", &account, name, COMPRESSION_DIFFERS);
    validate(&pipe, *options, &account);
    expect_same(expected, "memory", &account, name, COMPRESSION_DIFFERS | SECOND_IS_A_PIPE);
}

/* ---- All paths ---- */

static bool is_truncated_gzip(const struct account *account)
{
    for (size_t i = 0; i < account->count; i++)
        if (strcmp(hprof_rule_at(account->findings[i].rule)->id, "GZ-005") == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MEMBERS = 5, LARGE = 64 << 10 };
    static struct account expected, account;
    const uint8_t *bytes = copy_to_guard_page(data, size);
    uint32_t bits = drawn_bits(data, size);
    size_t profiles = 0;
    struct hprof_options options;

    while (hprof_profile_at(profiles))
        profiles++;
    hprof_options_init(&options);
    options.profile = draw(&bits, (uint32_t)profiles);
    options.max_errors = draw(&bits, 4); /* 0 for all: half of the seeds draw 0 or 1 */
    /* Any first cut; small blocks cut everywhere. */
    size_t block =
        least_block(data, size) + draw(&bits, 2) * draw(&bits, (uint32_t)(size < 4096 ? size + 1 : 4096)) + draw(&bits, 40);
    uint32_t more = drawn_bits(data, size) * UINT32_C(0x9E3779B1);
    size_t job = least_block(data, size) + draw(&more, 3) * draw(&more, 400) + draw(&more, 40);
    unsigned threads = 2 + draw(&more, 7);
    struct dice dice = {seed_from(data, size)};
    struct hprof_testing limits = {.hash_seed = 1};
    if (size > LARGE) {
        block += size >> (4 + below(&dice, 12));
        job += size >> (2 + below(&dice, 10));
    }
    if (one_in(&dice, 2))
        draw_limits(&limits, &dice, size);
    struct path memory = {"memory", bytes, size, FROM_MEMORY, limits, 1};
    struct path paths[] = {
        {"memory with another hash key", bytes, size, FROM_MEMORY, {.hash_seed = 2 + bits}, 1},
        {"a file read in blocks", bytes, size, FROM_MEMORY, {.hash_seed = 1, .block = block}, 1},
        {"in jobs", bytes, size, FROM_MEMORY, {.hash_seed = 1, .job = job}, 1},
        {"in jobs in another order, read in blocks",
         bytes,
         size,
         FROM_MEMORY,
         {.hash_seed = 2 + bits, .block = block, .job = job},
         1},
        {"by threads", bytes, size, FROM_MEMORY, {.hash_seed = 1, .job = job}, threads},
        {"read in blocks by threads", bytes, size, FROM_MEMORY, {.hash_seed = 1, .block = block}, threads},
        {"a file", bytes, size, A_FILE, {.hash_seed = 1}, 1},
        {"a file by threads", bytes, size, A_FILE, {.hash_seed = 1, .job = job}, threads},
        {"a pipe", bytes, size, A_PIPE, {.hash_seed = 1}, 1},
        {"a pipe read in blocks", bytes, size, LIKE_A_PIPE, {.hash_seed = 1, .block = block}, 1},
        {"fed in pieces", bytes, size, FED, {.hash_seed = 1, .block = block}, 1},
        {"a pipe read in blocks by threads", bytes, size, LIKE_A_PIPE, {.hash_seed = 1, .block = block}, threads},
    };

    validate(&memory, options, &expected);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        draw_testing(&paths[i], &limits, &dice);
        if ((paths[i].testing.block || paths[i].testing.first_buffer) && is_truncated_gzip(&expected))
            continue; /* how many of the last bytes can be inflated depends on the blocks (hprof.h) */
        if (is_pipe(&paths[i]) && is_truncated_gzip(&expected) && ends_in_zeros(data, size))
            continue;
        validate(&paths[i], options, &account);
        expect_same(&expected, "memory", &account, paths[i].name, is_pipe(&paths[i]) ? SECOND_IS_A_PIPE : ACCOUNTS_EQUAL);
    }
    if (expected.summary.compressed || size == 0)
        return 0;                          /* gzip within gzip is GZ-007; an empty file is no dump, an empty member is one */
    compress_in_members(data, size, size); /* `bytes` is valid no longer */
    compare_gzip(&expected, "gzip of one member", block, threads, &limits, &dice, &options);
    compress_in_members(data, size, size / MEMBERS + 1);
    compare_gzip(&expected, "gzip of many members", block, threads, &limits, &dice, &options);
    return 0;
}
