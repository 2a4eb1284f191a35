/* A repair of any bytes: if the header can be trusted there is a copy. It is valid in the profile, and another repair leaves
 * nothing of it out; nor is anything of a dump without findings left out. If an allocation fails or memory is limited, it ends with
 * HPROF_LIMIT and a sentence, or in the same way. Nothing is leaked. */
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "memory_file.h"
#include "target.h"

static int new_file(const uint8_t *data, size_t size)
{
    int fd = -1;

    fill_memory_file(&fd, data, size);
    return fd;
}

static enum hprof_status repair_with(struct allocator *memory, int from, int to, struct hprof_repair *result)
{
    struct hprof_allocator allocator = allocator_for(memory);
    enum hprof_status status;

    result->allocator = &allocator;
    status = hprof_repair_fd(from, to, result);
    expect_no_leak(memory);
    if (status != HPROF_VALID && !*result->failure)
        fail_target("status %d without a sentence", status);
    return status;
}

static enum hprof_status repair(int from, int to, size_t profile, struct hprof_repair *result)
{
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};
    enum hprof_status status;

    *result = (struct hprof_repair){.profile = profile};
    status = repair_with(&memory, from, to, result);
    if (status != HPROF_VALID && status != HPROF_INVALID)
        fail_target("a repair ends with status %d", status);
    return status;
}

/* As above, with less memory. */
static void repair_with_less(uint32_t bits, int from, size_t profile, enum hprof_status expected,
                             const struct hprof_repair *first)
{
    struct allocator memory = {.left = UINT64_MAX};
    struct hprof_repair result = {.profile = profile};
    int to = new_file(NULL, 0);
    enum hprof_status status;

    if (draw(&bits, 2)) {
        memory.left = draw(&bits, 200);
        memory.for_good = draw(&bits, 2);
    } else {
        result.max_memory = (UINT64_C(1) << 20) + draw(&bits, 64) * (UINT64_C(16) << 10);
    }
    if (lseek(from, 0, SEEK_SET) != 0)
        fail_target("no way back to the start");
    status = repair_with(&memory, from, to, &result);
    if (status != HPROF_LIMIT && (status != expected || result.bytes_out != first->bytes_out))
        fail_target("status %d and %llu bytes with less memory, %d and %llu before", status,
                    (unsigned long long)result.bytes_out, expected, (unsigned long long)first->bytes_out);
    close(to);
}

struct findings {
    uint64_t count;
    bool header; /* one may keep the header from being read */
};

static void on_finding(void *context, const struct hprof_finding *finding)
{
    struct findings *findings = context;
    const struct hprof_rule *rule = hprof_rule_at(finding->rule);

    findings->count++;
    findings->header |= strcmp(rule->family, "GZ") == 0 || (rule->framing && strcmp(rule->family, "HDR") == 0);
}

static enum hprof_status validate(int fd, size_t profile, struct findings *findings)
{
    struct hprof_options options;

    hprof_options_init(&options);
    options.profile = profile;
    options.on_finding = on_finding;
    options.context = findings;
    return hprof_validate_fd(fd, &options);
}

/* The copy is repaired again. */
static void check_copy(int copy, size_t profile, const struct hprof_repair *first)
{
    struct hprof_repair again;
    struct findings findings = {0};
    int second = new_file(NULL, 0);

    if (lseek(copy, 0, SEEK_END) != (off_t)first->bytes_out)
        fail_target("the copy does not have %llu bytes", (unsigned long long)first->bytes_out);
    if (lseek(copy, 0, SEEK_SET) != 0 || validate(copy, profile, &findings) != HPROF_VALID)
        fail_target("the copy is not valid");
    if (lseek(copy, 0, SEEK_SET) != 0 || repair(copy, second, profile, &again) != HPROF_VALID)
        fail_target("the copy cannot be repaired");
    if (again.left_out || again.lengths_mended || again.is_ended || again.bytes_out != first->bytes_out)
        fail_target("%llu bytes of the copy are left out, %llu lengths mended, %s HEAP_DUMP_END added",
                    (unsigned long long)again.left_out, (unsigned long long)again.lengths_mended, again.is_ended ? "a" : "no");
    close(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t bits = drawn_bits(data, size);
    size_t profile = draw(&bits, (uint32_t)hprof_profile_find("mat") + 1);
    struct hprof_repair result;
    struct findings findings = {0};
    int from = new_file(data, size), to = new_file(NULL, 0);
    bool is_valid = validate(from, profile, &findings) == HPROF_VALID;
    enum hprof_status status;

    if (lseek(from, 0, SEEK_SET) != 0)
        fail_target("no way back to the start");
    status = repair(from, to, profile, &result);
    if (status == HPROF_VALID)
        check_copy(to, profile, &result);
    else if (is_valid || !findings.header)
        fail_target("a dump whose header can be trusted cannot be repaired: %s", result.failure);
    if (!findings.count && result.left_out)
        fail_target("%llu bytes of a dump without findings are left out", (unsigned long long)result.left_out);
    if (result.left_out > result.bytes_in)
        fail_target("%llu bytes of %llu are left out", (unsigned long long)result.left_out,
                    (unsigned long long)result.bytes_in);
    repair_with_less(bits, from, profile, status, &result);
    close(from);
    close(to);
    return 0;
}
