/* Damages the bytes of a dump on their way to the file. */
#include "damage/plan.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

static bool write_out(struct damage *d, const void *data, size_t size)
{
    return !size || bytes_put(d->bytes.next, data, size);
}

/* ---- All bytes ---- */

/* The changed bytes of one. Returns their number. */
static size_t change_byte(enum damage_kind change, uint8_t byte, uint8_t to[2])
{
    if (change == DAMAGE_CRLF && byte == '\n') {
        to[0] = '\r';
        to[1] = byte;
        return 2;
    }
    if (change == DAMAGE_LATIN1 && byte >= 0x80) {
        to[0] = (uint8_t)(0xc0 | byte >> 6);
        to[1] = (uint8_t)(0x80 | (byte & 0x3f));
        return 2;
    }
    to[0] = change == DAMAGE_SEVEN_BIT ? byte & 0x7f : byte;
    return 1;
}

static bool put_changed(struct bytes *bytes, const void *data, size_t size)
{
    struct damage *d = (struct damage *)((char *)bytes - offsetof(struct damage, bytes));
    const uint8_t *p = data;
    uint8_t to[2 * CHUNK];
    size_t fill = 0;

    for (size_t i = 0; i < size; i++, d->at++) {
        size_t n = change_byte(d->change, p[i], to + fill);

        if (d->change == DAMAGE_CRLF && n > 1)
            harm_split(d->harm, d->at);
        else if (n > 1 || to[fill] != p[i])
            harm_touch(d->harm, d->at, d->at + 1, false);
        fill += n;
        d->done[0].written += n;
        if (fill > sizeof to - 2 || i + 1 == size) {
            if (!write_out(d, to, fill))
                return false;
            fill = 0;
        }
    }
    harm_pass(d->harm, d->at);
    return true;
}

/* ---- Edits ---- */

static bool insert_bytes(struct damage *d, const struct edit *e)
{
    uint8_t made[CHUNK];
    uint64_t left = e->more;

    if (e->op == EDIT_TEXT)
        return write_out(d, e->text, e->more);
    for (uint64_t word = 0; left;) {
        size_t n = 0;

        for (; n < CHUNK && n < left; word++)
            for (uint64_t bits = draw(e->key, 16 + word), k = 0; k < 8 && n < CHUNK && n < left; k++)
                made[n++] = (uint8_t)(bits >> 8 * k);
        if (!write_out(d, made, n))
            return false;
        left -= n;
    }
    return true;
}

/* The fate of bytes that are zeroed: many were zero before. */
static void touch_zeroed(struct damage *d, const uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t start = i;
        bool same = !p[i];

        while (i < size && !p[i] == same)
            i++;
        harm_touch(d->harm, d->at + start, d->at + i, same);
    }
}

static bool write_zeros(struct damage *d, size_t size)
{
    static const uint8_t zeros[CHUNK];

    for (size_t n; size; size -= n) {
        n = size < CHUNK ? size : CHUNK;
        if (!write_out(d, zeros, n))
            return false;
    }
    return true;
}

/* The next `size` bytes, all within the edit. */
static bool edit_bytes(struct damage *d, const struct edit *e, const uint8_t *p, size_t size)
{
    uint64_t done = d->at - e->at; /* bytes of the edit that have passed */
    uint8_t changed;
    size_t first;

    switch (e->op) {
    case EDIT_LOSE:
        harm_touch(d->harm, d->at, d->at + size, false);
        return true;
    case EDIT_ZERO:
        touch_zeroed(d, p, size);
        return write_zeros(d, size);
    case EDIT_CHANGE:
        harm_touch(d->harm, d->at, d->at + 1, false);
        changed = *p ^ e->mask;
        return write_out(d, &changed, 1);
    case EDIT_DOUBLE:
        memcpy(d->block + done, p, size);
        return write_out(d, p, size);
    case EDIT_SWAP:
        first = done < e->size / 2 ? (size_t)(e->size / 2 - done) : 0;
        first = first < size ? first : size;
        if (!done)
            harm_split(d->harm, e->at);
        memcpy(d->block + done, p, first);
        if (first < size && done <= e->size / 2)
            harm_split(d->harm, e->at + e->size / 2);
        return write_out(d, p + first, size - first);
    case EDIT_INSERT:
    case EDIT_TEXT:
        break;
    }
    return true;
}

/* What follows the bytes of an edit. */
static bool end_edit(struct damage *d, const struct edit *e)
{
    switch (e->op) {
    case EDIT_INSERT:
    case EDIT_TEXT:
        harm_split(d->harm, e->at);
        return insert_bytes(d, e);
    case EDIT_DOUBLE:
        harm_split(d->harm, e->at + e->size);
        return write_out(d, d->block, e->size);
    case EDIT_SWAP:
        harm_split(d->harm, e->at + e->size);
        return write_out(d, d->block, e->size / 2);
    case EDIT_LOSE:
    case EDIT_ZERO:
    case EDIT_CHANGE:
        break;
    }
    return true;
}

static bool put_edited(struct bytes *bytes, const void *data, size_t size)
{
    struct damage *d = (struct damage *)((char *)bytes - offsetof(struct damage, bytes));
    const uint8_t *p = data;

    for (;;) {
        const struct edit *e = d->edit < d->edit_count ? &d->edits[d->edit] : NULL;
        bool within = e && d->at >= e->at;
        uint64_t until = !e ? UINT64_MAX : within ? e->at + e->size : e->at;
        size_t n = until - d->at < size ? (size_t)(until - d->at) : size;

        if (!(within ? !n || edit_bytes(d, e, p, n) : write_out(d, p, n)))
            return false;
        p += n;
        size -= n;
        d->at += n;
        if (within && d->at == e->at + e->size) {
            if (!end_edit(d, e))
                return false;
            d->edit++;
        } else if (!size) {
            break;
        }
    }
    harm_pass(d->harm, d->at);
    return true;
}

/* Edits at the very end have seen no byte after them. */
static bool finish(struct bytes *bytes)
{
    struct damage *d = (struct damage *)((char *)bytes - offsetof(struct damage, bytes));

    return put_edited(bytes, NULL, 0) && bytes_finish(d->bytes.next);
}

static bool finish_changed(struct bytes *bytes)
{
    return bytes_finish(bytes->next);
}

void damage_edit_bytes(struct damage *d, struct bytes *next)
{
    bool all = d->change != DAMAGE_TRUNCATE;

    d->bytes = (struct bytes){.put = all ? put_changed : put_edited, .finish = all ? finish_changed : finish, .next = next};
}
