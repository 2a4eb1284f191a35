/* Every truncation and every change of a byte of every file of corpus/: the run ends with a verdict, each finding lies within
 * the file, and a pipe gives the same report as a file.
 *
 * The values a byte is changed to: each single bit flipped, 0, 0xff, one more, one less. Successive bytes and files take turns
 * with these values, VALUE_SHARE in a round, because the files of a rule differ in little, and all values together would take
 * minutes under the sanitizers. HPROF_ALL_CHANGES=named gives each byte all of these. Files of more than 3 * WHOLE_SIZE bytes
 * are truncated and changed in their first and last WHOLE_SIZE bytes, and in steps between. HPROF_ALL_CHANGES=all truncates
 * every file everywhere and gives each byte all 255 other values. One mutant in PIPE_SHARE is also checked as a pipe.
 *
 * One fault gives one error: the changes of files in corpus/valid that give several errors are counted and bounded.
 *
 * test_mutations PART PARTS takes every file whose number modulo PARTS is PART, so that cores share the work. HPROF_SHARE=8 takes
 * one of eight parts, another one in each run. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "corpus.h"
#include "hprof/hprof.h"
#include "share.h"

enum {
    WHOLE_SIZE = 1000,
    STEP = 13, /* prime, so that it meets every field of tables of any width */
    PIPE_SHARE = 16,
    VALUE_SHARE = 6,
    RULES_MAX = 256,
    FAILURES_PRINTED = 20,
    ONE_ERROR = 50,        /* at most one in 50 faults gives several errors: 98 % give one; */
    ONE_ERROR_OF_PART = 25 /* of a part of the corpus, fewer */
};

/* ---- The corpus ---- */

static size_t part, parts = 1;
static bool all; /* HPROF_ALL_CHANGES=all */

static int smaller_first(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->bytes.size > y->bytes.size) - (x->bytes.size < y->bytes.size);
}

/* Small files first, so that faults show soon. */
static void take_part(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < corpus_size; i++)
        if (i % parts == part)
            corpus[kept++] = corpus[i];
        else
            free_file(&corpus[i]);
    corpus_size = kept;
    qsort(corpus, corpus_size, sizeof *corpus, smaller_first);
}

/* ---- Memory ---- */

/* Large blocks are kept from run to run, because mapping them again would take most of the time. */
enum { LARGE = 64 << 10, SHELF = 16 };
static struct {
    void *block;
    size_t size;
} shelf[SHELF];

static void *allocate(void *context, size_t size)
{
    int64_t *out = context;
    void *block = NULL;

    for (int i = 0; size >= LARGE && !block && i < SHELF; i++)
        if (shelf[i].block && shelf[i].size == size) {
            block = shelf[i].block;
            shelf[i].block = NULL;
        }
    if (!block)
        block = malloc(size);
    assert_non_null(block);
    *out += (int64_t)size;
    return block;
}

static void release(void *context, void *block, size_t size)
{
    int64_t *out = context;

    *out -= (int64_t)size;
    for (int i = 0; size >= LARGE && i < SHELF; i++)
        if (!shelf[i].block) {
            shelf[i].block = block;
            shelf[i].size = size;
            return;
        }
    free(block);
}

static int clear_shelf(void **state)
{
    (void)state;
    for (int i = 0; i < SHELF; i++) {
        free(shelf[i].block);
        shelf[i].block = NULL;
    }
    return 0;
}

/* ---- One run ---- */

struct run {
    size_t size;
    uint64_t bytes, sound_until, errors;
    bool compressed;
    uint64_t totals[RULES_MAX];
    uint64_t findings;
    bool compared;     /* it is also checked as a pipe */
    uint64_t reported; /* a hash of everything that must be the same as a pipe */
    const char *wrong; /* what went wrong first, or NULL */
    const char *rule;  /* of the wrong finding */
    int64_t memory_out;
};

static void add_bytes(struct run *run, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n && run->compared; i++)
        run->reported = (run->reported ^ p[i]) * UINT64_C(0x100000001b3);
}

static void add_number(struct run *run, uint64_t number)
{
    add_bytes(run, &number, sizeof number);
}

static void require(struct run *run, bool holds, const char *what)
{
    if (!holds && !run->wrong)
        run->wrong = what;
}

