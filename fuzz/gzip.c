/* See gzip.h. Headers are read here and the data inflated raw, so that a wrong trailer stops nothing. */
#include "gzip.h"

#include <string.h>
#include <zlib.h>

enum { HEADER = 10, TRAILER = 8, FLAGS_AT = 3, HAS_HEADER_CRC = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16 };

/* The size of a member's header; 0 if it is not complete. */
static size_t header_size(const uint8_t *member, size_t size)
{
    size_t at = HEADER;

    if (size < HEADER)
        return 0;
    if (member[FLAGS_AT] & HAS_EXTRA) {
        if (size - at < 2)
            return 0;
        at += 2 + ((size_t)member[at] | (size_t)member[at + 1] << 8);
    }
    for (unsigned flag = HAS_NAME; flag <= HAS_COMMENT; flag <<= 1)
        if (member[FLAGS_AT] & flag) {
            const uint8_t *nul = at < size ? memchr(member + at, 0, size - at) : NULL;

            if (!nul)
                return 0;
            at = (size_t)(nul + 1 - member);
        }
    if (member[FLAGS_AT] & HAS_HEADER_CRC)
        at += 2;
    return at <= size ? at : 0;
}

/* Inflates one member. `*used` are its bytes without the trailer. False if it does not end. */
static bool inflate_member(const uint8_t *member, size_t size, size_t *used, uint8_t *out, size_t max, size_t *got)
{
    size_t head = header_size(member, size);
    z_stream z = {.next_out = out, .avail_out = (uInt)max};
    int result;

    *got = *used = 0;
    if (!head || inflateInit2(&z, -15) != Z_OK)
        return false;
    z.next_in = (Bytef *)(uintptr_t)(member + head);
    z.avail_in = (uInt)(size - head);
    result = inflate(&z, Z_FINISH);
    *got = max - z.avail_out;
    *used = size - z.avail_in;
    inflateEnd(&z);
    return result == Z_STREAM_END;
}

size_t unpack_gzip(const uint8_t *data, size_t size, uint8_t *out, size_t max)
{
    size_t at = 0, total = 0, used, got;
    bool ended = true;

    while (ended && at < size && is_gzip(data + at, size - at) && total < max) {
        ended = inflate_member(data + at, size - at, &used, out + total, max - total, &got);
        total += got;
        at += used + TRAILER;
    }
    return total;
}

static void put_little_endian(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

/* Where the trailer of a member is that begins at an offset, and its right contents. False if the member is not complete. */
static bool find_trailer(const uint8_t *file, size_t size, size_t member, size_t *trailer, uint32_t *crc, size_t *plain_size)
{
    static uint8_t plain[GZIP_PLAIN_MAX];
    size_t used;

    if (member >= size || !is_gzip(file + member, size - member) ||
        !inflate_member(file + member, size - member, &used, plain, sizeof plain, plain_size) || size - member - used < TRAILER)
        return false;
    *trailer = member + used;
    *crc = (uint32_t)crc32(crc32(0, NULL, 0), plain, (uInt)*plain_size);
    return true;
}

size_t repair_gzip(uint8_t *file, size_t size)
{
    size_t trailer, plain_size;
    uint32_t crc;

    for (size_t member = 0; find_trailer(file, size, member, &trailer, &crc, &plain_size); member = trailer + TRAILER) {
        put_little_endian(file + trailer, crc);
        put_little_endian(file + trailer + 4, (uint32_t)plain_size);
    }
    return size;
}

size_t damage_gzip_file(uint8_t *file, size_t size, struct dice *dice)
{
    size_t trailer = 0, plain_size;
    uint32_t crc;

    for (size_t member = 0; find_trailer(file, size, member, &trailer, &crc, &plain_size); member = trailer + TRAILER)
        if (one_in(dice, 3))
            break;
    if (trailer)
        file[trailer + below(dice, TRAILER)] ^= (uint8_t)(1 + below(dice, 255));
    return size;
}

size_t pack_gzip(const uint8_t *data, size_t size, uint8_t *out, size_t max, struct dice *dice)
{
    static char comment[] = "HPROF BLOCKSIZE=1048576";
    size_t total = 0, members = one_in(dice, 2) ? 1 : 1 + (size_t)below(dice, 8), share = size / members + 1;

    do {
        static const int levels[] = {0, 1, 6}, strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY};
        gz_header header = {.comment = one_in(dice, 4) ? (Bytef *)comment : NULL,
                            .name = one_in(dice, 8) ? (Bytef *)comment : NULL,
                            .hcrc = one_in(dice, 8),
                            .time = (uLong)(uint32_t)throw_dice(dice), /* draws options: see target.h */
                            .os = 3};
        size_t n = size < share ? size : share;
        z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                      .avail_in = (uInt)n,
                      .next_out = out + total,
                      .avail_out = (uInt)(max - total)};

        if (deflateInit2(&z, levels[below(dice, 3)], Z_DEFLATED, 31, 1, strategies[below(dice, 3)]) != Z_OK)
            break;
        deflateSetHeader(&z, &header);
        int result = deflate(&z, Z_FINISH);

        total = max - z.avail_out;
        deflateEnd(&z);
        if (result != Z_STREAM_END)
            break;
        data += n;
        size -= n;
    } while (size);
    return total;
}
