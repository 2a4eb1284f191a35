/* Items, their hashes, and sums of hashes: conformance/PROTOCOL.md, section 1.1. */
#ifndef HPROF_GEN_ITEM_H
#define HPROF_GEN_ITEM_H

#include "base/memory.h"
#include "truth/truth.h"

enum { HASH_SIZE = 16, LENGTH_SIZE = 4 /* of a part, before its bytes */ };

struct hash {
    uint8_t bytes[HASH_SIZE];
};

/* The encoding of an item, or a piece of it. If memory runs out, the memory is exhausted and the item is incomplete. */
struct item {
    struct memory *memory;
    uint8_t *bytes;
    size_t size, capacity;
    bool too_long; /* a part has more bytes than its length can state */
};

void item_init(struct item *item, struct memory *memory);
void item_clear(struct item *item);
/* Where `size` more bytes belong; NULL without memory. */
uint8_t *item_extend(struct item *item, size_t size);
void item_put(struct item *item, const void *bytes, size_t size); /* without a length */
void item_length(struct item *item, uint64_t length);             /* of a part whose bytes follow */
void item_part(struct item *item, const void *bytes, size_t size);
void item_word(struct item *item, const char *word);
void item_number(struct item *item, uint64_t number); /* also an ID */
void item_type(struct item *item, uint8_t type);

struct hasher;

/* NULL if memory ran out or libcrypto fails. */
struct hasher *hasher_new(void);
void hasher_free(struct hasher *hasher);
bool hasher_failed(const struct hasher *hasher);

/* The hash of an item in pieces. */
void hasher_begin(struct hasher *hasher);
void hasher_add(struct hasher *hasher, const void *bytes, size_t size);
struct hash hasher_end(struct hasher *hasher);
struct hash hash_item(struct hasher *hasher, const struct item *item);

void digest_add(struct digest *digest, const struct hash *hash);

#endif
