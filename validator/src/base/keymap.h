/* A map from an ID or a serial to a number: strings, frames, stack traces, threads, classes are known by it.
 *
 * Slots of a key and a value, each in 4 or 8 bytes as the map needs; linear probing, keyed hash, filled to 7/8. It is divided
 * into parts that grow one after the other, so that all of it is never half empty and little is copied at a time: a slot of 8
 * bytes costs about 10 an entry, one of 16 about 21. */
#ifndef HPROF_KEYMAP_H
#define HPROF_KEYMAP_H

#include "base/hash.h"
#include "base/memory.h"

enum { KEYMAP_PARTS = 16 };

struct keymap {
    struct memory *memory;
    struct hash_key hash;
    unsigned key_size, value_size;
    size_t count;
    bool has_zero; /* a slot with key 0 is free: that key has a place of its own */
    uint64_t value_of_zero;
    struct keymap_part {
        uint8_t *slots;
        size_t capacity;
        size_t count;
    } parts[KEYMAP_PARTS];
};

/* Sizes are in bytes: 4 or 8. */
void keymap_init(struct keymap *m, struct memory *memory, const struct hash_key *key, unsigned key_size, unsigned value_size);
void keymap_clear(struct keymap *m);

/* False if the key is not there. `value` may be NULL. */
bool keymap_get(const struct keymap *m, uint64_t key, uint64_t *value);

/* Adds a key, or changes its value. False, and nothing changed, when memory ran out. */
bool keymap_put(struct keymap *m, uint64_t key, uint64_t value);

/* Calls `each` for each key, in no order. */
void keymap_each(const struct keymap *m, void (*each)(void *context, uint64_t key, uint64_t value), void *context);

#endif
