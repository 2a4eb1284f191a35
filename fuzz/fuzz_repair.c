/* A repair of any bytes. If the header can be trusted, there is a copy, which is valid in the profile. Each byte of the dump,
 * except headers of records, is in the copy or is counted as left out. A repair of the copy, or of a plain dump without findings,
 * changes no byte. If an allocation fails or memory is limited, the status is HPROF_LIMIT, with a sentence, or the copy is the
 * same. Nothing is leaked. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator.h"
#include "dice.h"
#include "gzip.h"
#include "hprof/testing.h"
#include "memory_file.h"
#include "target.h"

static int new_file(const uint8_t *data, size_t size)
{
    int fd = -1;

    fill_memory_file(&fd, data, size);
    return fd;
}

enum { RECORD_HEADER = 9, RULES_MOST = 512, OWN_MEMORY = 256 << 10 /* beyond max_memory */ };

static size_t size_of_file(int file)
{
    struct stat status;

    if (fstat(file, &status) != 0)
        fail_target("a file has no size");
    return (size_t)status.st_size;
}

static void expect_same_bytes(int a, int b, const char *what)
{
    static uint8_t in_a[1 << 12], in_b[sizeof in_a];
    size_t size = size_of_file(a);

    if (size_of_file(b) != size)
        fail_target("%s: %zu bytes and %zu", what, size, size_of_file(b));
    for (size_t at = 0; at < size;) {
        ssize_t n = pread(a, in_a, sizeof in_a, (off_t)at);

        if (n <= 0 || pread(b, in_b, (size_t)n, (off_t)at) != n || memcmp(in_a, in_b, (size_t)n) != 0)
            fail_target("%s: other bytes after 0x%zx", what, at);
        at += (size_t)n;
    }
}

/* Sums over the list of what was left out. */
struct list {
    uint64_t bytes, last;
};

static int on_left_out(void *context, const struct hprof_left_out *left_out)
{
    struct list *list = context;

    if (!left_out->count || left_out->bytes < left_out->count || (list->last && left_out->bytes > list->last) ||
        !*left_out->what)
        fail_target("%s: %llu bytes in %llu parts are left out, after %llu", left_out->what,
                    (unsigned long long)left_out->bytes, (unsigned long long)left_out->count, (unsigned long long)list->last);
    list->last = left_out->bytes;
    list->bytes += left_out->bytes;
    return 0;
}

static enum hprof_status repair_with(struct allocator *memory, int from, int to, struct hprof_repair *repair,
                                     struct hprof_repair_result *result)
{
    struct hprof_allocator allocator = allocator_for(memory);
    enum hprof_status status;

    repair->allocator = &allocator;
    *result = (struct hprof_repair_result){.struct_size = sizeof *result};
    status = hprof_repair_fd(from, to, repair, result);
    expect_no_leak(memory);
    if (status != HPROF_VALID && !*result->failure)
        fail_target("status %d without a sentence", status);
    return status;
}

/* The profile and severities by which a dump must be valid. */
struct aim {
    size_t profile;
    const uint8_t *severities;
    bool no_stand_ins;
};

static int on_progress(void *context, uint64_t bytes, uint64_t total)
{
    (void)context;
    if (bytes > total)
        fail_target("%llu of %llu bytes are read", (unsigned long long)bytes, (unsigned long long)total);
    return 0;
}

static enum hprof_status repair(int from, int to, const struct aim *aim, struct hprof_repair_result *result)
{
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};
    struct list list = {0};
    struct hprof_repair repair = {.struct_size = sizeof repair,
                                  .profile = aim->profile,
                                  .severities = aim->severities,
                                  .no_stand_ins = aim->no_stand_ins,
                                  .on_left_out = on_left_out,
                                  .on_progress = on_progress,
                                  .context = &list};
    enum hprof_status status;

    status = repair_with(&memory, from, to, &repair, result);
    if (status != HPROF_VALID && status != HPROF_INVALID)
        fail_target("a repair ends with status %d", status);
    if (status == HPROF_VALID && list.bytes != result->left_out)
        fail_target("%llu bytes are left out, %llu by the list", (unsigned long long)result->left_out,
                    (unsigned long long)list.bytes);
    return status;
}

/* As above, with less memory. */
static void repair_with_less(struct dice *dice, int from, int copy, const struct aim *aim, enum hprof_status expected)
{
    struct allocator memory = {.left = UINT64_MAX};
    struct hprof_repair repair = {.struct_size = sizeof repair,
                                  .profile = aim->profile,
                                  .severities = aim->severities,
                                  .no_stand_ins = aim->no_stand_ins};
    struct hprof_repair_result result;
    int to = new_file(NULL, 0);
    enum hprof_status status;

    if (one_in(dice, 2)) {
        memory.left = below(dice, 200);
        memory.for_good = one_in(dice, 2);
    } else {
        repair.max_memory = (UINT64_C(1) << 20) + below(dice, UINT64_C(1) << 20);
    }
    status = repair_with(&memory, from, to, &repair, &result);
    if (status != HPROF_LIMIT && status != expected)
        fail_target("status %d with less memory, %d before", status, expected);
    if (status == HPROF_LIMIT && !memory.failed && !repair.max_memory)
        fail_target("no memory, though no allocation failed: %s", result.failure);
    if (repair.max_memory && memory.peak > repair.max_memory + OWN_MEMORY)
        fail_target("%llu bytes were allocated, the limit is %llu", (unsigned long long)memory.peak,
                    (unsigned long long)repair.max_memory);
    if (status == HPROF_VALID)
        expect_same_bytes(copy, to, "copies with all memory and with less");
    close(to);
}

