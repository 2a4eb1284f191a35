/* Hashes with a key that is drawn at start, so that nobody can write a dump whose IDs or strings collide. */
#ifndef HPROF_HASH_H
#define HPROF_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t add;      /* any */
    uint64_t multiply; /* odd */
};

/* Draws a key from the system. */
struct hash_key hash_key_draw(void);

/* Two rounds of multiply and shift: every bit of the result depends on every bit of v and of the key. */
static inline uint64_t hash_u64(const struct hash_key *key, uint64_t v)
{
    v = (v ^ key->add) * key->multiply;
    v ^= v >> 32;
    v *= key->multiply ^ 0x5851F42D4C957F2CU;
    return v ^ v >> 29;
}

/* A hash of bytes that come in pieces. All pieces but the last are multiples of 8 bytes; the result depends on the bytes
 * and their number alone. */
struct byte_hash {
    uint64_t state;
    uint64_t size;
};

void byte_hash_begin(struct byte_hash *h, const struct hash_key *key);
void byte_hash_add(struct byte_hash *h, const struct hash_key *key, const void *bytes, size_t n);
uint64_t byte_hash_end(const struct byte_hash *h, const struct hash_key *key);

#endif
