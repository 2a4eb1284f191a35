/* See hash.h. */
#undef _POSIX_C_SOURCE /* getentropy() came with POSIX.1-2024 */
#define _GNU_SOURCE
#include "base/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "format/cursor.h"

struct hash_key hash_key_draw(void)
{
    struct hash_key key;

    if (getentropy(&key, sizeof key) != 0) {
        /* Only in a system without a source of random numbers: use what differs from run to run. */
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        key.add = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)&key;
        key.multiply = key.add * 0x9E3779B97F4A7C15U;
    }
    key.multiply |= 1;
    return key;
}

struct hash_key hash_key_from(uint64_t seed)
{
    return (struct hash_key){.add = seed * 0x9E3779B97F4A7C15U, .multiply = hash_fold(seed, 0x5851F42D4C957F2DU) | 1};
}

void byte_hash_begin(struct byte_hash *h, const struct hash_key *key)
{
    h->state = key->add;
    h->size = 0;
}

/* The last bytes, fewer than a word, as a number. If there is a whole word before them, one load fetches them. */
static uint64_t rest_of(const uint8_t *p, size_t n, bool after_word)
{
    uint64_t word = 0;

    if (after_word)
        return get_u8(p + n - sizeof word) & ((UINT64_C(1) << 8 * n) - 1);
    for (size_t i = 0; i < n; i++)
        word = word << 8 | p[i];
    return word;
}

void byte_hash_add(struct byte_hash *h, const struct hash_key *key, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t word, state = h->state;
    bool after_word = n >= sizeof word;

    h->size += n;
    for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
        memcpy(&word, p, sizeof word);
        state = hash_fold(state ^ word, key->multiply) + word;
    }
    if (n) {
        word = rest_of(p, n, after_word);
        state = hash_fold(state ^ word, key->multiply) + word;
    }
    h->state = state;
}

uint64_t byte_hash_end(const struct byte_hash *h, const struct hash_key *key)
{
    return hash_u64(key, h->state + h->size * 0x9E3779B97F4A7C15U);
}
