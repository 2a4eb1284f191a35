/* Checks a dump, to learn whether a change has made it better. */
#ifndef HPROF_TRIAL_H
#define HPROF_TRIAL_H

#include "repair/repair.h"

struct trial {
    enum hprof_status status;
    char failure[HPROF_FAILURE_SIZE];
    uint64_t errors;
    uint64_t unchecked; /* bytes */
    uint64_t bytes;     /* of the dump, inflated */
    bool is_compressed;
    uint64_t gzip_faults;
    bool has_header, header_lost, is_part;
    bool has_segments, has_heap_dump, has_heap_info; /* records and sub-records of these tags */
};

struct trial try_dump(struct repair *r, struct input_source source);

#endif
