/* A map from an ID or a serial to a number, for strings, frames, stack traces, threads and classes.
 *
 * Slots have a key and a value, each in 4 or 8 bytes; linear probing, keyed hash, at most 3/4 full. The map is divided into
 * parts that grow one after the other, so that a large map is never half empty and copies little at a time: an entry takes about
 * 12 bytes with slots of 8 bytes, and 24 with slots of 16. Parts are few, so that those of a large map fill huge pages. */
#ifndef HPROF_KEYMAP_H
#define HPROF_KEYMAP_H

#include "base/hash.h"
#include "base/memory.h"

enum { KEYMAP_PARTS = 4 };

struct keymap {
    struct memory *memory;
    struct hash_key hash;
    unsigned key_size, value_size;
    size_t count;
    unsigned moves; /* counts how often slots moved */
    bool has_zero;  /* key 0 marks a free slot, so the value of that key is kept here */
    uint8_t value_of_zero[sizeof(uint64_t)];
    struct keymap_part {
        uint8_t *slots;
        size_t capacity;
        size_t count;
    } parts[KEYMAP_PARTS];
};

/* Sizes are in bytes: 4 or 8. */
void keymap_init(struct keymap *m, struct memory *memory, const struct hash_key *key, unsigned key_size, unsigned value_size);
void keymap_clear(struct keymap *m);

/* False if the map lacks the key. `value` may be NULL. */
bool keymap_get(const struct keymap *m, uint64_t key, uint64_t *value);

/* Adds a key, or changes its value. If memory runs out, returns false and changes nothing. */
bool keymap_put(struct keymap *m, uint64_t key, uint64_t value);

/* Adds a key if the map lacks it. If it was there, returns false and gives its value, which stays. If memory runs out, returns true
 * and changes nothing. */
bool keymap_add(struct keymap *m, uint64_t key, uint64_t value, uint64_t *earlier);

/* Where the value of a key is, to be read and changed (native.h) until `moves` changes; 0 if the map lacked the
 * key. NULL if memory runs out. */
uint8_t *keymap_claim(struct keymap *m, uint64_t key);

/* Calls `each` for each key, in no particular order. */
void keymap_each(const struct keymap *m, void (*each)(void *context, uint64_t key, uint64_t value), void *context);

#endif
