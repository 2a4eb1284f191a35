/* See bytes_gzip.h. */
#include "stream/bytes_gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define BLOCK_SIZE 1048576
_Static_assert(BLOCK_SIZE == GZIP_BLOCK, "the comment is true");

enum {
    PARTS_OF_GZIP = 16,    /* added to windowBits: zlib's way to ask for gzip */
    PLAIN_HEADER_SIZE = 10 /* of a member without a comment */
};

static char comment[] = "HPROF BLOCKSIZE=" TEXT_OF(BLOCK_SIZE);

struct bytes_gzip {
    struct bytes bytes;
    z_stream z;
    struct gzip_hook *hook; /* may be NULL */
    uint8_t *block, *packed;
    size_t fill, packed_size;
    uint64_t members;
    uint64_t offset; /* of the next member in the file */
    bool cut;        /* the file ends here: further bytes are dropped */
};

/* Returns the size of the member after that. */
static size_t show_member(struct bytes_gzip *g, size_t size)
{
    struct gzip_member member = {.bytes = g->packed,
                                 .size = size,
                                 .header = PLAIN_HEADER_SIZE + (g->members ? 0 : sizeof comment),
                                 .number = g->members,
                                 .at = g->offset,
                                 .block = g->block,
                                 .block_size = g->fill};

    g->hook->member(g->hook, &member);
    g->cut = member.ends;
    return member.size;
}

static bool pack(struct bytes_gzip *g)
{
    gz_header header = {.comment = (Bytef *)comment};
    size_t size;

    deflateReset(&g->z); /* the header of the member before it stays */
    deflateSetHeader(&g->z, g->members ? NULL : &header);
    g->z.next_in = g->block;
    g->z.avail_in = (uInt)g->fill;
    g->z.next_out = g->packed;
    g->z.avail_out = (uInt)g->packed_size;
    if (deflate(&g->z, Z_FINISH) != Z_STREAM_END)
        return false; /* cannot happen: there is room for the worst case */
    size = g->packed_size - g->z.avail_out;
    if (g->hook)
        size = show_member(g, size);
    g->members++;
    g->offset += size;
    g->fill = 0;
    return !size || bytes_put(g->bytes.next, g->packed, size);
}

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct bytes_gzip *g = (struct bytes_gzip *)bytes;
    const uint8_t *p = data;

    while (size && !g->cut) {
        size_t n = GZIP_BLOCK - g->fill < size ? GZIP_BLOCK - g->fill : size;

        memcpy(g->block + g->fill, p, n);
        g->fill += n;
        p += n;
        size -= n;
        if (g->fill == GZIP_BLOCK && !pack(g))
            return false;
    }
    return true;
}

static bool finish(struct bytes *bytes)
{
    struct bytes_gzip *g = (struct bytes_gzip *)bytes;
    const void *more = NULL;
    size_t size = 0;

    if (!g->cut && (g->fill || !g->members) && !pack(g))
        return false;
    if (g->hook && g->hook->end)
        size = g->hook->end(g->hook, g->offset, &more);
    return (!size || bytes_put(g->bytes.next, more, size)) && bytes_finish(g->bytes.next);
}

struct bytes_gzip *bytes_gzip_new(struct bytes *next, int level, struct gzip_hook *hook)
{
    struct bytes_gzip *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    if (deflateInit2(&g->z, level, Z_DEFLATED, MAX_WBITS + PARTS_OF_GZIP, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(g);
        return NULL;
    }
    g->bytes = (struct bytes){.put = put, .finish = finish, .next = next};
    g->hook = hook;
    g->packed_size = deflateBound(&g->z, GZIP_BLOCK) + sizeof comment;
    g->block = malloc(GZIP_BLOCK);
    g->packed = malloc(g->packed_size);
    if (!g->block || !g->packed) {
        bytes_gzip_free(g);
        return NULL;
    }
    return g;
}

struct bytes *bytes_gzip_bytes(struct bytes_gzip *g)
{
    return &g->bytes;
}

void bytes_gzip_free(struct bytes_gzip *g)
{
    if (!g)
        return;
    deflateEnd(&g->z);
    free(g->block);
    free(g->packed);
    free(g);
}
