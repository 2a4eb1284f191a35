/* The options of the agent and the commands of its socket, whatever their bytes are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../agent/options.h"
#include "../agent/request.h"

enum { DRAWS = 300000, MOST = 400 };

static unsigned long long state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static int start(void **unused)
{
    (void)unused;
    state = (unsigned long long)time(NULL) << 16 ^ (unsigned long long)getpid();
    print_message("seed %llu\n", state);
    return 0;
}

static const char *const words[] = {"heap",
                                    "cpu",
                                    "monitor",
                                    "format",
                                    "file",
                                    "net",
                                    "depth",
                                    "interval",
                                    "cutoff",
                                    "lineno",
                                    "thread",
                                    "doe",
                                    "msa",
                                    "force",
                                    "verbose",
                                    "gz",
                                    "sample",
                                    "help",
                                    "gc_okay",
                                    "primfields",
                                    "=",
                                    "=",
                                    "=",
                                    ",",
                                    ",",
                                    ",",
                                    "y",
                                    "n",
                                    "a",
                                    "b",
                                    "dump",
                                    "sites",
                                    "all",
                                    "samples",
                                    "times",
                                    "old",
                                    "1",
                                    "0",
                                    "65535",
                                    "2147483648",
                                    "18446744073709551616",
                                    "1e9",
                                    "nan",
                                    "-1",
                                    "512k",
                                    "2g",
                                    "2047m",
                                    "%p",
                                    "%",
                                    ":",
                                    "host",
                                    "/",
                                    ".",
                                    " ",
                                    "\n",
                                    "\x01",
                                    "\xff"};

/* Of one piece of memory that ends where the text does. */
static char *draw_options(void)
{
    char text[MOST * 24];
    size_t size = 0;
    for (unsigned i = draw(draw(20) ? 12 : MOST); i; i--) {
        const char *word = words[draw(sizeof words / sizeof *words)];
        memcpy(text + size, word, strlen(word));
        size += strlen(word);
    }
    text[size] = 0;
    return strdup(text);
}

static void check_accepted(const struct options *o)
{
    assert_true(o->help || o->heap || o->samples || o->times || o->monitor);
    assert_true(o->help || !o->binary || (!o->monitor && !o->times));
    assert_true(!o->file[0] || !o->host[0]);
    assert_true(o->depth <= MOST_DEPTH);
    assert_true(o->interval > 0);
    assert_true(isfinite(o->cutoff) && o->cutoff >= 0);
    assert_true(o->gz <= 9);
    assert_true(o->sample <= INT32_MAX);
}

static void check_path(const struct options *o)
{
    char path[OPTION_PATH] = "", small[8];
    if (options_path(o, 4711, path, sizeof path)) {
        assert_true(strlen(path) > 0);
        assert_null(strstr(path, "%p"));
    }
    if (options_path(o, 4711, small, sizeof small))
        assert_true(strlen(small) < sizeof small);
}

static void test_options(void **unused)
{
    (void)unused;
    unsigned accepted = 0, refused = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct options options;
        char error[OPTION_ERROR] = "", *text = draw_options();
        if (options_parse(&options, text, error)) {
            check_accepted(&options);
            check_path(&options);
            accepted++;
        } else {
            assert_true(strlen(error) > 0 && strlen(error) < sizeof error);
            assert_null(strpbrk(error, "\n\r\x01"));
            refused++;
        }
        free(text);
    }
    assert_true(accepted > DRAWS / 200);
    assert_true(refused > DRAWS / 200);
}

static void test_defaults(void **unused)
{
    (void)unused;
    struct options options;
    char error[OPTION_ERROR];
    assert_true(options_parse(&options, NULL, error));
    assert_int_equal(options.heap, HEAP_ALL);
    assert_int_equal(options.depth, 4);
    assert_int_equal(options.interval, 10);
    assert_true(options.cutoff == 0.0001);
    assert_true(options.doe && options.lineno && options.force && options.verbose && options.primfields && options.primarrays);
    assert_false(options.thread || options.monitor || options.msa || options.binary || options.gz || options.sample ||
                 options.help);
    assert_true(options_parse(&options, "cpu=samples", error));
    assert_int_equal(options.heap, HEAP_OFF);
    assert_true(options_parse(&options, "sample=512k,net=[::1]:80", error));
    assert_int_equal(options.sample, 512 << 10);
    assert_string_equal(options.host, "::1");
    assert_string_equal(options.port, "80");
    assert_true(options_parse(&options, "sample=3M,net=host:65535", error));
    assert_int_equal(options.sample, 3 << 20);
    assert_true(options_parse(&options, "sample=7", error));
    assert_int_equal(options.sample, 7);
    assert_false(options_parse(&options, "net=host:65536", error));
}

