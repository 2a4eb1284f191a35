#define _DEFAULT_SOURCE
#include "mix.h"

#include <string.h>
#include <time.h>

uint64_t mix_bytes(uint64_t h, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t word;

    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15U;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, at, size);
    return mix(h ^ word ^ (uint64_t)size << 56);
}

uint64_t draw(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return mix_two((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&now);
}
