/* Damages a gzip file. What can still be inflated of a member that is damaged is found by inflating it. */
#include "damage/plan.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "stream/bytes_gzip.h"

enum { GZIP_WINDOW = MAX_WBITS + 16 /* zlib's way to ask for gzip */ };

/* The number of bytes that come out of the member and are right. 0 also without memory: then too much is listed. */
static size_t inflate_right(const struct gzip_member *m)
{
    uint8_t *out = malloc(GZIP_BLOCK);
    z_stream z = {.next_in = m->bytes, .avail_in = (uInt)m->size};
    size_t size = 0, right = 0;

    if (!out || inflateInit2(&z, GZIP_WINDOW) != Z_OK) {
        free(out);
        return 0;
    }
    z.next_out = out;
    z.avail_out = GZIP_BLOCK;
    inflate(&z, Z_SYNC_FLUSH);
    size = GZIP_BLOCK - z.avail_out;
    inflateEnd(&z);
    while (right < size && right < m->block_size && out[right] == m->block[right])
        right++;
    free(out);
    return right;
}

static void damage_member(struct gzip_hook *hook, struct gzip_member *m)
{
    struct damage *d = (struct damage *)((char *)hook - offsetof(struct damage, gzip.hook));
    uint64_t block_at = m->number * GZIP_BLOCK, at, before = m->size;
    size_t right = m->block_size, data = m->size - m->header - GZIP_TRAILER_SIZE;

    if (m->number != d->gzip.member) {
        harm_pass(d->harm, block_at + m->block_size);
        return;
    }
    switch (d->gzip.kind) {
    case DAMAGE_GZ_CUT:
        at = m->header + below(draw(d->gzip.key, 1), data);
        m->size = (size_t)at;
        m->ends = true;
        right = inflate_right(m);
        d->at = block_at + m->block_size; /* from here on the dump is lost */
        break;
    case DAMAGE_GZ_NO_TRAILER:
        at = m->size -= GZIP_TRAILER_SIZE;
        break;
    case DAMAGE_GZ_DAMAGE_MEMBER:
        at = m->header + below(draw(d->gzip.key, 1), data);
        m->bytes[at] ^= (uint8_t)(1 + below(draw(d->gzip.key, 2), 255));
        right = inflate_right(m);
        break;
    default: /* GZ_LOSE_MEMBER */
        at = m->size = 0;
        right = 0;
        break;
    }
    harm_touch(d->harm, block_at + right, block_at + m->block_size, false);
    harm_pass(d->harm, block_at + m->block_size);
    d->done[0].at = m->at + at;
    d->done[0].bytes = d->gzip.kind == DAMAGE_GZ_DAMAGE_MEMBER ? 1 : before - m->size;
    d->done[0].written = d->gzip.kind == DAMAGE_GZ_DAMAGE_MEMBER ? 1 : 0;
}

void damage_gzip_init(struct damage *d, const struct damage_spec *spec)
{
    uint64_t members = d->survey.bytes ? (d->survey.bytes - 1) / GZIP_BLOCK + 1 : 1;

    d->gzip.hook.member = damage_member;
    d->gzip.is_wanted = true;
    d->gzip.kind = spec->kind;
    d->gzip.key = mix_of(d->seed, 1, 0);
    d->gzip.member = spec->kind == DAMAGE_GZ_NO_TRAILER ? members - 1
                     : spec->has_at                     ? share_of(spec->at, members)
                                                        : below(draw(d->gzip.key, 0), members);
}

void damage_gzip_finish(struct damage *d)
{
    if (d->gzip.kind == DAMAGE_GZ_CUT)
        harm_touch(d->harm, d->at, UINT64_MAX, false);
}
