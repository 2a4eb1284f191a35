/* A sink that writes nothing and knows how long everything is: lengths come before bodies, so a heap dump record that does
 * not fit the memory is measured first and written in a second run. */
#ifndef HPROF_GEN_SIZER_H
#define HPROF_GEN_SIZER_H

#include "event.h"

/* Heap dump records of up to so many bytes need not be measured. */
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
    uint64_t in_record; /* bytes of the heap dump record at hand */
    struct long_record *longs;
    size_t long_count, long_capacity;
    bool no_memory;
    bool too_long; /* a record's length takes more than 32 bits, and nobody stated what it should say: */
    uint8_t too_long_tag;
    bool open_stated; /* or it wraps, and is to */
    uint8_t open_tag;
};

void sizer_init(struct sizer *sizer);
void sizer_free(struct sizer *sizer);

#endif
