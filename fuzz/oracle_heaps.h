/* The rules on heap dumps: classes, objects, and references among them. */
#ifndef HPROF_FUZZ_ORACLE_HEAPS_H
#define HPROF_FUZZ_ORACLE_HEAPS_H

#include "oracle_notes.h"

/* After check_definitions(). */
void check_heap_dumps(struct oracle *o);

#endif
