/* Faults that are injected while the dumps of corpus/ are checked, repaired, shown, and copied by the generator: an allocation
 * fails, a read is short, is interrupted, fails, or finds the file shorter. The result is the one without the fault, or the run
 * ends with HPROF_LIMIT or HPROF_IO and a sentence. Reads are injected by the linker: --wrap. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "account.h"
#include "allocator.h"
#include "hprof/testing.h"
#include "memory_file.h"
#include "test_faults_copy.h"

#include "../validator/tests/corpus.h"
#include "../validator/tests/forms.h"

/* ---- Reads ---- */

enum read_fault { READ_ALL, READ_SHORT, READ_INTERRUPTED, READ_FAILS, READS_FAIL, FILE_SHRINKS };

static const char *const fault_names[] = {[READ_SHORT] = "a short read",
                                          [READ_INTERRUPTED] = "an interrupted read",
                                          [READ_FAILS] = "a read that fails",
                                          [READS_FAIL] = "reads that fail for good",
                                          [FILE_SHRINKS] = "a file that shrinks"};

static struct {
    enum read_fault fault;
    int fd;         /* the file that shrinks */
    int64_t left;   /* reads until the fault, counted by all threads; negative once it was met */
    size_t smaller; /* the size to which the file shrinks */
} injected;

ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __real_pread64(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t at);

/* True if the read is to fail, with errno set; `n` may become less. */
static bool inject(size_t *n)
{
    if (injected.fault == READ_ALL)
        return false;
    int64_t left = __atomic_fetch_sub(&injected.left, 1, __ATOMIC_RELAXED);

    if (left > 0 || (left < 0 && injected.fault != READS_FAIL))
        return false;
    switch (injected.fault) {
    case READ_SHORT:
        *n = 1;
        return false;
    case READ_INTERRUPTED:
        errno = EINTR;
        return true;
    case READ_FAILS:
    case READS_FAIL:
        errno = EIO;
        return true;
    case FILE_SHRINKS:
        if (ftruncate(injected.fd, (off_t)injected.smaller) != 0)
            abort();
        return false;
    case READ_ALL:
        break;
    }
    return false;
}

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    return inject(&n) ? -1 : __real_read(fd, to, n);
}

ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t at)
{
    return inject(&n) ? -1 : __real_pread64(fd, to, n, at);
}

/* The read after the next `n` has the fault. A file shrinks to nothing, to a third, or to two thirds. */
static void begin_fault(enum read_fault fault, uint64_t n, int fd, size_t size)
{
    injected.fault = fault;
    injected.fd = fd;
    injected.left = (int64_t)n;
    injected.smaller = size / 3 * (n % 3);
}

/* Returns whether the fault was met. */
static bool end_fault(void)
{
    injected.fault = READ_ALL;
    return injected.left < 0;
}

/* ---- Inputs ---- */

/* A small dump takes one or two reads in blocks of the usual size, and one job of the usual size. */
static const struct way {
    const char *name;
    bool as_pipe, as_gzip, in_blocks;
    unsigned threads; /* which also do small jobs */
    size_t step;      /* one in this many dumps of corpus/ */
} ways[] = {
    {.name = "a file", .step = 1},
    {.name = "a pipe", .as_pipe = true, .step = 1},
    {.name = "a file in blocks", .in_blocks = true, .step = 1},
    {.name = "a pipe in blocks", .as_pipe = true, .in_blocks = true, .step = 1},
    {.name = "a gzip file", .as_gzip = true, .in_blocks = true, .step = 10},
    {.name = "a file by threads", .in_blocks = true, .threads = 3, .step = 20},
    {.name = "a pipe by threads", .as_pipe = true, .in_blocks = true, .threads = 3, .step = 20},
    {.name = "a gzip file by threads", .as_gzip = true, .in_blocks = true, .threads = 3, .step = 20},
};

/* A dump as it is read in a way. */
struct input {
    const char *name;
    const struct way *way;
    struct bytes bytes;
    struct hprof_testing testing;
};

static int file_with(const struct bytes *b)
{
    int fd = -1;

    fill_memory_file(&fd, b->at, b->size);
    return fd;
}

static int open_input(const struct input *input)
{
    const struct bytes *b = &input->bytes;
    int ends[2];

    if (!input->way->as_pipe)
        return file_with(b);
    assert_true(b->size <= 1 << 16); /* a pipe has room for any dump of corpus/ */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], b->at, b->size), b->size);
    close(ends[1]);
    return ends[0];
}

static struct bytes compress_in_members(const struct bytes *b)
{
    enum { MEMBERS = 24 };
    struct bytes all = {0};
    size_t size = b->size / MEMBERS + 1;

