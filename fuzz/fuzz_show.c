/* hprof_show_fd() on any bytes, at any offset: the call ends, and its lines are printable (expect_printable.h). A row has the
 * bytes of the dump at the offset of the row. A line that starts at or before the byte that was asked for is marked, and a row
 * contains that byte. If an allocation fails, the status is HPROF_LIMIT, with a sentence, or the lines are the same. Nothing is
 * leaked. */
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "dice.h"
#include "expect_printable.h"
#include "gzip.h"
#include "hash.h"
#include "memory_file.h"
#include "target.h"

enum { OFFSETS = 4, BYTES_MAX = 16 };

struct seen {
    const uint8_t *dump; /* NULL for gzip within gzip */
    size_t size;         /* of the dump */
    bool is_compressed;  /* of a malformed file, the library may inflate more than zlib */
    uint64_t asked;
    uint64_t hash; /* of all lines */
    unsigned lines;
    bool shows_byte; /* a row of bytes has the byte that was asked for */
    bool is_marked;  /* a line says that it describes that byte */
};

static void expect_row(struct seen *seen, const struct hprof_line *line)
{
    bool has_byte = seen->asked >= line->offset && seen->asked - line->offset < line->byte_count;
    size_t known = line->offset < seen->size ? seen->size - (size_t)line->offset : 0;

    if (line->byte_count > BYTES_MAX || !line->bytes || *line->text)
        fail_target("a row of %zu bytes, or a text in it", line->byte_count);
    if (line->here != has_byte)
        fail_target("the row at 0x%llx is marked, or not, without reason", (unsigned long long)line->offset);
    if (known < line->byte_count && !seen->is_compressed)
        fail_target("the row at 0x%llx is beyond the end", (unsigned long long)line->offset);
    known = known < line->byte_count ? known : line->byte_count;
    if (seen->dump && known && memcmp(line->bytes, seen->dump + line->offset, known) != 0)
        fail_target("the row at 0x%llx has other bytes than the dump", (unsigned long long)line->offset);
    seen->shows_byte |= has_byte;
}

static int on_line(void *context, const struct hprof_line *line)
{
    struct seen *seen = context;

    expect_printable(line->text, strlen(line->text), false, false);
    expect_printable(line->remark, strlen(line->remark), false, false);
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
    add_text_to_hash(&seen->hash, line->text);
    add_text_to_hash(&seen->hash, line->remark);
    add_to_hash(&seen->hash, line->bytes, line->byte_count);
    seen->lines++;
    return 0;
}

static enum hprof_status show_with(struct allocator *memory, int fd, uint64_t around, struct seen *seen)
{
    struct hprof_allocator allocator = allocator_for(memory);
    struct hprof_show show = {.struct_size = sizeof show,
                              .offset = seen->asked,
                              .around = around,
                              .allocator = &allocator,
                              .on_line = on_line,
                              .context = seen};
    struct hprof_show_result result = {.struct_size = sizeof result};
    enum hprof_status status = hprof_show_fd(fd, &show, &result);

    bool is_dump = strncmp(result.failure, "not a ", 6) != 0; /* else the header is not valid */

    expect_no_leak(memory);
    expect_printable(result.failure, strlen(result.failure), false, false);
    if (status == HPROF_VALID ? *result.failure != '\0' : !*result.failure)
        fail_target("status %d at 0x%llx, with the sentence '%s'", status, (unsigned long long)seen->asked, result.failure);
    if ((status == HPROF_VALID || (status == HPROF_INVALID && is_dump)) && (!seen->shows_byte || !seen->is_marked))
        fail_target("the byte at 0x%llx is not shown or not marked", (unsigned long long)seen->asked);
    return status;
}

static void show_at(int fd, const struct seen *of, uint64_t around, struct dice *dice)
{
    struct allocator all = {.left = UINT64_MAX, .junk = 0xa5}, less = {.for_good = one_in(dice, 2)};
    struct seen seen = *of, again = *of;
    enum hprof_status status = show_with(&all, fd, around, &seen), limited;

    if (status != HPROF_VALID && status != HPROF_INVALID && status != HPROF_USAGE)
        fail_target("status %d at 0x%llx", status, (unsigned long long)of->asked);
    if (status == HPROF_USAGE && seen.lines)
        fail_target("%u lines at 0x%llx, which is refused", seen.lines, (unsigned long long)of->asked);
    if (status == HPROF_USAGE && !of->is_compressed && of->asked < of->size)
        fail_target("0x%llx of 0x%zx bytes is refused", (unsigned long long)of->asked, of->size);
    less.left = below(dice, all.count);
    limited = show_with(&less, fd, around, &again);
    if (limited != HPROF_LIMIT && (limited != status || again.lines != seen.lines || again.hash != seen.hash))
        fail_target("status %d and %u lines at 0x%llx with less memory, %d and %u, or other lines, before", limited,
                    again.lines, (unsigned long long)of->asked, status, seen.lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t plain[GZIP_PLAIN_MAX];
    struct dice dice = {drawn_bits(data, size) + (uint64_t)size};
    struct seen of = {.dump = data, .size = size, .is_compressed = is_gzip(data, size)};
    int fd = -1;

    if (of.is_compressed) {
        of.size = unpack_gzip(data, size, plain, sizeof plain);
        of.dump = is_gzip(plain, of.size) ? NULL : plain;
    }
    fill_memory_file(&fd, data, size);
    for (int i = 0; i < OFFSETS; i++) {
        of.asked = below(&dice, of.size + 4);
        show_at(fd, &of, one_in(&dice, 16) ? UINT64_MAX : below(&dice, 5), &dice);
    }
    of.asked = UINT64_MAX;
    show_at(fd, &of, 2, &dice);
    close(fd);
    return 0;
}
