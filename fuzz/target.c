/* See target.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "target.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fail_target(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    abort();
}

const uint8_t *copy_to_guard_page(const uint8_t *data, size_t size)
{
    static uint8_t *mapping;
    static size_t capacity;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!mapping || size > capacity) {
        if (mapping)
            munmap(mapping, capacity + page);
        capacity = (size + page) / page * page * 2;
        mapping = mmap(NULL, capacity + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapping == MAP_FAILED || mprotect(mapping + capacity, page, PROT_NONE) != 0)
            fail_target("no guard page for %zu bytes", size);
    }
    if (size)
        memcpy(mapping + capacity - size, data, size);
    return mapping + capacity - size;
}

static uint32_t get_u4(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint32_t drawn_bits(const uint8_t *data, size_t size)
{
    enum { BANNER_MAX = 32, ID_SIZE_AND_HIGH_HALF = 8, GZIP_TIME = 4 };
    const uint8_t *nul = size ? memchr(data, 0, size < BANNER_MAX ? size : BANNER_MAX) : NULL;

    if (size >= GZIP_TIME + 4 && data[0] == 0x1f && data[1] == 0x8b)
        return get_u4(data + GZIP_TIME);
    if (!nul || size - (size_t)(nul + 1 - data) < ID_SIZE_AND_HIGH_HALF + 4)
        return 0;
    return get_u4(nul + 1 + ID_SIZE_AND_HIGH_HALF);
}

uint32_t draw(uint32_t *bits, uint32_t n)
{
    uint32_t drawn = *bits % n;

    *bits /= n;
    return drawn;
}

size_t least_block(const uint8_t *data, size_t size)
{
    enum { GZIP_LEAST = 18, LONG = 1 << 16, MOST_BLOCKS = 256 };
    uint32_t plain_size;

    /* For each block up to 90 KB of the inflater's state are copied. */
    if (size < GZIP_LEAST || data[0] != 0x1f || data[1] != 0x8b)
        return 2;
    data += size - 4;
    plain_size = (uint32_t)data[3] << 24 | (uint32_t)data[2] << 16 | (uint32_t)data[1] << 8 | data[0];
    return plain_size < LONG ? 2 : plain_size / MOST_BLOCKS;
}