    for (size_t at = 0; at < b->size; at += size) {
        struct bytes member = compress_gzip(&(struct bytes){b->at + at, at + size < b->size ? size : b->size - at, 0});

        append(&all, member.at, member.size);
        free(member.at);
    }
    return all;
}

/* Blocks have 64 bytes, and more in long dumps, so that none takes many reads. */
static struct hprof_testing testing_of(const struct way *way, size_t size)
{
    enum { BLOCK = 64, BLOCKS_MOST = 64, JOB = 100 };
    size_t block = size / BLOCKS_MOST > BLOCK ? size / BLOCKS_MOST : BLOCK;

    return (struct hprof_testing){.hash_seed = 1, .block = way->in_blocks ? block : 0, .job = way->threads ? JOB : 0};
}

static void for_each_input(void (*test)(const struct input *input))
{
    for (const struct way *way = ways; way < ways + sizeof ways / sizeof *ways; way++)
        for (size_t i = 0; i < corpus_size; i += way->step) {
            const struct bytes *dump = &corpus[i].bytes;
            struct input input = {corpus[i].name, way, *dump, testing_of(way, dump->size)};

            if (way->as_gzip)
                input.bytes = compress_in_members(dump);
            test(&input);
            if (way->as_gzip)
                free(input.bytes.at);
        }
}

/* ---- Checks ---- */

static enum hprof_status validate_fd(int fd, const struct input *input, struct allocator *memory, struct account *account)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    options.allocator = &allocator;
    options.testing = &input->testing;
    options.threads = input->way->threads;
    account_begin(account);
    account_listen(account, &options);
    status = hprof_validate_fd(fd, &options, NULL);
    expect_no_leak(memory);
    return status;
}

static enum hprof_status validate_input(const struct input *input, struct allocator *memory, struct account *account)
{
    int fd = open_input(input);
    enum hprof_status status = validate_fd(fd, input, memory, account);

    close(fd);
    return status;
}

static void expect_failure(const struct account *account, const char *start)
{
    char line[64];
    int size = snprintf(line, sizeof line, "\nfailure %s", start);

    assert_non_null(memmem(account->text, account->size, line, (size_t)size));
}

static uint64_t limited, complete; /* runs in which an allocation failed, by their result */

/* Returns whether there is an Nth allocation. */
static bool fail_allocation(const struct input *input, uint64_t n, bool for_good, const struct account *whole)
{
    static struct account account;
    struct allocator memory = {.left = n, .for_good = for_good, .junk = 0xa5};

    if (validate_input(input, &memory, &account) == HPROF_LIMIT) {
        assert_true(memory.failed);
        if (account.size)                               /* there was memory for a summary */
            expect_failure(&account, "memory ran out"); /* at an offset, once reading has begun */
        limited++;
    } else {
        expect_same(whole, input->name, &account, "one allocation less", ACCOUNTS_EQUAL);
        complete += memory.failed;
    }
    return memory.failed;
}

static void fail_allocations(const struct input *input)
{
    static struct account whole;
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};

    if (input->way->in_blocks && !input->way->as_gzip && !input->way->threads)
        return; /* a plain dump takes the same allocations in blocks of any size */
    assert_true(validate_input(input, &memory, &whole) <= HPROF_INVALID);
    for (uint64_t n = 0; fail_allocation(input, n, false, &whole); n++)
        if (input->way->threads) /* test_api.c has the other ways */
            fail_allocation(input, n, true, &whole);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for_each_input(fail_allocations);
    print_message("%llu runs ended with HPROF_LIMIT, %llu with the report\n", (unsigned long long)limited,
                  (unsigned long long)complete);
    assert_true(limited > 4 * corpus_size);
}

/* Returns whether there is an Nth read. */
static bool disturb_read(const struct input *input, enum read_fault fault, uint64_t n, const struct account *whole)
{
    static struct account account;
    struct allocator memory = {.left = UINT64_MAX};
    int fd = open_input(input);

    begin_fault(fault, n, fd, input->bytes.size);
    enum hprof_status status = validate_fd(fd, input, &memory, &account);
    bool met = end_fault();

    close(fd);
    if ((fault == READ_FAILS || fault == READS_FAIL) && !input->way->threads) /* with threads, some bytes are read again */
        assert_int_equal(status == HPROF_IO, met);
    if (fault == FILE_SHRINKS && n == 0 && input->bytes.size)
        assert_int_equal(status, HPROF_IO);
    if (fault >= READ_FAILS && status == HPROF_IO)
        expect_failure(&account, "cannot be read");
    else
        expect_same(whole, input->name, &account, fault_names[fault], ACCOUNTS_EQUAL);
    return met;
}

