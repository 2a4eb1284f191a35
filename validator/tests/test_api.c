/* hprof.h: the same bytes give the same report from every kind of input, or none if memory runs out; the tables are
 * complete; invalid options are refused. Runs in the top directory, on the dumps of corpus/. */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "account.h"
#include "corpus.h"
#include "each_allocation.h"
#include "forms.h"
#include "hprof/hprof.h"
#include "hprof/testing.h"

/* ---- The report of a run ---------------------------------------------------------------------------------------- */

static struct account check_fd(int fd)
{
    struct account a;
    struct hprof_options options = options_for(&a);

    account_end(&a, hprof_validate_fd(fd, &options, NULL));
    return a;
}

static void expect_same(const char *name, const char *how, const char *one, const char *other)
{
    if (strcmp(one, other) != 0)
        fail_msg("%s, %s: was\n%s\nis\n%s", name, how, one, other);
}

/* ---- Tables ----------------------------------------------------------------------------------------------------- */

static void every_rule_has_all_its_texts(void **state)
{
    (void)state;
    assert_true(hprof_rule_count() > 0);
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        const struct hprof_rule *r = hprof_rule_at(i);
        const char *texts[] = {r->id,      r->family, r->name,      r->clause,  r->rows,
                               r->summary, r->why,    r->producers, r->readers, r->example};

        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
            assert_non_null(texts[j]);
            assert_string_not_equal(texts[j], "");
        }
        assert_memory_equal(r->id, r->family, strlen(r->family));
        assert_int_equal(r->id[strlen(r->family)], '-');
        assert_true(r->lax <= r->severity);
        assert_true(!r->framing || r->lax == HPROF_ERROR);
    }
    assert_null(hprof_rule_at(hprof_rule_count()));
    assert_null(hprof_rule_at(SIZE_MAX));
}

static void rules_are_found_by_id_and_name_in_any_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        char name[64];
        size_t n = 0;

        assert_int_equal(hprof_rule_find(hprof_rule_at(i)->id), i);
        for (const char *p = hprof_rule_at(i)->name; *p; p++)
            name[n++] = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
        name[n] = '\0';
        assert_int_equal(hprof_rule_find(name), i);
    }
    assert_true(hprof_rule_find("OBJ-04") == SIZE_MAX);
    assert_true(hprof_rule_find("") == SIZE_MAX);
}

static void profiles_are_the_nine_in_their_order(void **state)
{
    static const char *const names[] = {"strict", "auto",    "hotspot", "jdk8-agent", "jvmpi-agent",
                                        "sa",     "android", "graalvm", "mat"};

    (void)state;
    for (size_t i = 0; i < 9; i++) {
        assert_string_equal(hprof_profile_at(i)->name, names[i]);
        assert_string_not_equal(hprof_profile_at(i)->description, "");
        assert_int_equal(hprof_profile_find(names[i]), i);
    }
    assert_null(hprof_profile_at(9));
    assert_true(hprof_profile_find("hot") == SIZE_MAX);
}

static void quirks_are_sorted_by_profile_and_name_what_they_change(void **state)
{
    size_t n = 0;

    (void)state;
    for (const struct hprof_quirk *q; (q = hprof_quirk_at(n)); n++) {
        assert_non_null(hprof_profile_at(q->profile));
        assert_non_null(hprof_rule_at(q->rule));
        assert_true(n == 0 || hprof_quirk_at(n - 1)->profile <= q->profile);
        assert_true(q->profile > hprof_profile_find("auto"));
        assert_int_not_equal(q->severity, hprof_rule_at(q->rule)->lax);
        assert_string_not_equal(q->versions, "");
        assert_string_not_equal(q->evidence, "");
        assert_true(!q->shape || *q->shape);
    }
    assert_true(n > 10);
}

static void tags_have_names(void **state)
{
    unsigned records = 0, subrecords = 0;

    (void)state;
    assert_string_equal(hprof_record_name(0x02), "LOAD_CLASS");
    assert_string_equal(hprof_subrecord_name(0x21), "INSTANCE_DUMP");
    for (unsigned tag = 0; tag < 256; tag++) {
        records += hprof_record_name((uint8_t)tag) != NULL;
        subrecords += hprof_subrecord_name((uint8_t)tag) != NULL;
    }
    assert_int_equal(records, 14);
    assert_int_equal(subrecords, 22);
}

