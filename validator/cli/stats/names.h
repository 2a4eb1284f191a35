/* The names of threads, which HotSpot has only in the heap: the thread object refers to a String, and that to an array. Each of the
 * three is sought only in stretches of the dump whose range of IDs has it. */
#ifndef HPROF_CLI_STATS_NAMES_H
#define HPROF_CLI_STATS_NAMES_H

#include "stats.h"

/* While the dump is read, of each sub-record. */
void names_see_object(struct stats *stats, const struct hprof_item *item);
void names_see_objects(struct stats *stats, const struct hprof_item *item, const struct hprof_counted *counted);

/* Names the threads that have an object and no name yet. */
enum hprof_status names_find(struct stats *stats, struct hprof_reader *reader);

#endif