static void disturb_reads(const struct input *input)
{
    static struct account whole;
    struct allocator memory = {.left = UINT64_MAX};
    enum read_fault last = input->way->as_pipe ? READS_FAIL : FILE_SHRINKS;

    assert_true(validate_input(input, &memory, &whole) <= HPROF_INVALID);
    for (enum read_fault fault = READ_SHORT; fault <= last; fault++)
        for (uint64_t n = 0; disturb_read(input, fault, n, &whole); n++)
            continue;
}

static void any_read_may_be_disturbed(void **state)
{
    (void)state;
    for_each_input(disturb_reads);
}

/* ---- Repairs, what is shown, and copies of the generator ---- */

struct result {
    enum hprof_status status;
    char failure[512];
    struct bytes bytes; /* of the copy, or the lines */
};

static void repair_fd(int from, struct allocator *memory, struct result *result)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_repair repair = {.struct_size = sizeof repair, .allocator = &allocator};
    struct hprof_repair_result repaired = {.struct_size = sizeof repaired};
    int to = file_with(&(struct bytes){0});
    uint8_t block[4096];
    ssize_t n;

    result->status = hprof_repair_fd(from, to, &repair, &repaired);
    for (off_t at = 0; result->status == HPROF_VALID && (n = __real_pread64(to, block, sizeof block, at)) > 0; at += n)
        append(&result->bytes, block, (size_t)n);
    close(to);
    snprintf(result->failure, sizeof result->failure, "%s", repaired.failure);
}

static int keep_line(void *context, const struct hprof_line *line)
{
    append(context, line->text, strlen(line->text) + 1);
    append(context, line->remark, strlen(line->remark) + 1);
    append(context, line->bytes, line->byte_count);
    return 0;
}

static void show_fd(int fd, struct allocator *memory, struct result *result)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_show show = {.struct_size = sizeof show,
                              .offset = 40,
                              .around = 2,
                              .allocator = &allocator,
                              .on_line = keep_line,
                              .context = &result->bytes};
    struct hprof_show_result shown = {.struct_size = sizeof shown};

    result->status = hprof_show_fd(fd, &show, &shown);
    snprintf(result->failure, sizeof result->failure, "%s", shown.failure);
}

/* The generator has no allocator. */
static void copy_fd(int fd, struct allocator *memory, struct result *result)
{
    struct copy copy = copy_dump(fd);

    (void)memory;
    result->status = copy.status;
    snprintf(result->failure, sizeof result->failure, "%s", copy.failure);
    if (copy.status == HPROF_VALID)
        append(&result->bytes, copy.at, copy.size);
}

typedef void act(int fd, struct allocator *memory, struct result *result);

static bool act_on(act *act, const struct sample *sample, enum read_fault fault, uint64_t n, struct allocator *memory,
                   struct result *result)
{
    int fd = file_with(&sample->bytes);
    bool met;

    result->bytes.size = 0;
    begin_fault(fault, n, fd, sample->bytes.size);
    act(fd, memory, result);
    met = end_fault();
    close(fd);
    expect_no_leak(memory);
    return met;
}

static bool is_same(const struct result *a, const struct result *b)
{
    return a->status == b->status && strcmp(a->failure, b->failure) == 0 && a->bytes.size == b->bytes.size &&
           (!a->bytes.size || memcmp(a->bytes.at, b->bytes.at, a->bytes.size) == 0);
}

/* Returns whether the run failed, with the status and a sentence; else expects the same result. */
static bool has_failed(const char *name, const char *fault, uint64_t n, const struct result *whole, const struct result *result,
                       enum hprof_status status)
{
    if (result->status == status && result->failure[0])
        return true;
    if (!is_same(whole, result))
        fail_msg("%s, %s, %llu: status %d and '%s' were expected, are %d and '%s'; or the bytes differ", name, fault,
                 (unsigned long long)n, whole->status, whole->failure, result->status, result->failure);
    return false;
}

static void fail_allocations_of(act *act, const struct sample *sample, const struct result *whole)
{
    static struct result result;
    struct allocator memory;
    uint64_t n = 0;

    do {
        for (int for_good = 0; for_good < 2; for_good++) {
            memory = (struct allocator){.left = n, .for_good = for_good, .junk = 0xa5};
            act_on(act, sample, READ_ALL, 0, &memory, &result);
            if (has_failed(sample->name, "an allocation", n, whole, &result, HPROF_LIMIT)) {
                assert_true(memory.failed);
                limited++;
            }
        }
        n++;
    } while (memory.failed);
}

