/* Bytes that are there twice, one after the other, as a copy leaves them that was resumed at the wrong place, or begun anew after
 * what was there (RULES.md M.2).
 * Reading fails in the second copy, with the item that crosses its beginning; without it nothing is wrong. */
#ifndef HPROF_DOUBLED_H
#define HPROF_DOUBLED_H

#include "engine/go_to_way.h"

/* The second copy: `size` bytes, from `at` or from any later offset up to `last` on. */
struct doubled {
    uint64_t at, last, size;
    uint64_t begin; /* of the whole dump, if a copy of it was begun anew; else 0 */
    uint64_t other; /* nothing is there twice: another dump begins here, before the failure; else 0 */
};

/* Reading failed at an offset: whether that lies in a second copy, or in another dump. The input moves. No byte before an earlier
 * failure is compared again, so that time is linear. */
bool find_doubled(struct engine *e, uint64_t failed_at, struct doubled *d);

/* Whether the dump begins anew, in a file that is not compressed, in the last 64 KiB before an offset, after an earlier failure: a
 * record has taken the header, and perhaps others after it. The input stays where it is. */
bool begins_anew_before(struct engine *e, uint64_t offset);

/* Reading goes on here after a failure: notes whether the bytes here are there twice all the same. The input stays where it is. */
void look_for_doubled(struct engine *e);

/* An item of a kind begins at an offset: passes the second copy, if it begins after that. True if items of this kind lead on from
 * there, of a record that ends at *record_end, which moves with them; the input is there then. Else it is anywhere. */
bool pass_doubled(struct engine *e, const struct doubled *d, uint64_t item, enum way_kind kind, uint64_t *record_end);

#endif
