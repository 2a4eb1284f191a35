/* See repair.h. What a transfer has done is undone, and what gzip has done, until the dump is there: a gzip file may have been
 * transferred, and so may the dump that it holds. */
#include <errno.h>
#include <unistd.h>

#include "format/header.h"
#include "repair/repair_copy.h"
#include "repair/trial.h"

enum { LAYERS_MOST = 3 };

/* The first bytes of the copy, as many as the context says, are a gzip file. */
static int64_t read_packed(void *context, uint64_t offset, void *to, size_t size)
{
    const struct repair *r = context;
    ssize_t got = pread(r->to, to, size, (off_t)offset);

    return got < 0 ? -errno : got;
}

/* Moves what follows the first bytes of the copy to its start. */
static bool drop_start(struct repair *r, uint64_t size)
{
    uint64_t at = size;

    while (at < r->written) {
        size_t part = r->written - at < COPY_BUFFER ? (size_t)(r->written - at) : COPY_BUFFER;

        if (!copy_read(r, at, r->buffer, part) || !copy_write(r, at - size, r->buffer, part))
            return false;
        at += part;
    }
    r->written -= size;
    if (ftruncate(r->to, (off_t)r->written) != 0)
        r->error = errno;
    return !r->error;
}

/* Finds out whether the input, a plain file, holds a dump in a gzip file whose beginning is damaged or lost. */
static enum hprof_status find_lost_gzip(struct repair *r, struct input_source from, bool *is_lost)
{
    enum version version;
    unsigned id_size;
    struct trial trial;

    *is_lost = false;
    if (r->in.compressed || input_need(&r->in, HEADER_SIZE) < HEADER_SIZE || parse_header(r->in.at, &version, &id_size))
        return r->in.error ? repair_failure(r) : HPROF_VALID;
    trial = try_dump(r, from);
    *is_lost = trial.header_lost && trial.is_compressed;
    return trial.status > HPROF_INVALID ? repair_fail(r, trial.status, trial.failure) : HPROF_VALID;
}

/* Opens a gzip file, also one that does not begin as it should. */
static bool open_packed(struct repair *r, struct input_source packed)
{
    return repair_open(r, packed) && (r->in.compressed || input_inflate(&r->in, repair_count_fault, r));
}

/* Inflates the copy itself: to its end, and what was there goes. */
static bool unpack_copy(struct repair *r)
{
    const uint64_t size = r->written;
    struct hprof_source callbacks = {.struct_size = sizeof callbacks, .read_at = read_packed, .size = size, .context = r};
    struct input_source packed;

    if (source_of_callbacks(&callbacks, &packed) || !open_packed(r, packed))
        return false;
    r->base = size;
    if (!repair_spool(r))
        return false;
    r->base = 0;
    r->unknown.packed.seekable = false; /* its bytes are gone */
    input_close(&r->in);
    return drop_start(r, size);
}

/* The input becomes the copy, inflated if it is a gzip file, and the copy the input. */
static enum hprof_status spool(struct repair *r, struct input_source *from)
{
    bool is_done = from->fd == r->to ? unpack_copy(r) : repair_spool(r);

    if (!is_done)
        return repair_failure(r);
    *from = source_of_fd(r->to);
    return HPROF_VALID;
}

enum hprof_status find_dump(struct repair *r, struct input_source *from)
{
    enum hprof_status status;

    if (r->in.transfer)
        input_leave_compressed(&r->in);
    if (!r->in.source.seekable || (r->asked.part_count && !r->in.compressed)) {
        status = spool(r, from);
        if (status != HPROF_VALID)
            return status;
    }
    for (int layers = 0; layers < LAYERS_MOST; layers++) {
        bool is_lost;

        status = undo_transfer(r, from);
        if (status == HPROF_VALID && !repair_open(r, *from))
            return repair_failure(r);
        if (status == HPROF_VALID)
            status = find_lost_gzip(r, *from, &is_lost);
        if (status != HPROF_VALID || !(r->in.compressed || is_lost))
            return status;
        if (from->fd != r->to && !open_packed(r, *from))
            return repair_failure(r);
        status = spool(r, from);
        if (status != HPROF_VALID)
            return status;
    }
    return HPROF_VALID;
}
