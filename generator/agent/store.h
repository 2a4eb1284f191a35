/* Memory of the agent: records that never move, a hash table of their numbers, growing arrays and buffers. Number 0 means none. */
#ifndef AGENT_STORE_H
#define AGENT_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_CHUNKS = 22, STORE_FIRST = 1024 };

/* Readers need no lock: a record stays where it is, and is counted once it is whole. Who adds one holds the lock of its owner. */
struct store {
    size_t size; /* of a record */
    _Atomic(char *) chunks[STORE_CHUNKS];
    _Atomic uint32_t count; /* the highest number */
};

/* The next record, a copy of this one; its number, or 0 if there is no memory. */
uint32_t store_add(struct store *store, const void *record);
void *store_at(const struct store *store, uint32_t number);

struct map_table;

/* Readers need no lock here, either: who does not find a number that is being added looks again under the lock of its owner. */
struct map {
    _Atomic(struct map_table *) table;
    size_t used;
};

typedef bool map_equal(uint32_t number, const void *key);

uint32_t map_find(const struct map *map, uint64_t hash, map_equal *equal, const void *key);
bool map_add(struct map *map, uint64_t hash, uint32_t number);
void map_free(struct map *map);

/* Differs in each run, so that nobody can choose names that collide. */
void hash_start(void);
uint64_t hash_number(uint64_t state, uint64_t number);
uint64_t hash_bytes(const void *bytes, size_t size);

/* The array, perhaps moved, with room for more than `count` elements of `size` bytes; NULL and no change without memory. */
void *array_with_room(void *array, size_t count, size_t *room, size_t size);

struct buffer {
    uint8_t *data;
    size_t size, room;
    bool has_failed; /* a part is missing: there was no memory for it */
};

/* `more` bytes at the end, not initialized; NULL if there is no memory. */
uint8_t *buffer_extend(struct buffer *buffer, size_t more);

/* Big-endian, as the format has numbers. */
void buffer_put(struct buffer *buffer, uint64_t value, unsigned size);
void buffer_put_most(struct buffer *buffer, uint64_t value); /* in 4 bytes, or the largest number that they hold */
void buffer_put_float(struct buffer *buffer, double value);
void buffer_put_bytes(struct buffer *buffer, const void *bytes, size_t size);

/* One bit for each number. */
struct bits {
    uint64_t *words;
    size_t room; /* words */
};

/* Sets the bit; whether it was set before. Without memory the answer is true. */
bool bits_set(struct bits *bits, uint64_t number);
bool bits_has(const struct bits *bits, uint64_t number);
void bits_free(struct bits *bits);

#endif
