/* The header and the trailer of a gzip member: RFC 1952, 2.3. */
#ifndef HPROF_GZIP_HEADER_H
#define HPROF_GZIP_HEADER_H

#include <stdbool.h>
#include <stdint.h>

enum { DEFLATE_METHOD = 8, FHCRC = 0x02, FEXTRA = 0x04, FNAME = 0x08, FCOMMENT = 0x10, RESERVED_FLAGS = 0xe0 };

enum { GZIP_SIGN = 4 /* bytes: magic, method and flags */ };

/* Whether these bytes may begin a member. */
static inline bool is_gzip_sign(const uint8_t sign[GZIP_SIGN])
{
    return sign[0] == 0x1f && sign[1] == 0x8b && sign[2] == DEFLATE_METHOD && !(sign[3] & RESERVED_FLAGS);
}

enum { TRAILER_SIZE = 8 /* bytes: CRC32 and ISIZE */ };

static inline uint32_t get_u32_little(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#endif
