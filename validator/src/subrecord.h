/* The framing of sub-records (SPEC.md 6.1): how long the one at hand is. */
#ifndef HPROF_SUBRECORD_H
#define HPROF_SUBRECORD_H

#include "format.h"

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

/* Whether what stands at p may be sub-records, up to the end of a heap dump record `left` bytes on: the first few of those
 * that the n bytes hold have tags and sizes that fit. */
bool plausible_subrecords(const uint8_t *p, size_t n, uint64_t left, unsigned id_size, enum version version);

#endif
