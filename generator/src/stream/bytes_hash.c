/* See bytes_hash.h. The bytes are copied once, into a ring of blocks. The thread empties it. */
#include "stream/bytes_hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, BLOCK_SIZE = 256 << 10, STACK_SIZE = 256 << 10 /* a hash needs little, and the default is 8 MB */ };

struct bytes_hash {
    struct bytes bytes;
    EVP_MD_CTX *digest;
    uint64_t so_far;
    uint64_t *size;
    uint8_t *sha256;

    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;               /* no more blocks follow */
    bool failed;              /* only the thread uses it, until it has ended */
    unsigned filled, emptied; /* blocks so far */
    size_t sizes[BLOCKS];
    uint8_t *blocks; /* BLOCKS of BLOCK_SIZE */
};

static void *empty_blocks(void *context)
{
    struct bytes_hash *h = context;

    pthread_mutex_lock(&h->lock);
    for (;;) {
        size_t at = h->emptied % BLOCKS;

        while (h->filled == h->emptied && !h->ended)
            pthread_cond_wait(&h->changed, &h->lock);
        if (h->filled == h->emptied)
            break;
        pthread_mutex_unlock(&h->lock);
        h->failed |= EVP_DigestUpdate(h->digest, h->blocks + at * BLOCK_SIZE, h->sizes[at]) != 1;
        pthread_mutex_lock(&h->lock);
        h->emptied++;
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static void end_thread(struct bytes_hash *h)
{
    if (!h->started)
        return;
    pthread_mutex_lock(&h->lock);
    h->ended = true;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    h->started = false;
}

/* Only this thread fills blocks, so it owns the block at `filled` until it counts it. */
static void fill_block(struct bytes_hash *h, const uint8_t *data, size_t size)
{
    size_t at = h->filled % BLOCKS;

    pthread_mutex_lock(&h->lock);
    while (h->filled - h->emptied == BLOCKS)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
    memcpy(h->blocks + at * BLOCK_SIZE, data, size);
    h->sizes[at] = size;
    pthread_mutex_lock(&h->lock);
    h->filled++;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct bytes_hash *h = (struct bytes_hash *)bytes;
    const uint8_t *p = data;

    h->so_far += size;
    for (size_t left = size; left;) {
        size_t n = left < BLOCK_SIZE ? left : BLOCK_SIZE;

        fill_block(h, p, n);
        p += n;
        left -= n;
    }
    return bytes_put(bytes->next, data, size);
}

static bool finish(struct bytes *bytes)
{
    struct bytes_hash *h = (struct bytes_hash *)bytes;

    end_thread(h);
    h->failed |= EVP_DigestFinal_ex(h->digest, h->sha256, NULL) != 1;
    if (h->size)
        *h->size = h->so_far;
    return !h->failed && bytes_finish(bytes->next);
}

static bool start_thread(struct bytes_hash *h)
{
    pthread_attr_t small;

    if (pthread_attr_init(&small) != 0)
        return false;
    pthread_attr_setstacksize(&small, STACK_SIZE);
    h->started = pthread_create(&h->thread, &small, empty_blocks, h) == 0;
    pthread_attr_destroy(&small);
    return h->started;
}

struct bytes_hash *bytes_hash_new(struct bytes *next, uint64_t *size, uint8_t sha256[32])
{
    struct bytes_hash *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->bytes = (struct bytes){.put = put, .finish = finish, .next = next};
    h->size = size;
    h->sha256 = sha256;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    /* Without its context libcrypto would crash. */
    h->digest = OSSL_LIB_CTX_get0_global_default() ? EVP_MD_CTX_new() : NULL;
    h->blocks = malloc((size_t)BLOCKS * BLOCK_SIZE);
    if (!h->digest || !h->blocks || EVP_DigestInit_ex(h->digest, EVP_sha256(), NULL) != 1 || !start_thread(h)) {
        bytes_hash_free(h);
        return NULL;
    }
    return h;
}

struct bytes *bytes_hash_bytes(struct bytes_hash *h)
{
    return &h->bytes;
}

bool bytes_hash_failed(const struct bytes_hash *h)
{
    return h && !h->started && h->failed;
}

void bytes_hash_free(struct bytes_hash *h)
{
    if (!h)
        return;
    end_thread(h);
    EVP_MD_CTX_free(h->digest);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->changed);
    free(h->blocks);
    free(h);
}
