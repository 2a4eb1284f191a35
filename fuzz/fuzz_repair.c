/* A repair of any bytes: if the header can be trusted there is a copy. It is valid in the profile, and another repair changes
 * nothing of it; nor is anything of a dump without findings left out. */
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

static enum hprof_status repair(int from, int to, size_t profile, struct hprof_repair *result)
{
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};
    struct hprof_allocator allocator = allocator_for(&memory);
    enum hprof_status status;

    *result = (struct hprof_repair){.profile = profile, .allocator = &allocator};
    status = hprof_repair_fd(from, to, result);
    expect_no_leak(&memory);
    if (status != HPROF_VALID && status != HPROF_INVALID)
        fail_target("a repair ends with status %d", status);
    return status;
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

    if (lseek(from, 0, SEEK_SET) != 0)
        fail_target("no way back to the start");
    if (repair(from, to, profile, &result) == HPROF_VALID)
        check_copy(to, profile, &result);
    else if (is_valid || !findings.header)
        fail_target("a dump whose header can be trusted cannot be repaired: %s", result.failure);
    if (!findings.count && result.left_out)
        fail_target("%llu bytes of a dump without findings are left out", (unsigned long long)result.left_out);
    if (result.left_out > result.bytes_in)
        fail_target("%llu bytes of %llu are left out", (unsigned long long)result.left_out,
                    (unsigned long long)result.bytes_in);
    close(from);
    close(to);
    return 0;
}
