/* What is at an offset, of any bytes: it ends, and its lines have no control characters. If an allocation fails, it ends with
 * HPROF_LIMIT and a sentence, or shows as many lines, with the same bytes. Nothing is leaked. */
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

static enum hprof_status show_with(struct allocator *memory, int fd, uint64_t offset, uint64_t around, struct seen *seen)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_show show = {.offset = offset, .around = around, .allocator = &allocator, .on_line = on_line, .context = seen};
    enum hprof_status status = hprof_show_fd(fd, &show);

    expect_no_leak(memory);
    expect_printable(show.failure);
    if (status == HPROF_VALID ? !seen->lines : !*show.failure)
        fail_target("status %d at 0x%llx without a %s", status, (unsigned long long)offset,
                    status == HPROF_VALID ? "line" : "sentence");
    return status;
}

static void show_at(int fd, uint64_t offset, uint64_t around, uint64_t allocations)
{
    struct allocator all = {.left = UINT64_MAX, .junk = 0xa5}, less = {.left = allocations, .for_good = offset & 1};
    struct seen seen = {0}, again = {0};
    enum hprof_status status = show_with(&all, fd, offset, around, &seen);

    if (status != HPROF_VALID && status != HPROF_INVALID && status != HPROF_USAGE)
        fail_target("status %d at 0x%llx", status, (unsigned long long)offset);
    if (status == HPROF_USAGE && seen.lines)
        fail_target("%u lines at 0x%llx, which is refused", seen.lines, (unsigned long long)offset);
    if (show_with(&less, fd, offset, around, &again) != HPROF_LIMIT && (again.lines != seen.lines || again.sum != seen.sum))
        fail_target("%u lines at 0x%llx with less memory, %u before", again.lines, (unsigned long long)offset, seen.lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t bits = drawn_bits(data, size) * UINT32_C(0x9E3779B1);
    int fd = -1;

    fill_memory_file(&fd, data, size);
    for (uint64_t i = 0; i < OFFSETS; i++)
        show_at(fd, size * i / OFFSETS + draw(&bits, 37), draw(&bits, 5), draw(&bits, 16));
    show_at(fd, UINT64_MAX, 2, 0);
    close(fd);
    return 0;
}
