/* Hashing of 64 bits. */
#ifndef HPROF_CLI_DIFF_MIX_H
#define HPROF_CLI_DIFF_MIX_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

/* In this order: not the same as with a and b exchanged. */
static inline uint64_t mix_two(uint64_t a, uint64_t b)
{
    return mix(a + 0x9e3779b97f4a7c15U + mix(b ^ 0xd1b54a32d192ed03U));
}

/* Of bytes that follow others, whose hash is `h`. */
uint64_t mix_bytes(uint64_t h, const void *bytes, size_t size);

/* A number that no file can know. */
uint64_t draw(void);

#endif
