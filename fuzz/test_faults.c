/* Faults that are injected while each dump of corpus/ is read: an allocation fails, one read is short, is interrupted, fails,
 * or finds the file shorter. The report is the one without the fault, or the run ends with its status and a sentence. (That
 * every allocation fails from the Nth on is in validator/tests/test_api.c.) Reads are injected by the linker: --wrap. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "account.h"
#include "allocator.h"
#include "memory_file.h"

#include "../validator/tests/corpus.h"

/* ---- Reads ---- */

static struct {
    enum { READ_ALL, READ_SHORT, READ_INTERRUPTED, READ_FAILS, FILE_SHRINKS } fault;
    uint64_t left; /* reads until the fault */
    bool met;
    size_t shrunk_to;
} injected;

ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __real_pread64(int fd, void *to, size_t n, off64_t at);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off64_t at);

/* True if the read is to fail, with errno set; `n` may become less. */
static bool inject(int fd, size_t *n)
{
    if (injected.fault == READ_ALL || injected.met || injected.left--)
        return false;
    injected.met = true;
    switch (injected.fault) {
    case READ_SHORT:
        *n = 1;
        return false;
    case READ_INTERRUPTED:
        errno = EINTR;
        return true;
    case READ_FAILS:
        errno = EIO;
        return true;
    case FILE_SHRINKS:
        if (ftruncate(fd, (off_t)injected.shrunk_to) != 0)
            abort();
        return false;
    case READ_ALL:
        break;
    }
    return false;
}

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    return inject(fd, &n) ? -1 : __real_read(fd, to, n);
}

ssize_t __wrap_pread64(int fd, void *to, size_t n, off64_t at)
{
    return inject(fd, &n) ? -1 : __real_pread64(fd, to, n, at);
}

/* ---- Runs ---- */

static struct hprof_testing testing = {.hash_seed = 1};

static enum hprof_status validate_fd(int fd, struct allocator *memory, struct account *account, const char **failure)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_options options;
    enum hprof_status status;

    hprof_options_init(&options);
    options.allocator = &allocator;
    options.testing = &testing;
    account_begin(account);
    account_listen(account, &options);
    status = hprof_validate_fd(fd, &options);
    expect_no_leak(memory);
    if (failure) {
        static const char name[] = "\nfailure ";
        const char *at = account->size ? memmem(account->text, account->size, name, sizeof name - 1) : NULL;

        *failure = at ? at + sizeof name - 1 : "";
    }
    return status;
}

static int file_with(const struct bytes *b)
{
    int fd = -1;

    fill_memory_file(&fd, b->at, b->size);
    return fd;
}

/* Written from one end: a dump of corpus/ fits a pipe. False if it does not. */
static bool pipe_with(const struct bytes *b, int *fd)
{
    int ends[2];

    if (b->size > 60000)
        return false;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], b->at, b->size), b->size);
    close(ends[1]);
    *fd = ends[0];
    return true;
}

/* A descriptor of the dump; -1 if it does not fit a pipe. */
static int open_sample(const struct sample *sample, bool as_pipe)
{
    int fd = -1;

    if (!as_pipe)
        return file_with(&sample->bytes);
    return pipe_with(&sample->bytes, &fd) ? fd : -1;
}

/* ---- Memory ---- */

/* Each allocation of a check fails, alone. Returns how many runs ended with the status of a limit, and adds all to *runs. */
static uint64_t fail_each_allocation(const struct sample *sample, bool as_pipe, uint64_t *runs)
{
    static struct account whole, account;
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};
    uint64_t limits = 0;
    int fd = open_sample(sample, as_pipe);

    if (fd < 0)
        return 0;
    validate_fd(fd, &memory, &whole, NULL);
    close(fd);
    for (uint64_t n = 0, count = memory.count; n < count; n++) {
        memory = (struct allocator){.left = n, .junk = 0xa5};
        fd = open_sample(sample, as_pipe);
        if (validate_fd(fd, &memory, &account, NULL) == HPROF_LIMIT)
            limits++;
        else
            expect_same(&whole, "all memory", &account, "one allocation less", ACCOUNTS_EQUAL);
        assert_true(memory.failed);
        close(fd);
        ++*runs;
    }
    return limits;
}

