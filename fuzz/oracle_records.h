/* SPEC.md 4: the top-level records other than heap dumps. */
#ifndef HPROF_FUZZ_ORACLE_RECORDS_H
#define HPROF_FUZZ_ORACLE_RECORDS_H

#include "oracle_notes.h"

/* How each record is read, from its body on, whose length is right. */
extern void (*const read_record[256])(struct oracle *o, uint64_t at);

#endif
