/* See bytes_gzip.h. Blocks are in a ring: the caller fills them, the caller and its helpers compress them, and the caller writes
 * them in their order, so that the file is the same however many helpers there are. */
#include "stream/bytes_gzip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define BLOCK_SIZE 1048576
_Static_assert(BLOCK_SIZE == GZIP_BLOCK, "the comment is true");

enum {
    PARTS_OF_GZIP = 16,     /* added to windowBits: zlib's way to ask for gzip */
    PLAIN_HEADER_SIZE = 10, /* of a member without a comment */
    THREADS_MOST = 8,       /* so that all blocks take less than 25 MB */
    SPARE = 2,              /* blocks that are filled or written while each thread has one */
    STACK_SIZE = 256 << 10  /* zlib needs little */
};

static char comment[] = "HPROF BLOCKSIZE=" TEXT_OF(BLOCK_SIZE);

struct block {
    z_stream z;
    gz_header header; /* of the first member */
    uint8_t *bytes, *packed;
    size_t fill, size;
    bool is_first, is_packed, failed;
};

struct bytes_gzip {
    struct bytes bytes;
    struct gzip_hook *hook; /* may be NULL */
    size_t packed_most;     /* room for a compressed block */
    uint64_t written;       /* blocks so far */
    uint64_t offset;        /* of the next member in the file */
    bool cut;               /* the file ends here: further bytes are dropped */

    struct block *blocks; /* of them `ready` have been allocated */
    unsigned count, ready;
    pthread_t helpers[THREADS_MOST];
    unsigned wanted, started; /* helpers */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled, taken; /* blocks so far */
    bool ended;
};

/* ---- Compressing ---- */

static bool pack(const struct bytes_gzip *g, struct block *b)
{
    deflateReset(&b->z); /* the header of the member before it stays */
    deflateSetHeader(&b->z, b->is_first ? &b->header : NULL);
    b->z.next_in = b->bytes;
    b->z.avail_in = (uInt)b->fill;
    b->z.next_out = b->packed;
    b->z.avail_out = (uInt)g->packed_most;
    if (deflate(&b->z, Z_FINISH) != Z_STREAM_END)
        return false; /* cannot happen: there is room for the worst case */
    b->size = g->packed_most - b->z.avail_out;
    return true;
}

/* The next block that nobody compresses. The lock is held, except meanwhile. */
static void pack_next(struct bytes_gzip *g)
{
    struct block *b = &g->blocks[g->taken++ % g->count];

    pthread_mutex_unlock(&g->lock);
    b->failed = !pack(g, b);
    pthread_mutex_lock(&g->lock);
    b->is_packed = true;
    pthread_cond_broadcast(&g->changed);
}

/* The lock is held, except meanwhile. */
static void pack_or_wait(struct bytes_gzip *g)
{
    if (g->taken < g->filled)
        pack_next(g);
    else
        pthread_cond_wait(&g->changed, &g->lock);
}

