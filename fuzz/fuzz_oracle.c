/* The library against the oracle, in the strict profile: the same findings at the same offsets, the same counts. Ends the
 * process at the first difference, after printing it. fuzz/ORACLE.md says what is compared. */
#include "allocator.h"
#include "oracle.h"
#include "oracle_framing.h"
#include "sizes.h"
#include "target.h"

#include <hprof/hprof.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak)); /* of the engine */

struct library_report {
    struct oracle_finding *findings;
    size_t count, capacity;
    struct hprof_summary summary; /* its pointers are not kept */
};

static int on_summary(void *context, const struct hprof_summary *summary)
{
    ((struct library_report *)context)->summary = *summary;
    return 0;
}

static int on_finding(void *context, const struct hprof_finding *finding)
{
    struct library_report *r = context;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->findings = realloc(r->findings, r->capacity * sizeof *r->findings);
        if (!r->findings)
            abort();
    }
    r->findings[r->count++] = (struct oracle_finding){hprof_rule_at(finding->rule)->id, finding->offset};
    return 0;
}

static int compare_findings(const void *left, const void *right)
{
    const struct oracle_finding *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return strcmp(a->rule, b->rule);
}

static void print(const char *whose, const struct oracle_finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %s: %s at 0x%" PRIx64 "\n", whose, findings[i].rule, findings[i].offset);
}

static _Noreturn void differ(const char *what, const struct oracle_report *oracle, const struct library_report *library)
{
    fprintf(stderr, "oracle and library differ: %s\n", what);
    if (oracle->failed)
        fprintf(stderr, "  oracle: reading failed; read until 0x%" PRIx64 ", heap dumps closed until 0x%" PRIx64 "\n",
                oracle->read_until, oracle->closed_until);
    print("oracle, for the failure", &oracle->failure, oracle->failed);
    print("oracle ", oracle->findings, oracle->finding_count);
    print("library", library->findings, library->count);
    abort();
}

/* What the library may report for the failure instead, or besides. */
static bool is_other_failure(const struct oracle_report *oracle, const struct oracle_finding *finding)
{
    if (oracle->failed_in_heap)
        return strcmp(finding->rule, "REC-002") == 0 && finding->offset < oracle->failure.offset + LENGTH_AT;
    return oracle->other_failure.rule && compare_findings(&oracle->other_failure, finding) == 0;
}

/* Keeps the library's findings that the oracle can confirm. Returns how often the failure was among them. */
static size_t keep_comparable(const struct oracle_report *oracle, struct library_report *library, bool *is_other)
{
    size_t kept = 0, failures = 0, others = 0;
    for (size_t i = 0; i < library->count; i++)
        if (oracle->failed && compare_findings(&oracle->failure, &library->findings[i]) == 0)
            failures++;
        else if (oracle->failed && is_other_failure(oracle, &library->findings[i]))
            others++;
        else if (oracle_settles(oracle, &library->findings[i]))
            library->findings[kept++] = library->findings[i];
    library->count = kept;
    *is_other = others > 0;
    return failures ? failures : others > 0;
}

static void compare(const struct oracle_report *oracle, struct library_report *library)
{
    const struct hprof_summary *s = &library->summary;
    if (library->count)
        qsort(library->findings, library->count, sizeof *library->findings, compare_findings);
    if (s->status > HPROF_INVALID)
        differ("the library did not finish", oracle, library);
    if (oracle->failed && s->status == HPROF_VALID)
        differ("the dump is valid", oracle, library);
    struct library_report all = *library;
    all.findings = malloc(library->count * sizeof *all.findings + 1);
    if (!all.findings)
        abort();
    if (library->count)
        memcpy(all.findings, library->findings, library->count * sizeof *all.findings);

    bool is_other;
    if (keep_comparable(oracle, library, &is_other) != oracle->failed && !oracle->in_doubt)
        differ("the failure", oracle, &all);
    if (!is_other && s->sound_until != oracle->sound_until && oracle->sound_until != ORACLE_UNKNOWN)
        differ("sound_until", oracle, &all);
    if (library->count != oracle->finding_count)
        differ("the number of findings", oracle, &all);
    for (size_t i = 0; i < library->count; i++)
        if (compare_findings(&library->findings[i], &oracle->findings[i]) != 0)
            differ("a finding", oracle, &all);
    free(all.findings);
    if (oracle->failed || oracle->in_doubt)
        return;
    if (oracle->valid != (s->status == HPROF_VALID))
        differ("whether the dump is valid", oracle, library);
    if (memcmp(s->record_counts, oracle->records, sizeof oracle->records) != 0)
        differ("the number of records of a kind", oracle, library);
    if (memcmp(s->subrecord_counts, oracle->subrecords, sizeof oracle->subrecords) != 0)
        differ("the number of sub-records of a kind", oracle, library);
    if (s->references != oracle->references)
        differ("the number of references", oracle, library);
}

/* ---- Statistics: what the inputs held. Printed at the end if FUZZ_ORACLE_STATISTICS is set. --------------------------------- */