/* ---- Options ---------------------------------------------------------------------------------------------------- */

/* What a run that is refused reports. */
struct refusal {
    unsigned summaries;
    char reason[HPROF_FAILURE_SIZE];
};

static int on_refusal(void *context, const struct hprof_summary *summary)
{
    struct refusal *r = context;

    assert_int_equal(summary->status, HPROF_USAGE);
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        assert_int_equal(summary->totals[rule], 0);
    r->summaries++;
    memcpy(r->reason, summary->failure, sizeof r->reason);
    return 0;
}

static int no_finding(void *context, const struct hprof_finding *f)
{
    (void)context;
    fail_msg("a finding of %s by a run that was refused", hprof_rule_at(f->rule)->id);
    return 0;
}

static struct hprof_options options_for_refusal(struct refusal *r)
{
    struct hprof_options options;

    hprof_options_init(&options);
    options.on_summary = on_refusal;
    options.on_finding = no_finding;
    options.context = r;
    return options;
}

static void expect_usage(struct hprof_options *options, const char *reason)
{
    const struct bytes *b = &corpus[0].bytes;
    struct refusal *r = options->context;

    *r = (struct refusal){0};
    assert_int_equal(hprof_validate_memory(b->at, b->size, false, options, NULL), HPROF_USAGE);
    assert_int_equal(hprof_validate_fd(-1, options, NULL), HPROF_USAGE);
    assert_int_equal(r->summaries, 2);
    assert_non_null(strstr(r->reason, reason));
    options->on_summary = NULL;
    assert_int_equal(hprof_validate_fd(-1, options, NULL), HPROF_USAGE);
    options->on_summary = on_refusal;
}

static void invalid_options_are_refused(void **state)
{
    struct refusal r;
    struct hprof_options options = options_for_refusal(&r);
    struct hprof_allocator none = {0};
    struct hprof_testing one_byte = {.block = 1}, small = {.piece = 399}, large = {.job_classes = 257};
    uint8_t *severities = malloc(hprof_rule_count());

    (void)state;
    options.profile = 9;
    expect_usage(&options, "profile");
    options.profile = SIZE_MAX;
    expect_usage(&options, "profile");
    options.profile = 0;

    memset(severities, HPROF_UNCHANGED, hprof_rule_count());
    severities[hprof_rule_count() - 1] = HPROF_ERROR + 1;
    options.severities = severities;
    expect_usage(&options, "severity");
    options.severities = NULL;

    options.testing = &one_byte;
    expect_usage(&options, "size");
    options.testing = &small;
    expect_usage(&options, "size");
    options.testing = &large;
    expect_usage(&options, "size");
    options.testing = NULL;

    options.allocator = &none;
    expect_usage(&options, "allocator");
    free(severities);
}

static void null_pointers_are_refused_or_harmless(void **state)
{
    const struct bytes *b = &corpus[0].bytes;
    struct refusal r = {0};
    struct hprof_options options = options_for_refusal(&r), quiet;
    struct hprof_show show;
    struct hprof_repair repair;
    FILE *dump = tmpfile(), *copy = tmpfile();

    (void)state;
    assert_int_equal(hprof_validate_memory(NULL, 1, false, &options, NULL), HPROF_USAGE);
    assert_int_equal(r.summaries, 1);
    assert_non_null(strstr(r.reason, "null pointer"));
    assert_int_equal(hprof_validate_memory(b->at, b->size, false, NULL, NULL), HPROF_USAGE);
    assert_int_equal(hprof_validate_fd(fileno(dump), NULL, NULL), HPROF_USAGE);
    assert_int_equal(hprof_show_fd(fileno(dump), NULL, NULL), HPROF_USAGE);
    assert_int_equal(hprof_repair_fd(fileno(dump), fileno(copy), NULL, NULL), HPROF_USAGE);

    /* No callbacks. */
    hprof_options_init(&quiet);
    assert_int_equal(hprof_validate_memory(NULL, 0, false, &quiet, NULL), HPROF_INVALID);
    assert_int_equal(fwrite(b->at, 1, b->size, dump), b->size);
    assert_int_equal(fflush(dump), 0);
    hprof_show_init(&show);
    hprof_repair_init(&repair);
    show.around = 100;
    assert_true(hprof_show_fd(fileno(dump), &show, NULL) <= HPROF_INVALID); /* lines were made */
    rewind(dump);
    (void)hprof_repair_fd(fileno(dump), fileno(copy), &repair, NULL);
    fclose(dump);
    fclose(copy);
}

