/* A sink that only measures. A length precedes its body, so a heap dump record that does not fit in memory is measured in one
 * pass and written in another. */
#ifndef HPROF_GEN_SIZER_H
#define HPROF_GEN_SIZER_H

#include "stream/event.h"

/* Heap dump records of up to this many bytes need not be measured. */
enum { RECORD_MOST_BUFFERED = 8 << 20 };

/* A heap dump record that is longer than that. */
struct long_record {
    uint64_t number; /* among the OPENs, from 0 */
    uint64_t length; /* of its body */
};

struct sizer {
    struct stage stage;
    uint64_t bytes; /* of the dump so far */
    uint64_t opened;
    uint64_t in_record; /* bytes of the present heap dump record */
    struct long_record *longs;
    size_t long_count, long_capacity;
    bool no_memory;
    bool too_long; /* a length needs more than 32 bits, and no event states what to write: */
    uint8_t too_long_tag;
    bool open_stated; /* or it wraps, which is intended */
    uint8_t open_tag;
};

void sizer_init(struct sizer *sizer);
void sizer_free(struct sizer *sizer);

#endif
