/* gzip files for the mutator and for targets, with zlib. */
#ifndef HPROF_FUZZ_GZIP_H
#define HPROF_FUZZ_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dice.h"

enum { GZIP_PLAIN_MAX = 1 << 20 };

static inline bool is_gzip(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* Whether a sector of zeros or more ends a file. Where its last member is not complete, they are not inflated. In a pipe they are,
 * as whether they end it is not known. */
static inline bool ends_in_zeros(const uint8_t *data, size_t size)
{
    const size_t sector = 512;
    size_t zeros = 0;

    while (zeros < size && data[size - 1 - zeros] == 0)
        zeros++;
    return zeros >= sector;
}

/* What the members hold, as far as it can be read. */
size_t unpack_gzip(const uint8_t *data, size_t size, uint8_t *out, size_t max);

/* Makes the checksum or the size of a member wrong, if there is a complete one. Returns `size`. */
size_t damage_gzip_file(uint8_t *file, size_t size, struct dice *dice);

/* Packs into one member or several; returns the size. What does not fit is left out. */
size_t pack_gzip(const uint8_t *data, size_t size, uint8_t *out, size_t max, struct dice *dice);

/* Sets CRC-32 and size of each member right, as far as the data can be inflated. Returns `size`. */
size_t repair_gzip(uint8_t *file, size_t size);

#endif
