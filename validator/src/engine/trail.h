/* What was read before a failure: a sub-record may have been too long, or none. */
#ifndef HPROF_TRAIL_H
#define HPROF_TRAIL_H

#include "engine/doubled.h"

/* Whether a sub-record before the failure was too long: others begin within it, and lead past the failure. Then the input is at the
 * first of them. *from, the failure, becomes where that sub-record begins, or a row of roots before it that cannot be there: from
 * there on all is left out. Else WAY_NONE, and the input is anywhere. */
enum way_kind go_back_to_way(struct engine *e, uint64_t failed_at, uint64_t *record_end, uint64_t *from);

/* Whether an instance is here that is as long as its class says, or as two others of the class. Its fixed part is in the window. */
bool has_size_of_class(struct engine *e);

/* What was read from an offset up to the failure is left out after all: what it defined, sub-records before another offset define.
 * True if the heap dump begins again for that; reading stops then. */
bool leave_out_items(struct engine *e, uint64_t first, uint64_t failed_at, uint64_t until);
/* Such a sub-record does not count. */
void discard_subrecord(struct engine *e, uint8_t tag);

/* Whether an offset lies in bytes that are there twice: the failure, or what begins in the sub-record that failed. Then the input
 * is where the second copy is passed; *from becomes the first sub-record that is left out with it, and *record_end moves. Or, with
 * WAY_RECORD, another dump begins there, before the failure. Else WAY_NONE, and the input is anywhere. */
enum way_kind pass_doubled_subrecords(struct engine *e, uint64_t at, uint64_t failed_at, uint64_t *record_end, uint64_t *from);

/* Goes on to the way, from the failure on, where the input is. What is before the failure is left out, from *from on, in three
 * cases. Roots that cannot be there. An instance in which bytes are missing, so that it took the first bytes of the next sub-record
 * for its own: sub-records begin within it that lead exactly to the way. Then the input is at the first of them. Or, before these
 * roots or the failure, an object of no known class: its header is damaged. */
enum way_kind go_on_to_way(struct engine *e, uint64_t failed_at, uint64_t *record_end, uint64_t *from);

#endif
