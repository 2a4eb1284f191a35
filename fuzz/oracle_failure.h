/* Which finding is reported where plain reading of a dump fails: SPEC.md M.2. */
#ifndef HPROF_FUZZ_ORACLE_FAILURE_H
#define HPROF_FUZZ_ORACLE_FAILURE_H

#include "oracle.h"
#include "oracle_framing.h"

/* An INSTANCE_DUMP whose class, and all its superclasses, are dumped before it and give it a size other than its own. */
struct doubtful_instance {
    uint64_t at;       /* its tag; 0 if there is no such instance */
    uint64_t by_class; /* the size by its class, from its tag on */
};

/* Where plain reading failed. */
struct failure {
    uint64_t record_at;
    uint64_t empty_at;  /* an empty heap dump record, if it is one of the two records before; else 0 */
    bool first_segment; /* no record before it is a HEAP_DUMP_SEGMENT or HEAP_DUMP_END */
    /* Within a heap dump record whose header can be read; 0 otherwise. */
    uint64_t subrecord_at; /* the first byte that belongs to no complete sub-record */
    struct doubtful_instance before, here;
};

struct oracle_finding finding_of_failure(const struct dump *d, const struct failure *f);

/* Whether the record at `at` may be one of another tag: in 1.0.1, the first HEAP_DUMP_SEGMENT or HEAP_DUMP_END, if it is not
 * even well-formed in 1.0.2. */
bool is_of_no_version(const struct dump *d, uint64_t at, bool first_segment);

#endif
