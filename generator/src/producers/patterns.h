/* How the instances of a class are laid out, made once so that writing them takes no decisions. */
#ifndef HPROF_GEN_PATTERNS_H
#define HPROF_GEN_PATTERNS_H

#include "producers/emitter.h"
#include "stream/encode.h"

/* The pattern of a class with small instances: the words of 8 bytes that hold more than references, each with its random bits
 * and its offset, then the offsets of references. Their numbers change from object to object, which a branch could not predict,
 * so they are processed in fixed steps, mostly one. Entries after the last one write nothing that is used. */
enum {
    WORD = 8,
    STEP = 4,
    PATTERN_BYTES_MOST = 512,
    PATTERN_WORDS_MOST = PATTERN_BYTES_MOST / WORD,
    PATTERN_REFERENCES_MOST = PATTERN_BYTES_MOST / 4,
    NOWHERE = PATTERN_BYTES_MOST + WORD, /* in the buffer */
    PATTERNS_SIZE = 8 << 20,
    PLACES_A_WORD = WORD / sizeof(uint16_t)
};
_Static_assert((int)STEP == (int)PLACES_A_WORD, "a step of places is a word");

static inline size_t in_steps(size_t n)
{
    return (n + STEP - 1) / STEP * STEP;
}

static const uint8_t type_sizes[12] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8};

/* Which bits of a value of each form and type are random. */
static const uint64_t type_masks[3][12] = {
    [VALUE_ANY] = {0, 0, 0, 0, 1, UINT16_MAX, UINT32_MAX, UINT64_MAX, UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX},
    [VALUE_SMALL] = {0, 0, 0, 0, 1, 127, 127, 127, 127, 127, 127, 127}};

static inline uint8_t *put_primitive(uint8_t *p, const struct model_field *f, uint64_t bits)
{
    unsigned size = type_sizes[f->type];

    put_u8(p, (bits & type_masks[f->form][f->type]) << (64 - 8 * size)); /* the buffer goes on after it */
    return p + size;
}

#endif
