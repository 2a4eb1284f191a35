/* A map from an ID or a serial to a word: strings, frames, stack traces, threads, classes are known by it.
 *
 * Slots of 16 bytes, linear probing, keyed hash, filled to 7/8: 18 to 24 bytes an entry. It is divided into parts that grow one
 * at a time, so that growing never needs much more than what is kept. */
#ifndef HPROF_KEYMAP_H
#define HPROF_KEYMAP_H

#include "hash.h"
#include "memory.h"

enum { KEYMAP_PARTS = 16 };

struct keymap_slot {
    uint64_t key;
    uint64_t value; /* 0: the slot is free */
};

struct keymap {
    struct memory *memory;
    struct hash_key hash;
    size_t count;
    struct keymap_part {
        struct keymap_slot *slots;
        size_t capacity;
        size_t count;
    } parts[KEYMAP_PARTS];
};

void keymap_init(struct keymap *m, struct memory *memory, const struct hash_key *key);
void keymap_clear(struct keymap *m);

/* The value of a key, or NULL. Good until the next keymap_add. */
uint64_t *keymap_find(const struct keymap *m, uint64_t key);

/* The value of a key. For a key that was not there it is 0 and must be set to something else. NULL when memory ran out. */
uint64_t *keymap_add(struct keymap *m, uint64_t key);

#endif
