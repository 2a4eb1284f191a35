/* What only recovery can find out (RULES.md M.2): items whose length may be wrong though plain reading goes on. */
#ifndef HPROF_FUZZ_ORACLE_DOUBT_H
#define HPROF_FUZZ_ORACLE_DOUBT_H

#include "oracle_failure.h"
#include "oracle_notes.h"

/* From here on, recovery may read otherwise. */
void doubt(struct oracle *o, uint64_t at);

/* M.2: an INSTANCE_DUMP may be to blame for a failure if its class gives it another size. */
struct doubtful_instance doubt_instance(const struct oracle *o, uint64_t tag_at, uint64_t limit);

/* M.2: whether an instance is longer than its class says, and sub-records follow that size up to its end or beyond. Then recovery
 * decides whether its length is believed; it is wrong in any case. */
bool may_be_overlong(const struct oracle *o, uint64_t tag_at, uint64_t size, uint64_t limit);

/* M.2: an instance of more than 1,024 bytes, before its class or one of its superclasses, is wrong if recovery finds the way within
 * it; so is one that is longer than its class says. */
void doubt_long_instance(struct oracle *o, uint64_t tag_at);

/* M.2: an object array whose elements begin with what no ID does, or with the tag of an object, may take other sub-records for its
 * elements. */
void doubt_elements(struct oracle *o, uint64_t tag_at, uint64_t size);

/* M.2: other items may be sought within a long record whose length no count confirms, unless the whole dump is short. A long string
 * that begins with the tag of a sub-record may be a heap dump record. A string that is not UTF-8, or a record of unknown tag
 * or wrong length, may be too long if other items begin within it. */
void doubt_long_record(struct oracle *o, uint64_t at);

#endif
