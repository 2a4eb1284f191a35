/* The framing of sub-records (SPEC.md 6.1): how long the one at hand is. */
#ifndef HPROF_SUBRECORD_H
#define HPROF_SUBRECORD_H

#include "format/format.h"

enum measured {
    MEASURED,     /* size is known */
    MEASURE_MORE, /* not with so few bytes */
    MEASURE_TAG,  /* no sub-record begins with this byte */
    MEASURE_TYPE  /* a type that is none stands `bad_at` bytes in: nobody knows where the value behind it ends */
};

struct measure {
    uint64_t size; /* with the tag */
    uint64_t bad_at;
    bool in_constant_pool; /* of a CLASS_DUMP: else the bad type is that of a static field */
};

/* Measures the sub-record at p, of which n bytes are there. */
enum measured measure_subrecord(const uint8_t *p, size_t n, unsigned id_size, enum version version, struct measure *m);

/* A constant or a static field of a CLASS_DUMP that was measured: all its bytes are there. */
struct entry {
    const uint8_t *head, *value;
    unsigned type;
};

/* Reads the u2 that counts entries or instance fields, and goes after it. */
static inline uint16_t read_count(const uint8_t **p)
{
    *p += 2;
    return get_u2(*p - 2);
}

/* Reads an entry with a head of so many bytes, the last of which is the type, and goes after it. */
static inline void read_entry(const uint8_t **p, size_t head, unsigned id_size, struct entry *e)
{
    *e = (struct entry){.head = *p, .value = *p + head, .type = get_u1(*p + head - 1)};
    *p += head + type_size(e->type, id_size);
}

/* Whether what stands at p may be sub-records, up to the end of a heap dump record `left` bytes on: the first few of those
 * that the n bytes hold have tags and sizes that fit. */
bool plausible_subrecords(const uint8_t *p, size_t n, uint64_t left, unsigned id_size, enum version version);

#endif