static void one_allocation_may_fail(void **state)
{
    uint64_t runs = 0, limits = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++)
        limits += fail_each_allocation(&corpus[i], false, &runs) + fail_each_allocation(&corpus[i], true, &runs);
    print_message("%llu runs, %llu ended with the status of a limit\n", (unsigned long long)runs, (unsigned long long)limits);
    assert_true(runs > 4 * corpus_size && limits > runs / 2);
}

enum { SENTENCE_SIZE = 512 };

static enum hprof_status repair_fd(int from, struct allocator *memory, char *failure)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_repair repair = {.allocator = &allocator};
    int to = file_with(&(struct bytes){0});
    enum hprof_status status;

    assert_int_equal(lseek(from, 0, SEEK_SET), 0);
    status = hprof_repair_fd(from, to, &repair);
    close(to);
    snprintf(failure, SENTENCE_SIZE, "%s", repair.failure);
    return status;
}

static void ignore_line(void *context, const struct hprof_line *line)
{
    (void)context;
    (void)line;
}

static enum hprof_status show_fd(int fd, struct allocator *memory, char *failure)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_show show = {.offset = 40, .around = 2, .allocator = &allocator, .on_line = ignore_line};
    enum hprof_status status = hprof_show_fd(fd, &show);

    snprintf(failure, SENTENCE_SIZE, "%s", show.failure);
    return status;
}

/* Each allocation fails, alone or with all after it. Returns the number of runs that ended with HPROF_LIMIT. */
static uint64_t fail_allocations(int fd, enum hprof_status (*act)(int fd, struct allocator *memory, char *failure))
{
    char failure[SENTENCE_SIZE], expected[SENTENCE_SIZE];
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};
    enum hprof_status whole = act(fd, &memory, expected);
    uint64_t limits = 0;

    for (uint64_t n = 0, count = memory.count; n < 2 * count; n++) {
        memory = (struct allocator){.left = n / 2, .for_good = n % 2, .junk = 0xa5};
        enum hprof_status status = act(fd, &memory, failure);

        expect_no_leak(&memory);
        if (status == HPROF_LIMIT) {
            assert_string_not_equal(failure, "");
            limits++;
        } else {
            assert_int_equal(status, whole);
            assert_string_equal(failure, expected);
        }
    }
    return limits;
}

static void allocations_of_a_repair_and_of_showing_may_fail(void **state)
{
    uint64_t limits = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i += 5) {
        int fd = file_with(&corpus[i].bytes);

        limits += fail_allocations(fd, repair_fd);
        limits += fail_allocations(fd, show_fd);
        close(fd);
    }
    print_message("%llu runs ended with the status of a limit\n", (unsigned long long)limits);
    assert_true(limits > corpus_size);
}

/* ---- Reading ---- */

/* Of each dump, from a file and from a pipe, in blocks of the usual size, of which a small dump takes one or two, and in small
 * ones. */
static void for_each_reading(void (*test)(const struct sample *sample, bool as_pipe))
{
    static const size_t blocks[] = {0, 64};

    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        testing.block = blocks[k];
        for (size_t i = 0; i < corpus_size; i++) {
            test(&corpus[i], false);
            test(&corpus[i], true);
        }
    }
    testing.block = 0;
}

static void shorten_or_interrupt_reads(const struct sample *sample, bool as_pipe)
{
    static struct account whole, account;
    struct allocator memory = {.left = UINT64_MAX};
    bool more = true;

    for (uint64_t n = 0; more && n < 64; n++) {
        int fd = open_sample(sample, as_pipe);

        if (fd < 0)
            return;
        injected.fault = n == 0 ? READ_ALL : n % 2 ? READ_SHORT : READ_INTERRUPTED;
        injected.left = n / 2;
        injected.met = false;
        validate_fd(fd, &memory, n ? &account : &whole, NULL);
        more = n == 0 || injected.met;
        injected.fault = READ_ALL;
        close(fd);
        if (n)
            expect_same(&whole, sample->name, &account, n % 2 ? "a short read" : "an interrupted read", ACCOUNTS_EQUAL);
    }
}

static void reads_may_be_short_or_interrupted(void **state)
{
    (void)state;
    for_each_reading(shorten_or_interrupt_reads);
}

