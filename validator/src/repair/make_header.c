/* See repair.h. A header that was damaged or lost is made anew in the copy, which is the input from then on. */
#include <string.h>

#include "format/header.h"
#include "format/id_size.h"
#include "input/transfer.h"
#include "repair/repair_copy.h"
#include "repair/trial.h"

/* The copy becomes the input, unless it is, after so many bytes. */
static bool copy_all(struct repair *r, struct input_source source, uint64_t at)
{
    enum { BLOCK = 64 << 10 };
    uint8_t block[BLOCK];
    uint64_t offset = at;
    size_t n;

    if (source.fd == r->to)
        return !at || copy_shift(r, at);
    source_seek(&source, 0);
    while ((n = source_read(&source, block, BLOCK)) > 0 && copy_write(r, offset, block, n))
        offset += n;
    if (source.error)
        r->error = source.error;
    r->written = offset;
    return !r->error;
}

/* The header with what is left of it: the version, if most of the text is there, which *knows_version says, and the time. */
static void mend_header(uint8_t header[HEADER_SIZE], bool *knows_version)
{
    enum { MOST = HEADER_MAGIC_SIZE / 2 };
    size_t alike = 0;

    for (size_t i = 0; i < HEADER_MAGIC_SIZE; i++)
        alike += header[i] == (uint8_t)HEADER_MAGIC[i];
    if (alike <= MOST)
        memset(header, 0, HEADER_SIZE);
    *knows_version = header[HEADER_MAGIC_SIZE] >= '1' && header[HEADER_MAGIC_SIZE] <= '3';
    memcpy(header, HEADER_MAGIC, HEADER_MAGIC_SIZE);
    if (!*knows_version)
        header[HEADER_MAGIC_SIZE] = '2';
    memset(header + HEADER_MAGIC_SIZE + 1, 0, 1 + 3); /* a NUL, and the highest bytes of the size of IDs */
}

static bool is_better(const struct trial *now, const struct trial *before)
{
    return now->status <= HPROF_INVALID && (before->status > HPROF_INVALID || now->unchecked < before->unchecked);
}

/* Whether a dump is Android's: it has sub-records of 1.0.3, with which more can be read, and less of it is wrong. */
static bool is_android(const struct trial *now, const struct trial *before)
{
    return now->has_segments && now->has_heap_info && now->unchecked < before->unchecked && now->errors < before->errors;
}

/* Keeps the header if what is read with it is believed. False if it cannot be tried. */
static bool try_header(struct repair *r, const uint8_t header[HEADER_SIZE], uint8_t kept[HEADER_SIZE], struct trial *best,
                       bool (*is_believed)(const struct trial *now, const struct trial *before))
{
    struct trial now;

    if (!copy_write(r, 0, header, HEADER_SIZE))
        return false;
    now = try_dump(r, source_of_fd(r->to));
    if (is_believed(&now, best)) {
        *best = now;
        memcpy(kept, header, HEADER_SIZE);
    }
    return true;
}

/* Whether IDs have 4 or 8 bytes, nothing says but how much can be read. So it is with the version; but 1.0.1 has no segments. */
static bool put_best_header(struct repair *r, uint8_t header[HEADER_SIZE], bool knows_version)
{
    static const uint8_t id_sizes[] = {8, 4};
    struct trial best = {.status = HPROF_USAGE};
    uint8_t kept[HEADER_SIZE] = {0};

    for (size_t i = 0; i < sizeof id_sizes; i++) {
        header[HEADER_STRING_SIZE + 3] = id_sizes[i];
        if (!try_header(r, header, kept, &best, is_better))
            return false;
    }
    if (best.status > HPROF_INVALID)
        return false;
    if (!knows_version && best.unchecked) {
        memcpy(header, kept, HEADER_SIZE);
        header[HEADER_MAGIC_SIZE] = '3';
        if (!try_header(r, header, kept, &best, is_android))
            return false;
    }
    if (kept[HEADER_MAGIC_SIZE] == '2' && !knows_version && best.has_heap_dump && !best.has_segments)
        kept[HEADER_MAGIC_SIZE] = '1';
    return copy_write(r, 0, kept, HEADER_SIZE);
}

/* The header is in the first n bytes of the input. A part of a dump has none: it is put before them. */
static enum hprof_status make_from(struct repair *r, struct input_source *from, uint8_t *header, size_t n)
{
    enum version known;
    unsigned id_size;
    bool knows_version;
    struct trial found;

    if (n < HEADER_SIZE || (parse_header(header, &known, &id_size) && !id_size_is_wrong(header, n)))
        return HPROF_VALID;
    found = try_dump(r, *from);
    if (found.status > HPROF_INVALID)
        return repair_fail(r, found.status, found.failure);
    if (!found.header_lost && !found.is_part)
        return HPROF_VALID;
    mend_header(header, &knows_version);
    if (!copy_all(r, *from, found.is_part ? HEADER_SIZE : 0) || !put_best_header(r, header, knows_version))
        return repair_failure(r);
    r->result.header_made = true;
    r->result.is_part = found.is_part;
    r->offsets_moved |= found.is_part;
    *from = source_of_fd(r->to);
    return HPROF_VALID;
}

enum hprof_status make_header(struct repair *r, struct input_source *from)
{
    uint8_t *start = from->seekable ? memory_get(&r->memory, TRANSFER_SIGHT) : NULL;
    enum hprof_status status;
    size_t n;

    if (!start)
        return from->seekable ? repair_failure(r) : HPROF_VALID;
    n = repair_read(r, *from, 0, start, TRANSFER_SIGHT);
    status = r->in.error ? repair_failure(r) : make_from(r, from, start, n);
    memory_put(&r->memory, start, TRANSFER_SIGHT);
    return status;
}
