/* Finds the heap dump record that contains an offset, for the paths of findings at the end. A record takes about 3 bytes. */
#ifndef HPROF_HEAP_INDEX_H
#define HPROF_HEAP_INDEX_H

#include "base/byte_log.h"

struct heap_index {
    struct byte_log starts; /* differences of offsets, doubled, plus 1 for a HEAP_DUMP_SEGMENT */
    uint64_t last;
    uint64_t records, segments;
    struct heap_mark *marks; /* one before every MARK_STEP records */
    size_t mark_count, mark_capacity;
};

void heap_index_init(struct heap_index *index, struct memory *memory);
void heap_index_clear(struct heap_index *index);

/* Adds a record that begins after all others. */
void heap_index_add(struct heap_index *index, uint64_t at, bool is_segment);

/* The number, among the records of its tag, of the last record whose body begins at or before an offset; 0 if there is
 * none. */
uint64_t heap_index_find(const struct heap_index *index, uint64_t offset, bool *is_segment);

#endif
