/* See repair.h. A file was cut into two, which were joined in the wrong order: it begins within the dump, whose header follows. */
#include <unistd.h>

#include "format/header.h"
#include "repair/trial.h"

enum {
    BLOCK = 256 << 10,
    HEADERS_MOST = 4 /* that are tried: others may be in arrays */
};

struct turn {
    struct repair *r;
    struct input_source from;
    enum hprof_status failed; /* HPROF_VALID, or why no more can be tried */
    uint8_t bytes[BLOCK];
};

static size_t read_block(struct turn *t, uint64_t offset, size_t wanted)
{
    return repair_read(t->r, t->from, offset, t->bytes, wanted);
}

/* The first header at an offset or after it; UINT64_MAX if there is none. */
static uint64_t find_header(struct turn *t, uint64_t from)
{
    enum version version;
    unsigned id_size;

    for (size_t n = BLOCK; n == BLOCK; from += BLOCK - HEADER_SIZE + 1) {
        n = read_block(t, from, BLOCK);
        for (size_t i = 0; i + HEADER_SIZE <= n; i++)
            if (t->bytes[i] == *HEADER_MAGIC && parse_header(t->bytes + i, &version, &id_size))
                return from + i;
    }
    return UINT64_MAX;
}

/* Appends the bytes between two offsets to the copy. */
static bool append(struct turn *t, uint64_t from, uint64_t until)
{
    struct repair *r = t->r;

    while (from < until && repair_is_good(r)) {
        size_t n = read_block(t, from, until - from < BLOCK ? (size_t)(until - from) : BLOCK);

        if (!n || !copy_write(r, r->written, t->bytes, n))
            break;
        r->written += n;
        from += n;
    }
    return repair_is_good(r);
}

/* Makes the copy begin with the header. That is the order in which the pieces were if the dump has no error then. */
static bool is_in_order(struct turn *t, uint64_t header)
{
    struct repair *r = t->r;
    struct trial now;

    r->written = 0;
    if (!append(t, header, t->from.size) || !append(t, 0, header))
        return false;
    now = try_dump(r, source_of_fd(r->to));
    if (now.status > HPROF_INVALID)
        t->failed = repair_fail(r, now.status, now.failure);
    return !t->failed && now.has_header && !now.errors;
}

static enum hprof_status turn(struct turn *t, struct input_source *from)
{
    struct repair *r = t->r;
    enum version version;
    unsigned id_size;
    uint64_t header = 0;

    if (read_block(t, 0, HEADER_SIZE) < HEADER_SIZE || parse_header(t->bytes, &version, &id_size))
        return repair_is_good(r) ? HPROF_VALID : repair_failure(r);
    for (int tries = 0; tries < HEADERS_MOST && repair_is_good(r) && !t->failed && header != UINT64_MAX; tries++) {
        header = find_header(t, header + 1);
        if (header != UINT64_MAX && is_in_order(t, header)) {
            r->result.undone |= HPROF_TRANSFER_ORDER;
            r->offsets_moved = true;
            *from = source_of_fd(r->to);
            return HPROF_VALID;
        }
    }
    if (t->failed)
        return t->failed;
    if (!repair_is_good(r))
        return repair_failure(r);
    r->written = 0;
    return ftruncate(r->to, 0) == 0 ? HPROF_VALID : HPROF_IO;
}

enum hprof_status turn_around(struct repair *r, struct input_source *from)
{
    struct turn *t;
    enum hprof_status status;

    if (!from->seekable || r->in.compressed || r->asked.part_count)
        return HPROF_VALID;
    t = memory_get(&r->memory, sizeof *t);
    if (!t)
        return repair_failure(r);
    t->r = r;
    t->from = *from;
    t->failed = HPROF_VALID;
    status = turn(t, from);
    memory_put(&r->memory, t, sizeof *t);
    return status;
}
