/* See repair.h. A transfer as text that lost nothing is undone into the copy, which is the input from then on: of a dump, or of the
 * gzip file that holds it. The first bytes say what may have happened, and all bytes must be as such a transfer writes them; the
 * result is believed only if it has no error, or far fewer than the input, or if far more of it can be read. */
#include <string.h>
#include <unistd.h>

#include "input/transfer.h"
#include "repair/trial.h"

#define CANNOT_UNDO ", which cannot be undone: transfer the dump again, in binary mode"

enum {
    BLOCK = 256 << 10,
    FAR_FEWER = 8, /* times */
    TIMES_MOST = 4,
    CAN_BE_UNDONE = HPROF_TRANSFER_TEXT_BEFORE | HPROF_TRANSFER_CRLF | HPROF_TRANSFER_LATIN1
};

struct undo {
    struct repair *r;
    unsigned changes;
    uint64_t skipped; /* bytes before the header */
    uint64_t written; /* to the copy */
    uint8_t lead;     /* of a character whose second byte follows; 0 for none */
    bool held_cr;     /* a CR, which goes if an LF follows */
    bool has_written; /* the copy was changed */
    bool is_exact;    /* so far all bytes are as this transfer writes them */
    uint8_t in[BLOCK], out[BLOCK + 2];
    size_t filled;
};

/* ---- Bytes ---- */

static void put_byte(struct undo *u, uint8_t byte)
{
    if (u->held_cr && byte != '\n')
        u->out[u->filled++] = '\r';
    u->is_exact &= u->held_cr || byte != '\n' || !(u->changes & HPROF_TRANSFER_CRLF);
    u->held_cr = byte == '\r' && (u->changes & HPROF_TRANSFER_CRLF);
    if (!u->held_cr)
        u->out[u->filled++] = byte;
}

static void undo_byte(struct undo *u, uint8_t byte)
{
    if (!(u->changes & HPROF_TRANSFER_LATIN1)) {
        put_byte(u, byte);
    } else if (u->lead) {
        u->is_exact &= (byte & 0xc0) == 0x80;
        put_byte(u, (uint8_t)(u->lead << 6 | (byte & 0x3f)));
        u->lead = 0;
    } else if (byte >= 0x80) {
        u->is_exact &= byte == 0xc2 || byte == 0xc3;
        u->lead = byte;
    } else {
        put_byte(u, byte);
    }
}

static bool write_out(struct undo *u)
{
    if (!copy_write(u->r, u->written, u->out, u->filled))
        return false;
    u->written += u->filled;
    u->filled = 0;
    return true;
}

/* Undoes the bytes of the source, and writes them if that is asked for. False if the transfer was another, or a read or write
 * failed. */
static bool pass_all(struct undo *u, struct input_source source, bool writes)
{
    size_t n;

    source_seek(&source, u->skipped);
    u->is_exact = true;
    u->held_cr = false;
    u->lead = 0;
    while (u->is_exact && (n = source_read(&source, u->in, BLOCK)) > 0) {
        for (size_t i = 0; i < n; i++)
            undo_byte(u, u->in[i]);
        if (writes && !write_out(u))
            return false;
        u->filled = 0;
    }
    if (u->held_cr)
        u->out[u->filled++] = '\r';
    if (source.error)
        u->r->error = source.error;
    return u->is_exact && !source.error && (!writes || write_out(u));
}

/* Writes the copy. The result is never longer than the input, so that the input may be the copy: it is as it was if the transfer
 * was another. False then, or if a read or write failed. */
static bool undo_all(struct undo *u, struct input_source source)
{
    if (source.fd == u->r->to) /* the size that the source knows may be an older one */
        source = (struct input_source){.fd = source.fd, .wake = {-1, -1}, .seekable = true, .size = u->r->written};
    if (!pass_all(u, source, false))
        return false;
    u->has_written = true;
    u->written = u->filled = 0;
    return pass_all(u, source, true) && ftruncate(u->r->to, (off_t)u->written) == 0;
}

/* ---- Whether to believe it ---- */

/* A gzip file has fewer faults; or, if a member is damaged, too, more can be inflated. What is in it does not count. */
static bool is_better_gzip(struct trial now, struct trial before)
{
    if (!before.is_compressed)
        return now.is_compressed && now.bytes;
    return now.gzip_faults < before.gzip_faults ||
           (now.gzip_faults == before.gzip_faults && now.bytes / FAR_FEWER > before.bytes);
}

static bool is_better(struct trial now, struct trial before)
{
    if (!now.has_header)
        return false;
    return !before.has_header || !now.errors || now.errors < before.errors / FAR_FEWER ||
           (now.errors <= before.errors && now.unchecked < before.unchecked / FAR_FEWER);
}

/* ---- The whole ---- */

