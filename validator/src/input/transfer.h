/* What a transfer as text has done to a file, by its first bytes. */
#ifndef HPROF_TRANSFER_H
#define HPROF_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

enum { TRANSFER_SIGHT = 64 << 10 /* bytes in which the header is sought, and that show a change */ };

/* The offset of the first header of a dump, or SIZE_MAX; also if the file is of a kind that holds a dump otherwise. */
size_t transfer_header(const uint8_t *p, size_t n);
/* Whether the bytes begin a gzip file, as it was or as a transfer has left it. */
bool transfer_begins_gzip(const uint8_t *p, size_t n);
/* The offset of a gzip file that only text precedes, or SIZE_MAX. */
size_t transfer_gzip(const uint8_t *p, size_t n);
/* The offset of a dump or a gzip file: 0, or where text before it ends; SIZE_MAX if there is none. */
size_t transfer_start(const uint8_t *p, size_t n);

/* Those that leave no byte from 128 on. */
enum { TRANSFER_WITHOUT_HIGH_BYTES = HPROF_TRANSFER_SEVEN_BIT | HPROF_TRANSFER_ASCII };

/* HPROF_TRANSFER_CRLF, _LATIN1, _SEVEN_BIT and _ASCII: what the bytes look like; and _GZIP if they begin a gzip file that looks
 * so. A dump that was never transferred may look so by chance. */
unsigned transfer_of(const uint8_t *p, size_t n);

/* Whether a byte is 128 or more. */
bool has_high_byte(const uint8_t *p, size_t n);

#endif