static void disturb_reads_of(act *act, const struct sample *sample, const struct result *whole)
{
    static struct result result;

    for (enum read_fault fault = READ_SHORT; fault <= FILE_SHRINKS; fault++) {
        bool met = true;

        for (uint64_t n = 0; met; n++) {
            struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};

            met = act_on(act, sample, fault, n, &memory, &result);
            if (act == copy_fd && fault == FILE_SHRINKS && result.status == HPROF_INVALID)
                continue; /* the generator calls it truncated, which it is now */
            bool failed = has_failed(sample->name, fault_names[fault], n, whole, &result, HPROF_IO);

            bool may_fail = met && fault >= READ_FAILS;
            /* A copy reads the start twice, and may find the dump malformed before the fault. */
            bool must_fail = may_fail && (act != copy_fd || (fault == READS_FAIL && whole->status == HPROF_VALID));

            if (fault != FILE_SHRINKS && (failed ? !may_fail : must_fail))
                fail_msg("%s, %s, %llu: status %d and '%s'", sample->name, fault_names[fault], (unsigned long long)n,
                         result.status, result.failure);
        }
    }
}

/* Of the corpus; sanitizers make each run ten times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { ONE_IN = 15 };
#else
enum { ONE_IN = 5 };
#endif

/* Others in each run; a failure names its file. */
static size_t first_sample(void)
{
    return (size_t)(time(NULL) + getpid()) % ONE_IN;
}

static void disturb(act *act)
{
    static struct result whole;

    limited = 0;
    for (size_t i = first_sample(); i < corpus_size; i += ONE_IN) {
        struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};

        act_on(act, &corpus[i], READ_ALL, 0, &memory, &whole);
        assert_true(whole.status <= HPROF_USAGE); /* --show refuses an offset beyond the end */
        fail_allocations_of(act, &corpus[i], &whole);
        disturb_reads_of(act, &corpus[i], &whole);
    }
    print_message("%llu runs ended with HPROF_LIMIT\n", (unsigned long long)limited);
    assert_true(limited > corpus_size);
}

static void a_repair_may_be_disturbed(void **state)
{
    (void)state;
    disturb(repair_fd);
}

static void showing_may_be_disturbed(void **state)
{
    (void)state;
    disturb(show_fd);
}

static void a_copy_may_be_disturbed(void **state)
{
    static struct result whole;
    size_t copied = 0;

    (void)state;
    for (size_t i = first_sample(); i < corpus_size; i += ONE_IN) {
        act_on(copy_fd, &corpus[i], READ_ALL, 0, &(struct allocator){0}, &whole);
        if (whole.status == HPROF_IO)
            continue; /* a header that hprof-gen refuses */
        disturb_reads_of(copy_fd, &corpus[i], &whole);
        copied += whole.status == HPROF_VALID;
    }
    assert_true(copied > corpus_size / ONE_IN / 2);
}

/* ---- Other inputs ---- */

static void what_is_no_file_is_reported(void **state)
{
    static const struct {
        const char *path;
        enum hprof_status status;
    } inputs[] = {{"/", HPROF_IO}, {"/proc/self/mem", HPROF_IO}, {"/dev/null", HPROF_INVALID}};
    static struct account account;
    const struct input no_input = {.way = ways};

    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct allocator memory = {.left = UINT64_MAX};
        int fd = open(inputs[i].path, O_RDONLY | O_CLOEXEC);

        assert_true(fd >= 0);
        assert_int_equal(validate_fd(fd, &no_input, &memory, &account), inputs[i].status);
        if (inputs[i].status == HPROF_IO)
            expect_failure(&account, "cannot be read: ");
        close(fd);
    }
}

static void a_socket_is_a_pipe_like_any_other(void **state)
{
    static struct account whole, account;
    struct allocator memory = {.left = UINT64_MAX};
    const struct bytes *b = &corpus[0].bytes;
    struct input input = {.name = corpus[0].name, .way = ways, .bytes = *b};
    int ends[2];

    (void)state;
    validate_input(&input, &memory, &whole);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[1], b->at, b->size), b->size);
    close(ends[1]);
    validate_fd(ends[0], &input, &memory, &account);
    close(ends[0]);
    expect_same(&whole, "a file", &account, "a socket", SECOND_IS_A_PIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),           cmocka_unit_test(any_read_may_be_disturbed),
        cmocka_unit_test(a_repair_may_be_disturbed),         cmocka_unit_test(showing_may_be_disturbed),
        cmocka_unit_test(a_copy_may_be_disturbed),           cmocka_unit_test(what_is_no_file_is_reported),
        cmocka_unit_test(a_socket_is_a_pipe_like_any_other),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
