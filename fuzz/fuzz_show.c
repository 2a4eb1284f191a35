/* What is at an offset, of any bytes: the lines are within the dump, in order, and without control characters. */
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "memory_file.h"
#include "target.h"

enum { OFFSETS = 4, BYTES_MAX = 16 };

struct seen {
    uint64_t sum; /* of bytes: all of them can be read */
    unsigned lines;
};

static void expect_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            fail_target("the control character 0x%02x in a line", (unsigned)*text);
}

static void on_line(void *context, const struct hprof_line *line)
{
    struct seen *seen = context;

    expect_printable(line->text);
    expect_printable(line->remark);
    if (line->byte_count > BYTES_MAX || (line->byte_count && !line->bytes))
        fail_target("a line of %zu bytes", line->byte_count);
    for (size_t i = 0; i < line->byte_count; i++)
        seen->sum += line->bytes[i];
    seen->lines++;
}

static void show_at(int fd, uint64_t offset, uint64_t around)
{
    struct allocator memory = {.left = UINT64_MAX, .junk = 0xa5};
    struct hprof_allocator allocator = allocator_for(&memory);
    struct seen seen = {0};
    struct hprof_show show = {
        .offset = offset, .around = around, .allocator = &allocator, .on_line = on_line, .context = &seen};
    enum hprof_status status = hprof_show_fd(fd, &show);

    expect_no_leak(&memory);
    expect_printable(show.failure);
    if (status != HPROF_VALID && status != HPROF_INVALID && status != HPROF_USAGE)
        fail_target("status %d at 0x%llx", status, (unsigned long long)offset);
    if (status == HPROF_VALID ? !seen.lines : !*show.failure)
        fail_target("status %d at 0x%llx without a %s", status, (unsigned long long)offset,
                    status == HPROF_VALID ? "line" : "sentence");
    if (status == HPROF_USAGE && seen.lines)
        fail_target("%u lines at 0x%llx, which is refused", seen.lines, (unsigned long long)offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t bits = drawn_bits(data, size) * UINT32_C(0x9E3779B1);
    int fd = -1;

    fill_memory_file(&fd, data, size);
    for (uint64_t i = 0; i < OFFSETS; i++)
        show_at(fd, size * i / OFFSETS + draw(&bits, 37), draw(&bits, 5));
    show_at(fd, UINT64_MAX, 2);
    close(fd);
    return 0;
}
