/* How much bytes look like a sub-record, by what is known of classes, threads and stack traces. Evidence is counted in bits: what
 * random bytes resemble with a probability of 2^-n counts n bits. */
#ifndef HPROF_EVIDENCE_H
#define HPROF_EVIDENCE_H

#include "state/file.h"

/* How much the sub-record at p, all of whose fixed part is there, says for itself; 0 if it is not plausible. *last is the ID of the
 * last root, or 0. */
unsigned bits_of_subrecord(struct file *file, const uint8_t *p, uint64_t *last);

/* While no class was loaded or dumped, objects say little for themselves. */
bool knows_no_class(const struct file *file);

#endif
