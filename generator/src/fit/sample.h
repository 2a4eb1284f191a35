/* The sampled objects of a dump: all of them, until the table is full; then those whose ID has a hash that ends with a zero bit,
 * then with two, and so on. The hash is the same in each run, so a dump has one sample. */
#ifndef HPROF_GEN_SAMPLE_H
#define HPROF_GEN_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct sampled {
    uint64_t id; /* 0: a free slot */
    uint64_t position;
    uint64_t class_id; /* the caller turns it into a number, once all classes are known */
    uint32_t class;
    uint32_t references; /* that name it; at most UINT32_MAX */
};

struct sample {
    struct hash_key key; /* of the slots */
    struct sampled *slots;
    uint32_t slot_count, count;
    unsigned shift; /* one of 1 << shift objects is sampled */
};

/* False without memory. */
bool sample_init(struct sample *s);
void sample_free(struct sample *s);
void sample_clear(struct sample *s);

/* Whether the hash of the ID selects it; null is never selected. */
static inline bool sample_selects(const struct sample *s, uint64_t id)
{
    const struct hash_key same_each_time = {UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xD1342543DE82EF95)};

    return id && (hash_u64(&same_each_time, id) & ((UINT64_C(1) << s->shift) - 1)) == 0;
}

/* Adds an object, if it is selected. Of objects with one ID the first counts. False without memory. */
bool sample_add(struct sample *s, uint64_t id, uint64_t position, uint64_t class_id, uint32_t class);
/* NULL if there is none. */
struct sampled *sample_find(const struct sample *s, uint64_t id);

void sample_each(const struct sample *s, void (*each)(void *context, struct sampled *one), void *context);

#endif
