/* SPEC.md 6: the sub-records of a heap dump. */
#ifndef HPROF_FUZZ_ORACLE_SUBRECORDS_H
#define HPROF_FUZZ_ORACLE_SUBRECORDS_H

#include "oracle_notes.h"

/* How each sub-record is read, from its fields on; all of its bytes are there. */
extern void (*const read_subrecord[256])(struct oracle *o, uint64_t at);

#endif
