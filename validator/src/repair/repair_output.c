/* See repair_copy.h. */
#include "repair/repair_copy.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool copy_write(struct repair *r, uint64_t offset, const uint8_t *bytes, size_t n)
{
    size_t done = 0;

    while (done < n && !r->error) {
        ssize_t written = pwrite(r->to, bytes + done, n - done, (off_t)(offset + done));

        if (written > 0)
            done += (size_t)written;
        else if (written == 0)
            r->error = EIO;
        else if (errno != EINTR)
            r->error = errno;
    }
    return !r->error;
}

/* At the end of what was written. */
static void write_copy(struct repair *r, const uint8_t *bytes, size_t size)
{
    copy_write(r, r->written, bytes, size);
}

void copy_flush(struct repair *r)
{
    write_copy(r, r->buffer, r->buffered);
    r->written += r->buffered;
    r->buffered = 0;
}

uint64_t copy_size(const struct repair *r)
{
    return r->written + r->buffered;
}

void copy_put(struct repair *r, const uint8_t *bytes, size_t n)
{
    while (n) {
        size_t room = COPY_BUFFER - r->buffered, part = n < room ? n : room;

        memcpy(r->buffer + r->buffered, bytes, part);
        r->buffered += part;
        bytes += part;
        n -= part;
        if (r->buffered == COPY_BUFFER)
            copy_flush(r);
    }
}

void copy_cut(struct repair *r, uint64_t position)
{
    if (position >= r->written) {
        r->buffered = (size_t)(position - r->written);
    } else {
        r->written = position;
        r->buffered = 0;
    }
}

static void put_u4(uint8_t *to, uint64_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

void copy_number(struct repair *r, uint64_t at, uint64_t number)
{
    uint8_t bytes[4];

    put_u4(bytes, number);
    if (at < r->written) {
        copy_flush(r);
        copy_write(r, at, bytes, sizeof bytes);
    } else {
        memcpy(r->buffer + (at - r->written), bytes, sizeof bytes);
    }
}

void copy_id(struct repair *r, uint64_t at, uint64_t id)
{
    if (r->id_size == 8)
        copy_number(r, at, id >> 32);
    copy_number(r, at + r->id_size - 4, id & UINT32_MAX);
}

uint64_t copy_room(const struct repair *r)
{
    return r->base + r->in.offset - copy_size(r);
}

size_t copy_read_some(struct repair *r, uint64_t offset, uint8_t *to, size_t n)
{
    size_t got = 0;
    ssize_t more = 1;

    while (got < n && more != 0) {
        more = pread(r->to, to + got, n - got, (off_t)(offset + got));
        if (more > 0)
            got += (size_t)more;
        else if (more < 0 && errno != EINTR) {
            r->error = errno;
            break;
        }
    }
    return got;
}

bool copy_read(struct repair *r, uint64_t offset, uint8_t *to, size_t n)
{
    return copy_read_some(r, offset, to, n) == n;
}

/* Bytes of the input, in memory. Many of them, not by way of the buffer; nor are they written where they already are. */
static void copy_window(struct repair *r, size_t n)
{
    enum { MANY = 1 << 14 };

    if (n < MANY) {
        copy_put(r, r->in.at, n);
    } else {
        copy_flush(r);
        if (!r->is_in_place || r->written != r->base + r->in.offset)
            write_copy(r, r->in.at, n);
        r->written += n;
    }
    input_advance(&r->in, n);
}

uint64_t copy_input(struct repair *r, uint64_t n)
{
    uint64_t left = n;

    while (left && !r->error) {
        size_t there = input_need(&r->in, 1), part = there < left ? there : (size_t)left;

        if (!there)
            break;
        copy_window(r, part);
        left -= part;
    }
    return n - left;
}

bool copy_shift(struct repair *r, uint64_t by)
{
    uint64_t left = r->written;

    while (left && !r->error) {
        size_t part = left < COPY_BUFFER ? (size_t)left : COPY_BUFFER;

        left -= part;
        if (!copy_read(r, left, r->buffer, part))
            break;
        r->written = left + by;
        r->buffered = part;
        copy_flush(r);
    }
    return !r->error && !left;
}