static int on_summary(void *context, const struct hprof_summary *s)
{
    struct run *run = context;

    run->bytes = s->bytes;
    run->sound_until = s->sound_until;
    run->errors = s->errors;
    run->compressed = s->compressed;
    require(run, s->sound_until <= s->bytes, "sound_until is after the end");
    require(run, s->skipped <= s->bytes, "more is skipped than there is");
    require(run, s->compressed || s->bytes == run->size, "bytes is not the size of the file");
    require(run, s->file_bytes == run->size, "file_bytes is not the size of the file");
    require(run, (s->status == HPROF_INVALID) == (s->errors > 0), "the status contradicts the errors");
    memcpy(run->totals, s->totals, hprof_rule_count() * sizeof *s->totals);
    add_number(run, s->sound_until);
    add_number(run, s->skipped);
    add_number(run, s->bytes);
    add_number(run, s->references);
    add_bytes(run, s->totals, hprof_rule_count() * sizeof *s->totals);
    add_bytes(run, s->record_counts, sizeof s->record_counts);
    add_bytes(run, s->subrecord_counts, sizeof s->subrecord_counts);
    add_bytes(run, s->producer, strlen(s->producer));
    add_bytes(run, s->hint ? s->hint : "", s->hint ? strlen(s->hint) : 0);
    return 0;
}

static int on_finding(void *context, const struct hprof_finding *f)
{
    struct run *run = context;
    const struct hprof_rule *rule = hprof_rule_at(f->rule);
    bool anywhere = strcmp(rule->id, "REF-002") == 0;
    uint64_t end = strcmp(rule->family, "GZ") == 0 ? run->size : run->bytes;
    const char *before = run->wrong;

    run->findings++;
    require(run, f->offset < end || f->offset == 0 || (anywhere && f->offset == HPROF_NO_OFFSET), "an offset is outside");
    require(run, f->related_offset < end || f->related_offset == HPROF_NO_OFFSET, "a related offset is outside");
    if (run->wrong != before)
        run->rule = rule->id;
    add_number(run, f->rule);
    add_number(run, f->severity);
    add_number(run, anywhere ? 0 : f->offset);
    add_bytes(run, f->path, strlen(f->path));
    add_bytes(run, f->expected, strlen(f->expected));
    add_bytes(run, f->found, strcspn(f->found, ";")); /* of REF-002 what follows is not known in a pipe */
    return 0;
}

static struct run validate(const uint8_t *bytes, size_t size, bool as_pipe, bool compared)
{
    struct run run = {.size = size, .compared = compared, .reported = UINT64_C(0xcbf29ce484222325)};
    struct hprof_allocator allocator = {allocate, release, &run.memory_out};
    struct hprof_options options;
    enum hprof_status status;
    uint64_t total = 0;

    hprof_options_init(&options);
    options.max_errors = 0;
    options.allocator = &allocator;
    options.on_summary = on_summary;
    options.on_finding = on_finding;
    options.context = &run;
    status = hprof_validate_memory(bytes, size, as_pipe, &options, NULL);
    require(&run, status == HPROF_VALID || status == HPROF_INVALID, "the status is neither 0 nor 1");
    require(&run, run.memory_out == 0, "memory is lost");
    for (size_t i = 0; i < hprof_rule_count(); i++)
        total += run.totals[i];
    require(&run, total == run.findings, "the totals are not those of the findings");
    return run;
}

/* ---- All of a file ---- */

static struct {
    uint64_t runs, pipes, failures;
    uint64_t turn;
    uint64_t faults, several; /* changes of valid files that give errors, and that give several */
} count;

/* Whether a member that is not complete ends in zeros: in a pipe they are data (RULES.md M.2). */
static bool has_other_data_as_pipe(const struct run *run, const uint8_t *bytes, size_t size)
{
    static const uint8_t zeros[512];

    return run->totals[hprof_rule_find("gzip-truncated")] > 0 && size >= sizeof zeros &&
           memcmp(bytes + size - sizeof zeros, zeros, sizeof zeros) == 0;
}