/* As in JDK 8: profiles add up, of other options the last one counts. */
static void test_options_that_appear_twice(void **unused)
{
    (void)unused;
    struct options options;
    char error[OPTION_ERROR];
    assert_true(options_parse(&options, "heap=dump,heap=sites,cpu=times,cpu=samples,monitor=y", error));
    assert_int_equal(options.heap, HEAP_ALL);
    assert_true(options.samples && options.monitor);
    assert_int_equal(options.times, TIMES_OF_METHODS);
    assert_true(
        options_parse(&options, "cpu=times,cpu=old,monitor=y,monitor=n,depth=8,depth=1,format=b,format=a,doe=n,doe=y", error));
    assert_int_equal(options.times, TIMES_OLD);
    assert_int_equal(options.heap, HEAP_OFF);
    assert_int_equal(options.depth, 1);
    assert_true(options.doe);
    assert_false(options.samples || options.monitor || options.binary);
    assert_false(options_parse(&options, "cpu=times,cpu=samples,format=b", error));
    assert_false(options_parse(&options, "file=a,file=b", error));
}

/* With force=n, of a file that exists: the number of the process is at the end, before .txt. */
static void test_paths(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/agent.txt.XXXXXX", expected[64], path[OPTION_PATH];
    static const char *const names[][2] = {
        {"dump", "dump.4711"}, {"java.hprof", "java.hprof.4711"}, {"java.hprof.txt", "java.hprof.4711.txt"}};
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct options options = {.force = false};
        snprintf(options.file, sizeof options.file, "%s/%s", folder, names[i][0]);
        assert_true(options_path(&options, 4711, path, sizeof path));
        assert_string_equal(path, options.file);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
        snprintf(expected, sizeof expected, "%s/%s", folder, names[i][1]);
        assert_true(options_path(&options, 4711, path, sizeof path));
        assert_string_equal(path, expected);
        unlink(options.file);
    }
    rmdir(folder);
}

static void test_commands(void **unused)
{
    (void)unused;
    unsigned understood = 0;
    for (int i = 0; i < DRAWS; i++) {
        size_t size = draw(12);
        uint8_t *data = malloc(size + !size);
        for (size_t k = 0; k < size; k++)
            data[k] = (uint8_t)(draw(3) ? draw(9) : draw(256));
        unsigned tag = draw(3) ? 1 + draw(8) : draw(256), id_size = draw(2) ? 4 : 8;
        struct request request;
        if (request_parse(&request, tag, data, size, id_size)) {
            understood++;
            assert_int_equal(request.command, tag);
            assert_true(isfinite(request.cutoff) && request.cutoff >= 0);
            assert_true(tag == COMMAND_CONTROL || request.control == CONTROL_NONE);
            assert_true(request.depth <= 65535 && request.flags <= 65535);
            assert_true(id_size == 8 || request.thread <= UINT32_MAX);
        }
        free(data);
    }
    assert_true(understood > DRAWS / 10);
}

static void test_each_command(void **unused)
{
    (void)unused;
    struct request request;
    const uint8_t sites[] = {0, 4, 0x3d, 0xcc, 0xcc, 0xcd}, depth[] = {0, 6, 1, 2}, old_depth[] = {0, 7, 0, 9};
    const uint8_t on[] = {0, 3, 0x50, 0, 0, 1}, forget[] = {0, 6};
    assert_true(request_parse(&request, COMMAND_SITES, sites, sizeof sites, 4));
    assert_int_equal(request.flags, 4);
    assert_true(fabs(request.cutoff - 0.1) < 1e-6);
    assert_false(request_parse(&request, COMMAND_SITES, sites, 5, 4));
    assert_true(request_parse(&request, COMMAND_CONTROL, depth, sizeof depth, 4));
    assert_int_equal(request.control, CONTROL_DEPTH);
    assert_int_equal(request.depth, 0x102);
    assert_true(request_parse(&request, COMMAND_CONTROL, old_depth, sizeof old_depth, 4));
    assert_int_equal(request.control, CONTROL_DEPTH);
    assert_int_equal(request.depth, 9);
    assert_true(request_parse(&request, COMMAND_CONTROL, forget, sizeof forget, 4));
    assert_int_equal(request.control, CONTROL_FORGET_SITES);
    assert_true(request_parse(&request, COMMAND_CONTROL, on, sizeof on, 4));
    assert_int_equal(request.thread, 0x50000001);
    assert_false(request_parse(&request, COMMAND_CONTROL, on, sizeof on, 8));
    assert_false(request_parse(&request, 0x7f, on, sizeof on, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_options, start),      cmocka_unit_test(test_defaults),
                                       cmocka_unit_test(test_options_that_appear_twice), cmocka_unit_test(test_paths),
                                       cmocka_unit_test_setup(test_commands, start),     cmocka_unit_test(test_each_command)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