static void *help(void *context)
{
    struct bytes_gzip *g = context;

    pthread_mutex_lock(&g->lock);
    while (!g->ended)
        pack_or_wait(g);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* One more for each block at first, so that a small file has none. Without it the others do the work. */
static void start_helper(struct bytes_gzip *g)
{
    pthread_attr_t small;

    if (g->started == g->wanted || pthread_attr_init(&small) != 0)
        return;
    pthread_attr_setstacksize(&small, STACK_SIZE);
    if (pthread_create(&g->helpers[g->started], &small, help, g) == 0)
        g->started++;
    else
        g->wanted = g->started;
    pthread_attr_destroy(&small);
}

static void end_helpers(struct bytes_gzip *g)
{
    pthread_mutex_lock(&g->lock);
    g->ended = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    while (g->started)
        pthread_join(g->helpers[--g->started], NULL);
}

/* ---- Writing ---- */

/* Returns the size of the member after that. */
static size_t show_member(struct bytes_gzip *g, const struct block *b)
{
    struct gzip_member member = {.bytes = b->packed,
                                 .size = b->size,
                                 .header = PLAIN_HEADER_SIZE + (b->is_first ? sizeof comment : 0),
                                 .number = g->written,
                                 .at = g->offset,
                                 .block = b->bytes,
                                 .block_size = b->fill};

    g->hook->member(g->hook, &member);
    g->cut = member.ends;
    return member.size;
}

static bool write_block(struct bytes_gzip *g)
{
    struct block *b = &g->blocks[g->written % g->count];
    size_t size;

    pthread_mutex_lock(&g->lock);
    while (!b->is_packed)
        pack_or_wait(g);
    pthread_mutex_unlock(&g->lock);
    if (b->failed)
        return false;
    size = g->cut ? 0 : g->hook ? show_member(g, b) : b->size;
    g->written++;
    g->offset += size;
    b->fill = 0;
    b->is_packed = false;
    return !size || bytes_put(g->bytes.next, b->packed, size);
}

static bool end_block(struct bytes_gzip *g)
{
    struct block *b = &g->blocks[g->filled % g->count];

    b->is_first = g->filled == 0;
    pthread_mutex_lock(&g->lock);
    g->filled++;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    start_helper(g);
    return g->filled - g->written < g->count || write_block(g);
}

/* The block that is filled next: end_block() leaves one. */
static struct block *block_to_fill(struct bytes_gzip *g)
{
    return &g->blocks[g->filled % g->count];
}

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct bytes_gzip *g = (struct bytes_gzip *)bytes;
    const uint8_t *p = data;

    while (size && !g->cut) {
        struct block *b = block_to_fill(g);
        size_t n = GZIP_BLOCK - b->fill < size ? GZIP_BLOCK - b->fill : size;

        memcpy(b->bytes + b->fill, p, n);
        b->fill += n;
        p += n;
        size -= n;
        if (b->fill == GZIP_BLOCK && !end_block(g))
            return false;
    }
    return true;
}

static bool finish(struct bytes *bytes)
{
    struct bytes_gzip *g = (struct bytes_gzip *)bytes;
    const void *more = NULL;
    size_t size = 0;

    if (!g->cut && (block_to_fill(g)->fill || !g->filled) && !end_block(g))
        return false;
    while (g->written < g->filled)
        if (!write_block(g))
            return false;
    if (g->hook && g->hook->end)
        size = g->hook->end(g->hook, g->offset, &more);
    return (!size || bytes_put(g->bytes.next, more, size)) && bytes_finish(g->bytes.next);
}

/* ---- Construction ---- */

static bool add_block(struct bytes_gzip *g, int level)
{
    struct block *b = &g->blocks[g->ready];

    *b = (struct block){.header = {.comment = (Bytef *)comment}};
    if (deflateInit2(&b->z, level, Z_DEFLATED, MAX_WBITS + PARTS_OF_GZIP, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    g->ready++;
    g->packed_most = deflateBound(&b->z, GZIP_BLOCK) + sizeof comment;
    b->bytes = malloc(GZIP_BLOCK);
    b->packed = malloc(g->packed_most);
    return b->bytes && b->packed;
}

struct bytes_gzip *bytes_gzip_new(struct bytes *next, int level, struct gzip_hook *hook, unsigned threads)
{
    struct bytes_gzip *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    threads = threads < 1 ? 1 : threads > THREADS_MOST ? THREADS_MOST : threads;
    g->bytes = (struct bytes){.put = put, .finish = finish, .next = next};
    g->hook = hook;
    g->wanted = threads - 1;
    g->count = threads > 1 ? threads + SPARE : 1;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    g->blocks = calloc(g->count, sizeof *g->blocks);
    for (unsigned i = 0; i < g->count; i++)
        if (!g->blocks || !add_block(g, level)) {
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
    end_helpers(g);
    while (g->ready) {
        struct block *b = &g->blocks[--g->ready];

        deflateEnd(&b->z);
        free(b->bytes);
        free(b->packed);
    }
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
    free(g->blocks);
    free(g);
}
