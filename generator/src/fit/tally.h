/* Counts of what occurs: which classes a field names, how far away, how long arrays are. One table for all, because it is not
 * known before which of them are many. */
#ifndef HPROF_GEN_TALLY_H
#define HPROF_GEN_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/keymap.h"

enum tally_kind {
    TALLY_HUB = 0,    /* by slot: a hub that is named, and from which part of the heap */
    TALLY_TARGET = 1, /* by slot: the class that is named */
    TALLY_DISTANCE,   /* by slot: how far it is, as a number of bits with a sign */
    TALLY_DEGREE,     /* by class: how many references name an object, and where it is */
    TALLY_LENGTH,     /* by class: elements of an array */
    TALLY_TEXT,       /* bytes of a UTF8 */
    TALLY_FRAMES,     /* of a stack trace */
    TALLY_METHOD      /* by class: the name of the method of a frame */
};

struct tally {
    struct memory memory;
    struct keymap counts;
    bool no_memory;
};

/* What occurs, and how often. */
struct counted {
    uint64_t key;
    uint64_t count;
};

void tally_init(struct tally *t);
void tally_free(struct tally *t);

/* Once the table is full, lengths that are new are rounded, and other new values are counted by the caller alone: false. */
bool tally_add(struct tally *t, enum tally_kind kind, uint32_t of, uint32_t value, uint64_t count);
/* Forgets the counts of this kind. False without memory. */
bool tally_clear(struct tally *t, enum tally_kind kind);

/* All counts, sorted by kind, `of` and value. NULL without memory; the caller frees it. */
struct counted *tally_sorted(struct tally *t, size_t *count);

static inline enum tally_kind counted_kind(const struct counted *c)
{
    return (enum tally_kind)(c->key >> 61);
}

static inline uint32_t counted_of(const struct counted *c)
{
    return (uint32_t)(c->key >> 32) & ((UINT32_C(1) << 29) - 1);
}

static inline uint32_t counted_value(const struct counted *c)
{
    return (uint32_t)c->key;
}

/* Those of one kind and `of`, within sorted ones. */
struct counted_range {
    const struct counted *at;
    size_t count;
};
struct counted_range counted_find(const struct counted *sorted, size_t count, enum tally_kind kind, uint32_t of);

#endif
