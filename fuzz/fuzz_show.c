/* What is at an offset, of any bytes: it ends, and its lines have no control characters. The bytes in a row are those of the dump
 * at its offset, and one line describes the byte that was asked for. If an allocation fails, it ends with HPROF_LIMIT and a
 * sentence, or shows the same lines. Nothing is leaked. */
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "memory_file.h"
#include "target.h"

enum { OFFSETS = 4, BYTES_MAX = 16 };

struct seen {
    const uint8_t *dump; /* NULL if it is compressed */
    size_t size;
    uint64_t asked;
    uint64_t hash; /* of all lines */
    unsigned lines;
    bool shows_byte; /* a row of bytes has the byte that was asked for */
    bool is_marked;  /* a line says that it describes that byte */
};

/* FNV-1a. */
static void add_to_hash(uint64_t *hash, const void *bytes, size_t n)
{
    for (const uint8_t *p = bytes; n--; p++)
        *hash = (*hash ^ *p) * UINT64_C(0x100000001b3);
}

static void expect_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            fail_target("the control character 0x%02x in a line", (unsigned)*text);
}

static void expect_row(struct seen *seen, const struct hprof_line *line)
{
    bool has_byte = seen->asked >= line->offset && seen->asked - line->offset < line->byte_count;

    if (line->byte_count > BYTES_MAX || !line->bytes || *line->text)
        fail_target("a row of %zu bytes, or a text in it", line->byte_count);
    if (line->here != has_byte)
        fail_target("the row at 0x%llx is marked, or not, without reason", (unsigned long long)line->offset);
    if (seen->dump && (line->offset > seen->size || line->byte_count > seen->size - line->offset ||
                       memcmp(line->bytes, seen->dump + line->offset, line->byte_count) != 0))
        fail_target("the row at 0x%llx has other bytes than the dump", (unsigned long long)line->offset);
    seen->shows_byte |= has_byte;
}

static void on_line(void *context, const struct hprof_line *line)
{
    struct seen *seen = context;

    expect_printable(line->text);
    expect_printable(line->remark);
    if (line->byte_count)
        expect_row(seen, line);
    else if (line->offset == HPROF_NO_OFFSET ? line->here : line->here && line->offset > seen->asked)
        fail_target("a line at 0x%llx is marked, 0x%llx was asked for", (unsigned long long)line->offset,
                    (unsigned long long)seen->asked);
    else
        seen->is_marked |= line->here;
    add_to_hash(&seen->hash, &line->offset, sizeof line->offset);
    add_to_hash(&seen->hash, &line->depth, sizeof line->depth);
    add_to_hash(&seen->hash, &line->here, sizeof line->here);
    add_to_hash(&seen->hash, line->text, strlen(line->text) + 1);
    add_to_hash(&seen->hash, line->remark, strlen(line->remark) + 1);
    add_to_hash(&seen->hash, line->bytes, line->byte_count);
    seen->lines++;
}

static enum hprof_status show_with(struct allocator *memory, int fd, uint64_t around, struct seen *seen)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_show show = {
        .offset = seen->asked, .around = around, .allocator = &allocator, .on_line = on_line, .context = seen};
    enum hprof_status status = hprof_show_fd(fd, &show);

    expect_no_leak(memory);
    expect_printable(show.failure);
    if (status == HPROF_VALID ? *show.failure != '\0' : !*show.failure)
        fail_target("status %d at 0x%llx, with the sentence '%s'", status, (unsigned long long)seen->asked, show.failure);
    if (status == HPROF_VALID && (!seen->shows_byte || !seen->is_marked))
        fail_target("the byte at 0x%llx is not shown or not marked", (unsigned long long)seen->asked);
    return status;
}

static void show_at(int fd, const struct seen *of, uint64_t around, uint64_t allocations)
{
    struct allocator all = {.left = UINT64_MAX, .junk = 0xa5}, less = {.left = allocations, .for_good = of->asked & 1};
    struct seen seen = *of, again = *of;
    enum hprof_status status = show_with(&all, fd, around, &seen);

    if (status != HPROF_VALID && status != HPROF_INVALID && status != HPROF_USAGE)
        fail_target("status %d at 0x%llx", status, (unsigned long long)of->asked);
    if (status == HPROF_USAGE && seen.lines)
        fail_target("%u lines at 0x%llx, which is refused", seen.lines, (unsigned long long)of->asked);
    if (status == HPROF_USAGE && of->dump && of->asked < of->size)
        fail_target("0x%llx of 0x%zx bytes is refused", (unsigned long long)of->asked, of->size);
    if (show_with(&less, fd, around, &again) != HPROF_LIMIT && (again.lines != seen.lines || again.hash != seen.hash))
        fail_target("other lines at 0x%llx with less memory: %u, and %u before", (unsigned long long)of->asked, again.lines,
                    seen.lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t bits = drawn_bits(data, size) * UINT32_C(0x9E3779B1);
    bool is_compressed = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
    struct seen of = {.dump = is_compressed ? NULL : data, .size = size};
    int fd = -1;

    fill_memory_file(&fd, data, size);
    for (uint64_t i = 0; i < OFFSETS; i++) {
        of.asked = size * i / OFFSETS + draw(&bits, 37);
        show_at(fd, &of, draw(&bits, 5), draw(&bits, 16));
    }
    of.asked = UINT64_MAX;
    show_at(fd, &of, 2, 0);
    close(fd);
    return 0;
}
