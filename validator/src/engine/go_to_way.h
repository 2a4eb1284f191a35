/* After a failure: moves the input to where the way is (way.h). */
#ifndef HPROF_GO_TO_WAY_H
#define HPROF_GO_TO_WAY_H

#include "engine/engine.h"
#include "engine/way.h"

enum { WAY_STEP = WAY_SIGHT / 2 }; /* what is searched before the sight moves: as much again is in sight after it */

/* All that recovery sees from here on. */
struct sight look_far(struct engine *e);
/* Sub-records and records that lead on, where nothing more is known of what is sought. */
struct search search_in(struct engine *e, const struct sight *s, uint64_t end);

/* Whether the heap dump record seems to end where its length says, as far as that is in sight. */
bool end_is_credible(const struct sight *s, uint64_t end);

/* Goes to an offset before or after the present one. */
bool go_to(struct engine *e, uint64_t offset);
/* Looks from here on, and moves to the way. *record_end is that of the heap dump record, or UINT64_MAX; it becomes UINT64_MAX
 * where it is not credible. `until` is where the search ends; a chain must lead past `past`, or
 * out of sight. */
enum way_kind go_to_way(struct engine *e, uint64_t *record_end, uint64_t until, uint64_t past);

/* Whether records lead on from here, and sub-records do not: some tags are of both. */
bool records_begin_here(struct engine *e);
/* Whether sub-records lead on from here, whatever record they belong to. */
bool subrecords_begin_here(struct engine *e);
/* Whether the next search, at an offset, may look over so many bytes that others look over, too. All together, *looked, they are a
 * few times those of the dump so far: so time is linear. */
bool may_look_again(uint64_t *looked, uint64_t offset, uint64_t bytes);

#endif
