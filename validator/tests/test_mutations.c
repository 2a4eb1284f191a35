/* Every cut and every change of a byte of every file of corpus/: the run ends with a verdict, each finding lies within the file,
 * and a pipe is judged like a file.
 *
 * The values a byte is changed to: each single bit flipped, 0, 0xff, one more, one less. Bytes and files that follow one another
 * take turns with them, VALUE_SHARE to a round: the files of a rule differ in little, and all together take minutes under the
 * sanitizers. HPROF_ALL_CHANGES=named gives each byte all of these. Files of more than 3 * WHOLE_SIZE bytes are cut and changed in
 * their first and last WHOLE_SIZE bytes, and in steps between. HPROF_ALL_CHANGES=all cuts every file everywhere and gives each byte
 * the 255 values that there are. One mutant in PIPE_SHARE is judged as a pipe too.
 *
 * One fault gives one error: of the changes of files in corpus/valid, those with more than one are counted and bounded.
 *
 * test_mutations PART PARTS takes one file of PARTS alone, the PART-th from 0: so a machine's cores share the work. */
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

enum {
    WHOLE_SIZE = 1000,
    STEP = 13, /* meets every field of tables of any width */
    PIPE_SHARE = 16,
    VALUE_SHARE = 6,
    RULES_MAX = 256,
    TOLD_MAX = 20,
    ONE_ERROR = 50 /* of so many faults at most one has more: 98 % give one error */
};

/* ---- The corpus ---- */

static size_t part, parts = 1;
static bool all; /* HPROF_ALL_CHANGES=all */

static int smaller_first(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->bytes.size > y->bytes.size) - (x->bytes.size < y->bytes.size);
}

/* What is wrong with small files is found soon. */
static void take_part(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < corpus_size; i++)
        if (i % parts == part)
            corpus[kept++] = corpus[i];
        else
            forget_file(&corpus[i]);
    corpus_size = kept;
    qsort(corpus, corpus_size, sizeof *corpus, smaller_first);
}

/* ---- Large blocks are kept from run to run: to map and unmap them would take most of the time ---- */

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
    bool compared;     /* it is judged as a pipe too: */
    uint64_t told;     /* a hash of all that is told and must be the same there */
    const char *wrong; /* the first thing that must not be, or NULL */
    const char *rule;  /* of the finding that is wrong */
    int64_t memory_out;
};

static void tell(struct run *run, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n && run->compared; i++)
        run->told = (run->told ^ p[i]) * UINT64_C(0x100000001b3);
}

static void tell_number(struct run *run, uint64_t number)
{
    tell(run, &number, sizeof number);
}

static void require(struct run *run, bool holds, const char *what)
{
    if (!holds && !run->wrong)
        run->wrong = what;
}

static void on_summary(void *context, const struct hprof_summary *s)
{
    struct run *run = context;

    run->bytes = s->bytes;
    run->sound_until = s->sound_until;
    run->errors = s->errors;
    run->compressed = s->compressed;
    require(run, s->sound_until <= s->bytes, "sound_until is behind the end");
    require(run, s->skipped <= s->bytes, "more is skipped than there is");
    require(run, s->compressed || s->bytes == run->size, "bytes is not the size of the file");
    require(run, s->file_bytes == run->size, "file_bytes is not the size of the file");
    require(run, (s->status == HPROF_INVALID) == (s->errors > 0), "the status contradicts the errors");
    memcpy(run->totals, s->totals, hprof_rule_count() * sizeof *s->totals);
    tell_number(run, s->sound_until);
    tell_number(run, s->skipped);
    tell_number(run, s->bytes);
    tell_number(run, s->references);
    tell(run, s->totals, hprof_rule_count() * sizeof *s->totals);
    tell(run, s->record_counts, sizeof s->record_counts);
    tell(run, s->subrecord_counts, sizeof s->subrecord_counts);
    tell(run, s->producer, strlen(s->producer));
    tell(run, s->hint ? s->hint : "", s->hint ? strlen(s->hint) : 0);
}

static void on_finding(void *context, const struct hprof_finding *f)
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
    tell_number(run, f->rule);
    tell_number(run, f->severity);
    tell_number(run, anywhere ? 0 : f->offset);
    tell(run, f->path, strlen(f->path));
    tell(run, f->expected, strlen(f->expected));
    tell(run, f->found, strlen(f->found));
}

static struct run validate(const uint8_t *bytes, size_t size, bool as_pipe, bool compared)
{
    struct run run = {.size = size, .compared = compared, .told = UINT64_C(0xcbf29ce484222325)};
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
    status = hprof_validate_memory(bytes, size, as_pipe, &options);
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
    uint64_t faults, several; /* changes of valid files that are errors, and more than one */
} count;

static void judge_mutant(const struct sample *sample, const uint8_t *bytes, size_t size, const char *what, size_t at,
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
        wrong = piped.wrong ? piped.wrong : piped.told != run.told ? "a pipe is judged otherwise" : NULL;
        rule = piped.rule;
    }
    if (wrong && count.failures++ < TOLD_MAX)
        print_error("%s, %s %zu to 0x%02x: %s%s%s\n", sample->name, what, at, value, wrong, rule ? ": " : "", rule ? rule : "");
}

/* Whether a place lies where, of a large file, not all are tried. */
static bool is_amid(const struct sample *sample, size_t at)
{
    return sample->bytes.size > 3 * WHOLE_SIZE && at >= WHOLE_SIZE && at + WHOLE_SIZE < sample->bytes.size;
}

/* The next place to cut or change. */
static size_t next_place(const struct sample *sample, size_t at)
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

static void every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++) {
        const struct sample *sample = &corpus[i];

        for (size_t size = 0; size < sample->bytes.size; size = next_place(sample, size)) {
            uint8_t *part = malloc(size + !size); /* of just that size: a read behind it is seen */

            assert_non_null(part);
            memcpy(part, sample->bytes.at, size);
            judge_mutant(sample, part, size, "cut", size, 0);
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
        for (size_t at = 0; at < sample->bytes.size; at = next_place(sample, at), turn++) {
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
                judge_mutant(sample, bytes, sample->bytes.size, "byte", at, value);
            }
            bytes[at] = old;
        }
        free(bytes);
    }
    print_message("%" PRIu64 " of %" PRIu64 " faults gave more than one error\n", count.several, count.faults);
    assert_true(count.several <= count.faults / ONE_ERROR);
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
    return clear_shelf(state) | forget_corpus(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut),
        cmocka_unit_test(every_change),
    };

    if (argc == 3) {
        part = strtoul(argv[1], NULL, 10);
        parts = strtoul(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, begin, end);
}
