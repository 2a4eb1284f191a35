/* Which finding is reported where plain reading of a dump fails: RULES.md M.2. */
#ifndef HPROF_FUZZ_ORACLE_FAILURE_H
#define HPROF_FUZZ_ORACLE_FAILURE_H

#include "oracle.h"
#include "oracle_framing.h"

/* An INSTANCE_DUMP whose class, and all its superclasses, are dumped before it and give it a size other than its own. */
struct doubtful_instance {
    uint64_t at;       /* its tag; 0 if there is no such instance */
    uint64_t bytes_at; /* the field with the size of its values */
    uint64_t by_class; /* the size by its class, from its tag on */
};

enum { DOUBTFUL = 8 }; /* sub-records before a failure that recovery may read otherwise */

/* Where plain reading failed. */
struct failure {
    uint64_t record_at;
    uint64_t doubtful_from; /* recovery may go back to here; 0 if it does not go back */
    uint64_t empty_at;      /* the empty heap dump record among the two records before it; 0 if there is none */
    bool first_segment;     /* no record before it is a HEAP_DUMP_SEGMENT or HEAP_DUMP_END */
    /* Set only for a heap dump record with a complete header: */
    uint64_t subrecord_at;                   /* the first byte that belongs to no complete sub-record */
    struct doubtful_instance previous, here; /* the sub-record before that byte, and the one that begins there */
};

/* The finding, and the tag of what is at fault: of the record, the sub-record, or the instance or empty heap dump record before it
 * which led there. */
struct oracle_finding finding_of_failure(const struct dump *d, const struct failure *f, uint64_t *fault_at);

/* Whether, of the records of unknown tag that begin at `at`, one begins as a heap dump record does. */
bool may_be_heap_dump(const struct dump *d, uint64_t at);

/* Whether the record at `at` is the first segment or HEAP_DUMP_END of a 1.0.1 file and would be malformed in 1.0.2, too (M.3). Its
 * tag may be wrong. */
bool is_of_no_version(const struct dump *d, uint64_t at, bool first_segment);

#endif
