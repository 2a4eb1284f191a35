/* See digest_item.h. */
#include "truth/digest_item.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "stream/encode.h"

struct hasher {
    EVP_MD *sha256; /* fetched once: to fetch it for each item takes longer than to hash one */
    EVP_MD_CTX *context;
    bool failed;
};

/* ---- Items ---- */

void item_init(struct item *item, struct memory *memory)
{
    *item = (struct item){.memory = memory};
}

void item_clear(struct item *item)
{
    memory_put(item->memory, item->bytes, item->capacity);
    item_init(item, item->memory);
}

uint8_t *item_extend(struct item *item, size_t size)
{
    void *bytes = item->bytes;

    if (size > SIZE_MAX - item->size || !memory_grow(item->memory, &bytes, &item->capacity, item->size + size, 1)) {
        memory_exhaust(item->memory);
        return NULL;
    }
    item->bytes = bytes;
    item->size += size;
    return item->bytes + item->size - size;
}

void item_put(struct item *item, const void *bytes, size_t size)
{
    uint8_t *to = size ? item_extend(item, size) : NULL;

    if (to)
        memcpy(to, bytes, size);
}

void item_length(struct item *item, uint64_t length)
{
    uint8_t *to = item_extend(item, LENGTH_SIZE);

    item->too_long |= length > UINT32_MAX;
    if (to)
        put_u4(to, (uint32_t)length);
}

void item_part(struct item *item, const void *bytes, size_t size)
{
    item_length(item, size);
    item_put(item, bytes, size);
}

void item_word(struct item *item, const char *word)
{
    item_part(item, word, strlen(word));
}

void item_number(struct item *item, uint64_t number)
{
    uint8_t bytes[sizeof number];

    put_u8(bytes, number);
    item_part(item, bytes, sizeof bytes);
}

void item_type(struct item *item, uint8_t type)
{
    item_part(item, &type, 1);
}

/* ---- Hashes ---- */

struct hasher *hasher_new(void)
{
    struct hasher *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    /* Without its context libcrypto would crash. */
    if (OSSL_LIB_CTX_get0_global_default()) {
        h->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
        h->context = EVP_MD_CTX_new();
    }
    if (!h->sha256 || !h->context) {
        hasher_free(h);
        return NULL;
    }
    return h;
}

void hasher_free(struct hasher *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->context);
    EVP_MD_free(h->sha256);
    free(h);
}

bool hasher_failed(const struct hasher *h)
{
    return h->failed;
}

void hasher_begin(struct hasher *h)
{
    h->failed |= EVP_DigestInit_ex2(h->context, h->sha256, NULL) != 1;
}

void hasher_add(struct hasher *h, const void *bytes, size_t size)
{
    h->failed |= EVP_DigestUpdate(h->context, bytes, size) != 1;
}

struct hash hasher_end(struct hasher *h)
{
    uint8_t sha256[32] = {0};
    struct hash hash;

    h->failed |= EVP_DigestFinal_ex(h->context, sha256, NULL) != 1;
    memcpy(hash.bytes, sha256, sizeof hash.bytes);
    return hash;
}

struct hash hash_item(struct hasher *h, const struct item *item)
{
    hasher_begin(h);
    hasher_add(h, item->bytes, item->size);
    return hasher_end(h);
}

void digest_add(struct digest *digest, const struct hash *hash)
{
    uint64_t low = get_u8(hash->bytes + 8);

    digest->count++;
    digest->low += low;
    digest->high += get_u8(hash->bytes) + (digest->low < low);
}
