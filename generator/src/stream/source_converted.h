/* A dump of 1.0.3, Android's version, as one of 1.0.2, which all readers know: `hprof-gen --from FILE --dump-version 1.0.2`. */
#ifndef HPROF_GEN_SOURCE_CONVERTED_H
#define HPROF_GEN_SOURCE_CONVERTED_H

#include "stream/source.h"

/* Gives the events of another source, which it owns from then on. HEAP_DUMP_INFO is left out; a root that 1.0.2 does not have is a
 * ROOT_UNKNOWN, one of a monitor a ROOT_MONITOR_USED, and that of an unreachable object is left out; an array whose elements were
 * not dumped has none. Returns NULL if memory ran out. */
struct source *source_converted_new(struct source *from);

#endif
