/* SHA-256 of the bytes that pass, computed in a second thread while the first one makes and writes them. */
#ifndef HPROF_GEN_BYTES_HASH_H
#define HPROF_GEN_BYTES_HASH_H

#include "stream/bytes.h"

struct bytes_hash;

/* Fills `sha256`, and `size` unless it is NULL, after the last byte. Returns NULL without memory or threads. */
struct bytes_hash *bytes_hash_new(struct bytes *next, uint64_t *size, uint8_t sha256[32]);
struct bytes *bytes_hash_bytes(struct bytes_hash *hash);
/* finish() or put() failed, and `next` did not. False for NULL. */
bool bytes_hash_failed(const struct bytes_hash *h);
void bytes_hash_free(struct bytes_hash *hash);

#endif
