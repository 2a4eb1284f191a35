/* Plants the fault of a GZ rule in a gzip file. */
#ifndef HPROF_GEN_GZIP_FAULT_H
#define HPROF_GEN_GZIP_FAULT_H

#include "stream/gzip_hook.h"

struct gzip_fault {
    struct gzip_hook hook;
    int rule;        /* its index */
    uint64_t member; /* in which to break it, from 0 */
    uint64_t offset; /* set when the fault is planted: its offset in the file */
};

void gzip_fault_init(struct gzip_fault *fault, int rule, uint64_t member);

#endif