static void no_callback_is_needed(void **state)
{
    struct hprof_options options;

    (void)state;
    hprof_options_init(&options);
    for (size_t i = 0; i < corpus_size; i++) {
        const struct bytes *b = &corpus[i].bytes;
        struct account a = check_memory(b, false);

        assert_int_equal(hprof_validate_memory(b->at, b->size, false, &options, NULL), a.status);
        account_free(&a);
    }
}

static void no_bytes_are_an_empty_file(void **state)
{
    struct bytes none = {0};
    struct account a = check_memory(&none, false);

    (void)state;
    assert_int_equal(a.status, HPROF_INVALID);
    assert_int_equal(a.findings, 1);
    assert_int_equal(a.findings_of[hprof_rule_find("HDR-005")], 1);
    account_free(&a);
}

static const struct bytes *dump_with_two_warnings(void)
{
    static struct bytes b;

    if (!b.size) {
        put_header(&b);
        put_string(&b, 1, "a");
        put_string(&b, 1, "a"); /* STR-003 */
        put_string(&b, 1, "a"); /* STR-003 */
        put_heap_summary(&b);
    }
    return &b;
}

static enum hprof_status check_warnings(struct account *a, uint8_t severity, const char *rule, bool werror)
{
    uint8_t *severities = malloc(hprof_rule_count());
    struct hprof_options options = options_for(a);

    memset(severities, HPROF_UNCHANGED, hprof_rule_count());
    severities[hprof_rule_find(rule)] = severity;
    options.severities = severities;
    options.werror = werror;
    account_end(a, hprof_validate_memory(dump_with_two_warnings()->at, dump_with_two_warnings()->size, false, &options, NULL));
    free(severities);
    return a->status;
}

static void severities_are_the_callers(void **state)
{
    static const struct {
        uint8_t severity;
        bool werror;
        uint64_t errors, warnings, notes;
    } cases[] = {{HPROF_UNCHANGED, false, 0, 2, 0}, {HPROF_UNCHANGED, true, 2, 0, 0}, {HPROF_OFF, true, 0, 0, 0},
                 {HPROF_NOTE, true, 0, 0, 2},       {HPROF_WARNING, false, 0, 2, 0},  {HPROF_ERROR, false, 2, 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct account a;
        enum hprof_status status = check_warnings(&a, cases[i].severity, "STR-003", cases[i].werror);

        assert_int_equal(a.summary.errors, cases[i].errors);
        assert_int_equal(a.summary.warnings, cases[i].warnings);
        assert_int_equal(a.summary.notes, cases[i].notes);
        assert_int_equal(status, cases[i].errors ? HPROF_INVALID : HPROF_VALID);
        assert_int_equal(a.findings, cases[i].errors + cases[i].warnings + cases[i].notes);
        account_free(&a);
    }
}

static void faults_of_the_framing_stay_errors(void **state)
{
    uint8_t *off = calloc(hprof_rule_count(), 1);
    struct account a;
    struct hprof_options options = options_for(&a);

    (void)state;
    options.severities = off;
    account_end(&a, hprof_validate_memory("JAVA", 4, false, &options, NULL));
    assert_int_equal(a.status, HPROF_INVALID);
    assert_int_equal(a.findings, 1);
    account_free(&a);
    free(off);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static struct account check_with(const struct bytes *b, bool as_pipe, struct caller *caller, uint64_t max_memory)
{
    struct account a;
    struct hprof_options options = options_for(&a);
    struct hprof_allocator allocator = caller_allocator(caller);

    a.caller = caller;
    options.allocator = &allocator;
    options.max_memory = max_memory;
    account_end(&a, hprof_validate_memory(b->at, b->size, as_pipe, &options, NULL));
    return a;
}

/* Expects the complete report, or HPROF_LIMIT and no other findings; and all memory released. Returns whether it was
 * complete. */
static bool verdict_or_limit(const char *name, const struct account *whole, const struct account *a,
                             const struct caller *caller)
{
    if (!caller_has_all_back(caller))
        fail_msg("%s: %" PRIu64 " bytes did not come back, or with another size", name, caller->bytes);
    if (a->status != HPROF_LIMIT) {
        expect_same(name, "with little memory", whole->all, a->all);
        assert_int_equal(a->status, whole->status);
    }
    if (a->findings > whole->findings)
        fail_msg("%s: more findings with little memory", name);
    if (a->summary.version) /* there was a summary */
        assert_int_equal(a->summary.status, a->status);
    return a->status != HPROF_LIMIT;
}

struct check {
    const struct sample *sample;
    bool as_pipe;
    struct account whole;
};

static void expect_verdict_or_limit(struct caller *caller, void *context)
{
    const struct check *check = context;
    struct account a = check_with(&check->sample->bytes, check->as_pipe, caller, 0);

    if (!verdict_or_limit(check->sample->name, &check->whole, &a, caller) && !caller->refused)
        fail_msg("%s: a limit was met with all memory there", check->sample->name);
    account_free(&a);
}

static void expect_verdict_or_limit_at_every_allocation(const struct sample *sample, bool as_pipe)
{
    struct check check = {sample, as_pipe, check_memory(&sample->bytes, as_pipe)};

    fail_each_allocation_of(expect_verdict_or_limit, &check);
    account_free(&check.whole);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++)
        expect_verdict_or_limit_at_every_allocation(&corpus[i], false);
}

static void any_allocation_may_fail_on_a_pipe(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++)
        expect_verdict_or_limit_at_every_allocation(&corpus[i], true);
}