/* Whether the whole file has no byte from 128 on. False also if it cannot be read. */
static bool has_seven_bits(struct undo *u, struct input_source source)
{
    size_t n;

    while ((n = source_read(&source, u->in, BLOCK)) > 0)
        if (has_high_byte(u->in, n))
            return false;
    u->r->in.error = source.error;
    return !source.error;
}

/* What the first bytes show. False if they cannot be read. */
static bool look(struct undo *u, struct input_source source)
{
    size_t n = repair_read(u->r, source, 0, u->in, TRANSFER_SIGHT), header = transfer_start(u->in, n);

    if (header == SIZE_MAX || u->r->in.error)
        return !u->r->in.error;
    u->skipped = header;
    u->changes = transfer_of(u->in + header, n - header) | (header ? HPROF_TRANSFER_TEXT_BEFORE : 0);
    if (u->changes && transfer_begins_gzip(u->in + header, n - header))
        u->changes |= HPROF_TRANSFER_GZIP;
    return true;
}

/* The copy as it is now, of which nothing but the file is known. */
static struct input_source source_of_copy(const struct undo *u)
{
    return (struct input_source){.fd = u->r->to, .wake = {-1, -1}, .seekable = true, .size = u->written};
}

/* Undoes the changes, and once more what the result shows: a file may have gone the same way several times. */
static bool undo_repeatedly(struct undo *u, struct input_source source)
{
    const unsigned changes = u->changes;
    const uint64_t skipped = u->skipped;
    bool is_undone = undo_all(u, source);

    for (int times = 1; is_undone && times < TIMES_MOST; times++) {
        if (!look(u, source_of_copy(u))) {
            u->r->error = u->r->in.error;
            return false;
        }
        u->changes &= HPROF_TRANSFER_LATIN1 | HPROF_TRANSFER_CRLF;
        if (!u->changes || u->skipped || !try_dump(u->r, source_of_copy(u)).errors)
            break;
        u->r->written = u->written;
        if (!undo_all(u, source_of_copy(u))) { /* once was enough, or the copy cannot be read or written */
            is_undone = !u->r->error;
            break;
        }
    }
    u->changes = changes;
    u->skipped = skipped;
    return is_undone;
}

static enum hprof_status undo(struct undo *u, struct input_source *from)
{
    struct repair *r = u->r;
    struct trial before, after = {.errors = UINT64_MAX};

    if (!look(u, *from))
        return repair_failure(r);
    if (!u->changes)
        return HPROF_VALID;
    before = try_dump(r, *from);
    if (before.status > HPROF_INVALID)
        return repair_fail(r, before.status, before.failure);
    if (!before.errors)
        return HPROF_VALID;
    if ((u->changes & TRANSFER_WITHOUT_HIGH_BYTES) && has_seven_bits(u, *from))
        return repair_fail(r, HPROF_INVALID,
                           u->changes & HPROF_TRANSFER_ASCII
                               ? "a transfer as text replaced each byte from 128 on by '?'" CANNOT_UNDO
                               : "a transfer as text cleared the highest bit of each byte" CANNOT_UNDO);
    if (r->in.error)
        return repair_failure(r);
    u->changes &= ~(unsigned)TRANSFER_WITHOUT_HIGH_BYTES;
    if (!(u->changes & CAN_BE_UNDONE))
        return HPROF_VALID;
    if (undo_repeatedly(u, *from))
        after = try_dump(r, source_of_fd(r->to));
    if (after.status > HPROF_INVALID)
        return repair_fail(r, after.status, after.failure);
    if (u->changes & HPROF_TRANSFER_GZIP ? is_better_gzip(after, before) : is_better(after, before)) {
        r->result.undone |= u->changes;
        r->result.text_before += u->skipped;
        r->offsets_moved |= !(u->changes & HPROF_TRANSFER_GZIP);
        r->written = u->written;
        *from = source_of_fd(r->to);
        return HPROF_VALID;
    }
    if (r->error) {
        r->result.failed_on_copy = true;
        return repair_fail(r, HPROF_IO, strerror(r->error));
    }
    if (!u->has_written)
        return HPROF_VALID;
    if (from->fd == r->to)
        return repair_fail(r, HPROF_INVALID, "the dump was transferred as text, and to undo that gives no valid dump");
    r->written = 0;
    return ftruncate(r->to, 0) == 0 ? HPROF_VALID : HPROF_IO;
}

enum hprof_status undo_transfer(struct repair *r, struct input_source *from)
{
    struct undo *u = memory_get_zeroed(&r->memory, sizeof *u);
    enum hprof_status status;

    if (!u)
        return repair_fail(r, HPROF_LIMIT, "memory ran out");
    u->r = r;
    status = undo(u, from);
    memory_put(&r->memory, u, sizeof *u);
    return status;
}
