/* SPEC.md 3 and 5: a dump is read from its header to its end, or to where plain reading fails. */
#ifndef HPROF_FUZZ_ORACLE_READ_H
#define HPROF_FUZZ_ORACLE_READ_H

#include "oracle_notes.h"

/* Fills the rest of *d, which is that of *o, and notes all that the dump has. */
void read_dump(struct oracle *o, struct dump *d);

#endif
