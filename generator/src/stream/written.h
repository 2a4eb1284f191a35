/* What a sink has written. */
#ifndef HPROF_GEN_WRITTEN_H
#define HPROF_GEN_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct written_fault {
    int rule;
    const char *variant; /* of faults.def */
    uint64_t offset;     /* counted like hprof_finding.offset */
};

struct written {
    uint64_t bytes;               /* of the dump, uncompressed */
    struct written_fault *faults; /* in the order of writing */
    size_t fault_count;
};

/* False without memory. */
bool written_add_fault(struct written *written, int rule, const char *variant, uint64_t offset);
void written_clear(struct written *written);

#endif