static void any_allocation_may_fail_on_a_compressed_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i += 10) {
        struct sample sample = {corpus[i].name, compress_gzip(&corpus[i].bytes)};

        expect_verdict_or_limit_at_every_allocation(&sample, false);
        free(sample.bytes.at);
    }
}

static void a_limit_is_reported_with_the_offset(void **state)
{
    struct caller caller = {.left = UINT64_MAX};
    struct account a = check_with(dump_with_two_warnings(), false, &caller, 100);

    (void)state;
    assert_int_equal(a.status, HPROF_LIMIT);
    assert_int_equal(a.summary.status, HPROF_LIMIT);
    assert_non_null(strstr(a.all, "the memory limit of 100 bytes was met at offset 0x"));
    account_free(&a);
}

/* The checker itself, of a fixed size, is not counted. */
enum { CONTEXT = 256 << 10 };

static void max_memory_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct account whole = check_memory(&corpus[i].bytes, i & 1);
        bool enough = false;

        for (uint64_t limit = 512; !enough; limit += limit / 2) {
            struct caller caller = {.left = UINT64_MAX};
            struct account a = check_with(&corpus[i].bytes, i & 1, &caller, limit);

            enough = verdict_or_limit(corpus[i].name, &whole, &a, &caller);
            assert_true(a.peak <= limit + CONTEXT);
            account_free(&a);
        }
        account_free(&whole);
    }
}

/* ---- Where bytes come from -------------------------------------------------------------------------------------- */

static void a_file_gives_the_report_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        int fd = file_of(&corpus[i].bytes);
        struct account memory = check_memory(&corpus[i].bytes, false), file = check_fd(fd);

        expect_same(corpus[i].name, "file", memory.all, file.all);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
        assert_true(file.summary_first);
        account_free(&memory);
        account_free(&file);
        close(fd);
    }
}

static void input_that_cannot_be_read_again_lacks_only_offsets(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct account file = check_memory(&corpus[i].bytes, false), pipe = check_memory(&corpus[i].bytes, true);

        expect_same(corpus[i].name, "as a pipe", file.without_offsets, pipe.without_offsets);
        assert_false(pipe.lacks_offset);
        assert_int_equal(file.status, pipe.status);
        account_free(&file);
        account_free(&pipe);
    }
}

static void a_compressed_file_gives_the_report_of_the_plain_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        struct bytes compressed = compress_gzip(&corpus[i].bytes);
        struct account plain = check_memory(&corpus[i].bytes, false), gzip = check_memory(&compressed, false);
        const char *findings = strchr(gzip.all, '\n'), *expected = strchr(plain.all, '\n');

        /* The first line describes the file. A file that is compressed twice is another fault. */
        if (!plain.summary.compressed)
            expect_same(corpus[i].name, "compressed", expected, findings);
        account_free(&plain);
        account_free(&gzip);
        free(compressed.at);
    }
}

