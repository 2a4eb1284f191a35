/* Every option of the library, drawn from the timestamp in the dump's header and the size of the input: the report agrees with
 * itself (account.h). A second run, of a kind that is also drawn, gives the same report: with other bytes in new memory; or
 * after a failed allocation or with a limit of memory, unless the status is HPROF_LIMIT. No run exceeds the limit. Nothing is
 * leaked. */
#include <string.h>

#include "account.h"
#include "allocator.h"
#include "sizes.h"
#include "target.h"

enum { OWN_MEMORY = 256 << 10 /* beyond max_memory */ };

static int on_progress(void *context, uint64_t bytes, uint64_t total)
{
    (void)context;
    if (total && bytes > total)
        fail_target("%llu bytes of %llu are read", (unsigned long long)bytes, (unsigned long long)total);
    return 0;
}

static enum hprof_status run(const uint8_t *bytes, size_t size, bool as_pipe, struct hprof_options options,
                             struct allocator *memory, struct account *account)
{
    struct hprof_allocator allocator = allocator_for(memory);
    enum hprof_status status;

    account_begin(account);
    account_listen(account, &options);
    options.allocator = &allocator;
    status = hprof_validate_memory(bytes, size, as_pipe, &options, NULL);
    expect_no_leak(memory);
    if (account->summary.status != HPROF_USAGE && account->summary.status != status)
        fail_target("the summary has status %d, the call returned %d", account->summary.status, status);
    return status;
}

/* A third of the seeds disable rules or change severities. */
static const uint8_t *draw_severities(uint32_t *bits)
{
    static uint8_t severities[512];
    uint32_t how = draw(bits, 3), step = 1 + draw(bits, 8);

    if (how || hprof_rule_count() > sizeof severities)
        return NULL;
    memset(severities, HPROF_UNCHANGED, sizeof severities);
    for (size_t rule = draw(bits, 8); rule < hprof_rule_count(); rule += step)
        severities[rule] = (uint8_t)(rule % 4);
    return severities;
}

/* A quarter of the seeds have a baseline, which excuses some findings of each rule. */
static const uint64_t *draw_baseline(uint32_t *bits)
{
    static uint64_t baseline[512];
    uint32_t how = draw(bits, 4), most = 1 + draw(bits, 4);

    if (how < 3 || hprof_rule_count() > sizeof baseline / sizeof *baseline)
        return NULL;
    for (size_t rule = 0; rule < hprof_rule_count(); rule++)
        baseline[rule] = rule % (most + 1);
    return baseline;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct account expected, account;
    const uint8_t *bytes = copy_to_guard_page(data, size);
    uint32_t drawn = drawn_bits(data, size) + (uint32_t)size; /* most seeds have a time of 0 */
    uint32_t bits = drawn * UINT32_C(0x9E3779B1);             /* other times share their high bits */
    uint32_t more = drawn * UINT32_C(0x85EBCA6B);
    struct dice dice = {seed_from(data, size)};
    struct hprof_testing testing = {.hash_seed = 1};
    struct hprof_options options;
    struct allocator memory = {.left = UINT64_MAX, .junk = 0};
    enum hprof_status status;
    size_t profiles = 0;

    while (hprof_profile_at(profiles))
        profiles++;
    hprof_options_init(&options);
    bool as_pipe = draw(&bits, 2);

    options.profile = draw(&bits, (uint32_t)profiles);
    options.max_errors = draw(&bits, 4);
    options.werror = draw(&bits, 2);
    options.severities = draw_severities(&bits);
    options.baseline = draw_baseline(&more);
    options.threads = draw(&more, 64) < 63 ? 1 : 2 + draw(&more, 3); /* slow to start, and fuzz_paths has them each time */
    options.testing = &testing;
    if (draw(&bits, 3) == 0)
        testing.block = least_block(data, size) + draw(&bits, 64);
    if (draw(&more, 8) == 7)
        testing.job = least_block(data, size) + draw(&more, 400);
    draw_sizes(&testing, &dice, size);
    draw_limits(&testing, &dice, size);
    options.on_progress = draw(&more, 4) < 3 ? on_progress : NULL;

    status = run(bytes, size, as_pipe, options, &memory, &expected);
    if (status != HPROF_VALID && status != HPROF_INVALID)
        fail_target("status %d without a limit", status);
    expect_consistent(&expected, &options, size, as_pipe);

    struct allocator second = {.left = UINT64_MAX, .junk = 0xa5};
    const char *how = "memory of junk";

    switch (draw(&bits, 3)) {
    case 0:
        second.junk = (uint8_t)(0x5a + draw(&bits, 128));
        break;
    case 1:
        how = "memory that failed";
        second.left = draw(&bits, 64) * (memory.count + 1) / 64;
        second.for_good = draw(&bits, 2);
        break;
    default:
        how = "max_memory";
        options.max_memory = memory.peak * (1 + draw(&bits, 4)) / 4;
        break;
    }
    status = run(bytes, size, as_pipe, options, &second, &account);
    if (status != HPROF_LIMIT)
        expect_same(&expected, "memory of zeros", &account, how, ACCOUNTS_EQUAL);
    else if (!second.failed && !options.max_memory)
        fail_target("HPROF_LIMIT without a failure or a limit");
    else
        expect_consistent(&account, &options, size, as_pipe);
    if (options.max_memory && second.peak > options.max_memory + OWN_MEMORY)
        fail_target("%llu bytes were allocated, the limit is %llu", (unsigned long long)second.peak,
                    (unsigned long long)options.max_memory);
    return 0;
}
