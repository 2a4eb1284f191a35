/* Big-endian reads over one contiguous span of bytes: the only place that touches the bytes of a dump. */
#ifndef HPROF_CURSOR_H
#define HPROF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FROM_BIG_ENDIAN(bits, v) (v)
#else
#define FROM_BIG_ENDIAN(bits, v) __builtin_bswap##bits(v)
#endif

/* The caller ensures that the bytes exist. */
static inline uint8_t get_u1(const uint8_t *p)
{
    return *p;
}

static inline uint16_t get_u2(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return FROM_BIG_ENDIAN(16, v);
}

static inline uint32_t get_u4(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return FROM_BIG_ENDIAN(32, v);
}

static inline uint64_t get_u8(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return FROM_BIG_ENDIAN(64, v);
}

/* An ID takes 4 or 8 bytes. */
static inline uint64_t get_id(const uint8_t *p, unsigned id_size)
{
    return id_size == 8 ? get_u8(p) : get_u4(p);
}

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* Returns the next n bytes and moves past them; NULL, without moving, if fewer are left. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
    const uint8_t *p = c->at;

    if (cursor_left(c) < n)
        return NULL;
    c->at += n;
    return p;
}

#endif
