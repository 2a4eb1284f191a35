/* Hashes with a random key, so that nobody can write a dump whose IDs or strings collide. */
#ifndef HPROF_HASH_H
#define HPROF_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t add;      /* any */
    uint64_t multiply; /* odd */
};

/* A random key from the system. */
struct hash_key hash_key_draw(void);
/* For tests: the same key for the same seed. */
struct hash_key hash_key_from(uint64_t seed);

/* Two rounds of multiply and shift: every bit of the result depends on every bit of v and of the key. */
static inline uint64_t hash_u64(const struct hash_key *key, uint64_t v)
{
    v = (v ^ key->add) * key->multiply;
    v ^= v >> 32;
    v *= key->multiply ^ 0x5851F42D4C957F2CU;
    return v ^ v >> 29;
}

/* The product of 128 bits, its halves XORed; for compilers without 128-bit integers. */
static inline uint64_t hash_fold_by_halves(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32), other = a_low * b_high + (uint32_t)middle;

    return (other << 32 | (uint32_t)low) ^ (a_high * b_high + (middle >> 32) + (other >> 32));
}

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    return hash_fold_by_halves(a, b);
#endif
}

/* A hash of bytes that are added in pieces. Each piece except the last is a multiple of 8 bytes; the result does not depend on
 * how the bytes were split. */
struct byte_hash {
    uint64_t state;
    uint64_t size;
};

void byte_hash_begin(struct byte_hash *h, const struct hash_key *key);
void byte_hash_add(struct byte_hash *h, const struct hash_key *key, const void *bytes, size_t n);
uint64_t byte_hash_end(const struct byte_hash *h, const struct hash_key *key);

#endif