/* Writes bytes to a descriptor in pieces of a size. */
struct writer {
    const struct bytes *bytes;
    size_t piece;
    int fd;
};

static void *write_all(void *argument)
{
    const struct writer *w = argument;
    size_t at = 0;

    while (at < w->bytes->size) {
        size_t n = w->bytes->size - at < w->piece ? w->bytes->size - at : w->piece;
        ssize_t written = write(w->fd, w->bytes->at + at, n);

        if (written < 0)
            break;
        at += (size_t)written;
    }
    close(w->fd);
    return NULL;
}

static void expect_same_through(const struct sample *sample, bool socket, size_t piece)
{
    struct account memory = check_memory(&sample->bytes, true), pipe_;
    int ends[2];
    pthread_t thread;
    struct writer writer = {&sample->bytes, piece, -1};

    assert_int_equal(socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
    writer.fd = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, write_all, &writer), 0);
    pipe_ = check_fd(ends[0]);
    close(ends[0]);
    pthread_join(thread, NULL);
    expect_same(sample->name, socket ? "through a socket" : "through a pipe", memory.all, pipe_.all);
    account_free(&memory);
    account_free(&pipe_);
}

static void a_pipe_may_deliver_as_it_likes(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        bool small = corpus[i].bytes.size < 1000;

        expect_same_through(&corpus[i], i & 1, small ? 1 : 997);
        expect_same_through(&corpus[i], !(i & 1), 2 + i % 40 + (small ? 0 : 997));
        expect_same_through(&corpus[i], i & 1, SIZE_MAX);
    }
}

static void unreadable_input_is_reported(void **state)
{
    int directory = open(".", O_RDONLY);
    struct account closed = check_fd(-1), folder = check_fd(directory);

    (void)state;
    assert_int_equal(closed.status, HPROF_IO);
    assert_non_null(strstr(closed.all, "cannot be read: "));
    assert_int_equal(closed.findings, 0);
    assert_int_equal(folder.status, HPROF_IO);
    account_free(&closed);
    account_free(&folder);
    close(directory);
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

static void *check_corpus(void *argument)
{
    struct account *accounts = argument;

    for (size_t i = 0; i < corpus_size; i++)
        accounts[i] = check_memory(&corpus[i].bytes, false);
    return NULL;
}

static void two_threads_may_check_at_once(void **state)
{
    struct account *accounts[3];
    pthread_t threads[2];

    (void)state;
    for (size_t i = 0; i < 3; i++)
        accounts[i] = calloc(corpus_size, sizeof **accounts);
    check_corpus(accounts[2]);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, check_corpus, accounts[i]), 0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < corpus_size; i++) {
        expect_same(corpus[i].name, "beside another", accounts[2][i].all, accounts[0][i].all);
        expect_same(corpus[i].name, "beside another", accounts[2][i].all, accounts[1][i].all);
    }
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < corpus_size; j++)
            account_free(&accounts[i][j]);
        free(accounts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_all_its_texts),
        cmocka_unit_test(rules_are_found_by_id_and_name_in_any_case),
        cmocka_unit_test(profiles_are_the_nine_in_their_order),
        cmocka_unit_test(quirks_are_sorted_by_profile_and_name_what_they_change),
        cmocka_unit_test(tags_have_names),
        cmocka_unit_test(invalid_options_are_refused),
        cmocka_unit_test(null_pointers_are_refused_or_harmless),
        cmocka_unit_test(no_callback_is_needed),
        cmocka_unit_test(no_bytes_are_an_empty_file),
        cmocka_unit_test(severities_are_the_callers),
        cmocka_unit_test(faults_of_the_framing_stay_errors),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(any_allocation_may_fail_on_a_pipe),
        cmocka_unit_test(any_allocation_may_fail_on_a_compressed_file),
        cmocka_unit_test(a_limit_is_reported_with_the_offset),
        cmocka_unit_test(max_memory_is_kept),
        cmocka_unit_test(a_file_gives_the_report_of_memory),
        cmocka_unit_test(input_that_cannot_be_read_again_lacks_only_offsets),
        cmocka_unit_test(a_compressed_file_gives_the_report_of_the_plain_one),
        cmocka_unit_test(a_pipe_may_deliver_as_it_likes),
        cmocka_unit_test(unreadable_input_is_reported),
        cmocka_unit_test(two_threads_may_check_at_once),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, load_corpus, free_corpus);
}