/* The Nth read of a dump fails. False if there are fewer. */
static bool fail_read(const struct sample *sample, bool as_pipe, uint64_t n, const struct account *whole)
{
    static struct account account;
    struct allocator memory = {.left = UINT64_MAX};
    const char *failure;
    int fd = open_sample(sample, as_pipe);

    injected.fault = READ_FAILS;
    injected.left = n;
    injected.met = false;
    enum hprof_status status = validate_fd(fd, &memory, &account, &failure);

    injected.fault = READ_ALL;
    close(fd);
    if (n == 0)
        assert_int_equal(status, HPROF_IO);
    if (status == HPROF_IO)
        assert_int_equal(strncmp(failure, "cannot be read", 14), 0);
    else /* while an offset is sought, nothing else is at stake: the report may lack it */
        expect_same(whole, sample->name, &account, "a failure while offsets are sought", injected.met ? SECOND_IS_A_PIPE : 0);
    return injected.met;
}

static void fail_reads(const struct sample *sample, bool as_pipe)
{
    static struct account whole;
    struct allocator memory = {.left = UINT64_MAX};
    uint64_t n = 0;
    int fd = open_sample(sample, as_pipe);

    if (fd < 0)
        return;
    validate_fd(fd, &memory, &whole, NULL);
    close(fd);
    while (n < 32 && fail_read(sample, as_pipe, n, &whole))
        n++;
    assert_true(n > 0);
}

static void a_read_that_fails_is_reported(void **state)
{
    (void)state;
    for_each_reading(fail_reads);
}

static void a_file_that_shrinks_is_reported(void **state)
{
    static struct account account;
    size_t reported = 0, tried = 0;

    (void)state;
    testing.block = 64;                            /* so that a small file takes several reads */
    for (size_t i = 0; i < 3 * corpus_size; i++) { /* to three sizes, before the second, third and fourth read */
        const struct bytes *b = &corpus[i / 3].bytes;
        struct allocator memory = {.left = UINT64_MAX};
        const char *failure;

        if (b->size < 400 || (b->at[0] == 0x1f && b->at[1] == 0x8b))
            continue;
        int fd = file_with(b);

        injected.fault = FILE_SHRINKS;
        injected.left = 1 + i % 3;
        injected.met = false;
        injected.shrunk_to = (i % 3) * 66;
        tried++;
        if (validate_fd(fd, &memory, &account, &failure) == HPROF_IO) {
            reported++;
            assert_int_equal(strncmp(failure, "cannot be read", 14), 0);
        }
        injected.fault = READ_ALL;
        close(fd);
    }
    testing.block = 0;
    print_message("%zu of %zu files that shrink are reported\n", reported, tried);
    assert_true(tried > 200);
    assert_int_equal(reported, tried);
}

static void what_is_no_file_is_reported(void **state)
{
    static const struct {
        const char *path;
        enum hprof_status status;
    } inputs[] = {{"/", HPROF_IO}, {"/proc/self/mem", HPROF_IO}, {"/dev/null", HPROF_INVALID}};
    static struct account account;
    int ends[2];

    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct allocator memory = {.left = UINT64_MAX};
        const char *failure;
        int fd = open(inputs[i].path, O_RDONLY | O_CLOEXEC);

        assert_true(fd >= 0);
        assert_int_equal(validate_fd(fd, &memory, &account, &failure), inputs[i].status);
        if (inputs[i].status == HPROF_IO)
            assert_int_equal(strncmp(failure, "cannot be read: ", 16), 0);
        close(fd);
    }
    /* A socket is a pipe like any other. */
    struct allocator memory = {.left = UINT64_MAX};
    static struct account whole;
    int fd = file_with(&corpus[0].bytes);

    validate_fd(fd, &memory, &whole, NULL);
    close(fd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[1], corpus[0].bytes.at, corpus[0].bytes.size), corpus[0].bytes.size);
    close(ends[1]);
    validate_fd(ends[0], &memory, &account, NULL);
    close(ends[0]);
    expect_same(&whole, "a file", &account, "a socket", SECOND_IS_A_PIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_allocation_may_fail),           cmocka_unit_test(allocations_of_a_repair_and_of_showing_may_fail),
        cmocka_unit_test(reads_may_be_short_or_interrupted), cmocka_unit_test(a_read_that_fails_is_reported),
        cmocka_unit_test(a_file_that_shrinks_is_reported),   cmocka_unit_test(what_is_no_file_is_reported),
    };

    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