enum { MOST_SUBRECORDS = 4096 };

static struct {
    bool initialised, wanted;
    uint64_t inputs, failed, with_heap_dump, with_three_kinds;
    uint64_t by_subrecords[MOST_SUBRECORDS + 1]; /* inputs with a heap dump */
    uint64_t *by_rule;
} statistics;

static void print_share(uint64_t inputs, const char *which)
{
    double all = (double)(statistics.inputs ? statistics.inputs : 1);
    fprintf(stderr, "%" PRIu64 " %s, %.1f %%\n", inputs, which, 100 * (double)inputs / all);
}

static void print_statistics(void)
{
    uint64_t seen = 0, median = 0;
    for (; median < MOST_SUBRECORDS; median++) {
        seen += statistics.by_subrecords[median];
        if (2 * seen >= statistics.with_heap_dump)
            break;
    }
    fprintf(stderr, "%" PRIu64 " inputs without a difference\n", statistics.inputs);
    print_share(statistics.failed, "with a framing failure");
    print_share(statistics.with_heap_dump, "with a heap dump");
    print_share(statistics.with_three_kinds, "with three kinds of sub-records or more");
    fprintf(stderr, "median of those with a heap dump: %" PRIu64 " sub-records\n", median);
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        fprintf(stderr, "%s %" PRIu64 "\n", hprof_rule_at(rule)->id, statistics.by_rule[rule]);
    free(statistics.by_rule);
}

static void begin_statistics(void)
{
    statistics.initialised = true;
    statistics.wanted = getenv("FUZZ_ORACLE_STATISTICS") != NULL;
    if (!statistics.wanted)
        return;
    statistics.by_rule = calloc(hprof_rule_count(), sizeof *statistics.by_rule);
    if (!statistics.by_rule)
        abort();
    atexit(print_statistics);
}

/* An input counts once for each rule of which both found something. */
static void count_rules(const struct oracle_finding *findings, size_t count)
{
    for (size_t rule = 0; rule < hprof_rule_count(); rule++) {
        const char *id = hprof_rule_at(rule)->id;
        size_t i = 0;
        while (i < count && strcmp(findings[i].rule, id) != 0)
            i++;
        statistics.by_rule[rule] += i < count;
    }
}

static void count_input(const struct oracle_report *oracle)
{
    uint64_t subrecords = 0, kinds = 0;
    for (size_t tag = 0; tag < 256; tag++) {
        subrecords += oracle->subrecords[tag];
        kinds += oracle->subrecords[tag] != 0;
    }
    statistics.inputs++;
    statistics.failed += oracle->failed;
    statistics.with_three_kinds += kinds >= 3;
    if (subrecords) {
        statistics.with_heap_dump++;
        statistics.by_subrecords[subrecords < MOST_SUBRECORDS ? subrecords : MOST_SUBRECORDS]++;
    }
    count_rules(oracle->findings, oracle->finding_count);
    count_rules(&oracle->failure, oracle->failed);
}

/* Most mutants of a dump that fails fail too. Of inputs that fail, an engine compares and keeps one in sixteen, so that most of its
 * corpus has a heap dump. A hash of the bytes decides, so that a find can be reproduced. */
static bool is_passed_over(const uint8_t *bytes, size_t size)
{
    uint32_t hash = 2166136261; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619;
    return LLVMFuzzerMutate && hash >> 28 != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *bytes = copy_to_guard_page(data, size);
    if (!statistics.initialised)
        begin_statistics();
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return -1; /* gzip: of no use as a seed */

    struct oracle_report *oracle = oracle_validate(bytes, size);
    if (oracle->failed && is_passed_over(bytes, size)) {
        oracle_free(oracle);
        return -1;
    }
    struct library_report library = {0};
    struct allocator memory = {.left = UINT64_MAX};
    struct hprof_allocator allocator = allocator_for(&memory);
    struct dice dice = {seed_from(data, size)};
    struct hprof_testing testing = {.hash_seed = 1}, limits = {0};
    struct hprof_options options;
    draw_sizes(&testing, &dice, size);
    draw_limits(&limits, &dice, size);
    testing.piece = limits.piece; /* these two change only how much of a truncated record is skipped */
    testing.trace_piece = limits.trace_piece;
    if (one_in(&dice, 2))
        testing.block = 2 + below(&dice, one_in(&dice, 2) ? size + 1 : 300);
    if (one_in(&dice, 2))
        testing.job = 1 + below(&dice, 500);
    testing.usual_order = one_in(&dice, 4);
    hprof_options_init(&options);
    options.threads = one_in(&dice, 16) ? 2 : 1;
    options.max_errors = 0;
    options.allocator = &allocator;
    options.testing = &testing;
    options.on_summary = on_summary;
    options.on_finding = on_finding;
    options.context = &library;
    hprof_validate_memory(bytes, size, false, &options, NULL);
    expect_no_leak(&memory);

    compare(oracle, &library);
    if (statistics.wanted)
        count_input(oracle);
    oracle_free(oracle);
    free(library.findings);
    return 0;
}
