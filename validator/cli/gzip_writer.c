#include "gzip_writer.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "write_all.h"

#define BLOCK_TEXT "1048576"

enum {
    BLOCK = 1 << 20,
    PACKED = BLOCK + (BLOCK >> 4), /* room for a block that cannot be compressed, and its header and trailer */
    HEADER = 10,
    FLAGS_AT = 3,
    HAS_COMMENT = 0x10
};
_Static_assert(BLOCK == 1048576, "the comment is true");

struct buffers {
    uint8_t block[BLOCK], packed[PACKED], level[ISAL_DEF_LVL1_DEFAULT];
};

static bool read_block(int from, uint64_t at, uint8_t *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(from, to + done, size - done, (off_t)(at + done));

        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0) {
            errno = EIO;
            return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* The header of a member, as HotSpot has it. Returns its size. */
static size_t put_header(uint8_t *to, bool is_first)
{
    static const uint8_t header[HEADER] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0};
    static const char comment[] = "HPROF BLOCKSIZE=" BLOCK_TEXT;

    memcpy(to, header, HEADER);
    if (!is_first)
        return HEADER;
    to[FLAGS_AT] = HAS_COMMENT;
    memcpy(to + HEADER, comment, sizeof comment);
    return HEADER + sizeof comment;
}

/* The member of a block. Returns its size; 0 if that is not possible. */
static size_t pack(struct buffers *b, size_t size, bool is_first)
{
    struct isal_zstream z;
    size_t header = put_header(b->packed, is_first);

    isal_deflate_stateless_init(&z);
    z.level = 1;
    z.level_buf = b->level;
    z.level_buf_size = sizeof b->level;
    z.gzip_flag = IGZIP_GZIP_NO_HDR;
    z.end_of_stream = 1;
    z.next_in = b->block;
    z.avail_in = (uint32_t)size;
    z.next_out = b->packed + header;
    z.avail_out = (uint32_t)(PACKED - header);
    return isal_deflate_stateless(&z) == COMP_OK ? header + z.total_out : 0;
}

bool gzip_write(int from, uint64_t size, int to)
{
    struct buffers *b = malloc(sizeof *b);
    uint64_t at = 0;
    bool good = b != NULL;

    while (good && (at < size || at == 0)) {
        size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK, packed;

        good = read_block(from, at, b->block, n);
        packed = good ? pack(b, n, at == 0) : 0;
        if (good && packed == 0)
            errno = EIO;
        good = packed > 0 && write_all(to, b->packed, packed);
        at += n;
        if (n < BLOCK)
            break;
    }
    int error = errno;
    free(b);
    errno = error;
    return good;
}
