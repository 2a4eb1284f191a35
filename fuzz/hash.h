/* A hash of what is to be compared later: FNV-1a. */
#ifndef HPROF_FUZZ_HASH_H
#define HPROF_FUZZ_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void add_to_hash(uint64_t *hash, const void *bytes, size_t n)
{
    for (const uint8_t *p = bytes; n--; p++)
        *hash = (*hash ^ *p) * UINT64_C(0x100000001b3);
}

/* A text and its NUL; NULL is an empty text. */
static inline void add_text_to_hash(uint64_t *hash, const char *text)
{
    add_to_hash(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

#endif