struct findings {
    uint64_t count;
    bool header; /* one may keep the header from being read */
};

static int on_finding(void *context, const struct hprof_finding *finding)
{
    struct findings *findings = context;
    const struct hprof_rule *rule = hprof_rule_at(finding->rule);

    findings->count++;
    findings->header |= strcmp(rule->family, "GZ") == 0 || (rule->framing && strcmp(rule->family, "HDR") == 0);
    return 0;
}

static enum hprof_status validate(int fd, const struct aim *aim, struct findings *findings)
{
    struct hprof_testing testing = {.hash_seed = 1};
    struct hprof_options options;

    hprof_options_init(&options);
    options.testing = &testing;
    options.profile = aim->profile;
    options.severities = aim->severities;
    options.allow_incomplete = true;
    options.on_finding = on_finding;
    options.context = findings;
    return hprof_validate_fd(fd, &options, NULL);
}

static bool has_stand_ins(const struct hprof_repair_result *result)
{
    return result->stand_in_classes || result->stand_in_names || result->stand_in_traces || result->stand_in_frames ||
           result->stand_in_threads;
}

static bool is_unchanged(const struct hprof_repair_result *result)
{
    return !result->left_out && !result->lengths_mended && !result->sizes_mended && !result->joined && !result->tags_mended &&
           !result->traces_cleared && !result->is_ended && !result->version_mended && !result->header_made && !result->undone &&
           !has_stand_ins(result);
}

/* The copy is repaired again. */
static void check_copy(int copy, const struct aim *aim, const struct hprof_repair_result *first)
{
    struct hprof_repair_result again;
    struct findings findings = {0};
    int second = new_file(NULL, 0);

    if (size_of_file(copy) != first->bytes_out)
        fail_target("the copy does not have %llu bytes", (unsigned long long)first->bytes_out);
    if (validate(copy, aim, &findings) != HPROF_VALID)
        fail_target("the copy is not valid");
    if (repair(copy, second, aim, &again) != HPROF_VALID)
        fail_target("the copy cannot be repaired");
    if (!is_unchanged(&again))
        fail_target("%llu bytes of the copy are left out, %llu lengths and %llu sizes mended, %llu sub-records joined, %s "
                    "HEAP_DUMP_END added",
                    (unsigned long long)again.left_out, (unsigned long long)again.lengths_mended,
                    (unsigned long long)again.sizes_mended, (unsigned long long)again.joined, again.is_ended ? "a" : "no");
    expect_same_bytes(copy, second, "the copy and its copy");
    close(second);
}

/* Each byte is copied or counted as left out, except the headers of records that were joined or lost all that was in them. A lost
 * record of 9 bytes that is not counted would not be noticed. How large stand-ins are is not said. */
static void check_account(const struct hprof_repair_result *result)
{
    uint64_t accounted = result->bytes_out + result->left_out;
    uint64_t given = result->bytes_in + (result->is_ended + result->headers_made) * RECORD_HEADER;

    if (result->gzip_unknown || has_stand_ins(result))
        return;
    if (accounted > given || (given - accounted) % RECORD_HEADER || (given - accounted) / RECORD_HEADER < result->joined)
        fail_target("of %llu bytes, %llu are copied and %llu left out; %llu records were joined",
                    (unsigned long long)result->bytes_in, (unsigned long long)result->bytes_out,
                    (unsigned long long)result->left_out, (unsigned long long)result->joined);
}

/* Severities are only lowered: raised ones may forbid any copy. */
static const uint8_t *draw_severities(struct dice *dice)
{
    static uint8_t severities[RULES_MOST];

    if (hprof_rule_count() > RULES_MOST)
        fail_target("too many rules");
    if (!one_in(dice, 4))
        return NULL;
    memset(severities, HPROF_UNCHANGED, sizeof severities);
    for (uint64_t n = below(dice, 40); n; n--)
        severities[below(dice, hprof_rule_count())] = (uint8_t)below(dice, HPROF_ERROR);
    return severities;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t bits = drawn_bits(data, size);
    struct dice dice = {bits + (uint64_t)size};
    struct aim aim = {.profile = draw(&bits, (uint32_t)hprof_profile_find("mat") + 1),
                      .severities = draw_severities(&dice),
                      .no_stand_ins = one_in(&dice, 2)};
    struct hprof_repair_result result;
    struct findings findings = {0};
    int from = new_file(data, size), to = new_file(NULL, 0);
    bool is_valid = validate(from, &aim, &findings) == HPROF_VALID;
    enum hprof_status status = repair(from, to, &aim, &result);

    if (status == HPROF_VALID) {
        check_account(&result);
        check_copy(to, &aim, &result);
    } else if (is_valid || (!findings.header && !strstr(result.failure, "transfer"))) { /* which cannot be undone */
        fail_target("a dump whose header can be trusted cannot be repaired: %s", result.failure);
    }
    if (!findings.count && !is_unchanged(&result) && !aim.severities)
        fail_target("a dump without findings is changed: %llu bytes are left out", (unsigned long long)result.left_out);
    if (status == HPROF_VALID && !is_gzip(data, size) && is_unchanged(&result))
        expect_same_bytes(from, to, "the dump and its copy");
    repair_with_less(&dice, from, to, &aim, status);
    close(from);
    close(to);
    return 0;
}
