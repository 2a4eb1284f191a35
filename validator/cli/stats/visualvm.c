/* How large a Java heap VisualVM's heap library needs to open a dump. The library maps the file and keeps its index of objects in
 * another one, so that only classes and roots are in the Java heap. The constants are fitted to the smallest -Xmx that opens dumps:
 * the manual page of hprof-validate says which. */
#include "stats.h"

enum { HEAP_OF_LIBRARY = 5300000, HEAP_OF_CLASS = 130, HEAP_OF_ROOT = 93, MEGABYTE = 1000000 };

uint64_t stats_visualvm_heap(const struct stats *stats)
{
    uint64_t bytes = HEAP_OF_LIBRARY + HEAP_OF_CLASS * stats_classes(stats) + HEAP_OF_ROOT * stats_roots(stats);

    /* It refuses most dumps with errors, and finds no heap where there are no objects. */
    return stats->summary.status == HPROF_VALID && stats_objects(stats) > 0 ? (bytes + MEGABYTE / 2) / MEGABYTE : 0;
}