static void check_mutant(const struct sample *sample, const uint8_t *bytes, size_t size, const char *what, size_t at,
                         unsigned value)
{
    bool compared = count.turn++ % PIPE_SHARE == 0;
    struct run run = validate(bytes, size, false, compared);
    const char *wrong = run.wrong, *rule = run.rule;

    count.runs++;
    if (strncmp(sample->name, "corpus/valid/", 13) == 0) {
        count.faults += run.errors > 0;
        count.several += run.errors > 1;
    }
    if (!wrong && compared) {
        struct run piped = validate(bytes, size, true, true);

        count.pipes++;
        wrong = piped.wrong;
        if (!wrong && piped.reported != run.reported && !has_other_data_as_pipe(&run, bytes, size))
            wrong = "a pipe gives another report";
        rule = piped.rule;
    }
    if (wrong && count.failures++ < FAILURES_PRINTED)
        print_error("%s, %s %zu to 0x%02x: %s%s%s\n", sample->name, what, at, value, wrong, rule ? ": " : "", rule ? rule : "");
}

/* Whether not every offset is tried here, because the file is large. */
static bool is_amid(const struct sample *sample, size_t at)
{
    return sample->bytes.size > 3 * WHOLE_SIZE && at >= WHOLE_SIZE && at + WHOLE_SIZE < sample->bytes.size;
}

/* The next offset to truncate or change. */
static size_t next_offset(const struct sample *sample, size_t at)
{
    if (all || !is_amid(sample, at))
        return at + 1;
    return at + STEP < sample->bytes.size - WHOLE_SIZE ? at + STEP : sample->bytes.size - WHOLE_SIZE;
}

static void finish(const char *what)
{
    print_message("%s: %" PRIu64 " files, %" PRIu64 " of them as pipes too\n", what, count.runs, count.pipes);
    assert_true(count.runs > corpus_size);
    assert_int_equal(count.failures, 0);
    memset(&count, 0, sizeof count);
}

static void every_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct sample *sample = &corpus[i];

        for (size_t size = 0; size < sample->bytes.size; size = next_offset(sample, size)) {
            uint8_t *part = malloc(size + !size); /* of exactly this size, so that sanitizers notice a read after its end */

            assert_non_null(part);
            memcpy(part, sample->bytes.at, size);
            check_mutant(sample, part, size, "truncated", size, 0);
            free(part);
        }
    }
    finish("cuts");
}

static void every_change(void **state)
{
    const char *more = getenv("HPROF_ALL_CHANGES");
    size_t turn = 0;

    (void)state;
    for (size_t i = 0; i < corpus_size; i++, turn++) {
        const struct sample *sample = &corpus[i];
        uint8_t *bytes = malloc(sample->bytes.size + !sample->bytes.size);

        assert_non_null(bytes);
        if (sample->bytes.size)
            memcpy(bytes, sample->bytes.at, sample->bytes.size);
        for (size_t at = 0; at < sample->bytes.size; at = next_offset(sample, at), turn++) {
            uint8_t old = bytes[at];
            bool wanted[256] = {[0] = true, [0xff] = true};
            size_t share = more && !all ? 1 : VALUE_SHARE;

            wanted[(uint8_t)(old + 1)] = wanted[(uint8_t)(old - 1)] = true;
            for (unsigned bit = 1; bit < 256; bit <<= 1)
                wanted[old ^ bit] = true;
            for (unsigned value = 0; value < 256; value++) {
                if (value == old || !(all || (wanted[value] && turn++ % share == 0)))
                    continue;
                bytes[at] = (uint8_t)value;
                check_mutant(sample, bytes, sample->bytes.size, "byte", at, value);
            }
            bytes[at] = old;
        }
        free(bytes);
    }
    print_message("%" PRIu64 " of %" PRIu64 " faults gave more than one error\n", count.several, count.faults);
    assert_true(count.several <= count.faults / (parts > 2 ? ONE_ERROR_OF_PART : ONE_ERROR));
    finish("changes");
}

static int begin(void **state)
{
    const char *more = getenv("HPROF_ALL_CHANGES");

    all = more && strcmp(more, "all") == 0;
    if (hprof_rule_count() > RULES_MAX || load_corpus(state) != 0)
        return -1;
    take_part();
    return 0;
}

static int end(void **state)
{
    return clear_shelf(state) | free_corpus(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_change),
    };

    if (argc == 3) {
        part = strtoul(argv[1], NULL, 10);
        parts = strtoul(argv[2], NULL, 10);
    } else {
        struct share share = draw_share();

        part = share.part;
        parts = share.parts;
    }
    return cmocka_run_group_tests(tests, begin, end);
}
