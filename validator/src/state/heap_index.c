/* See heap_index.h. */
#include "state/heap_index.h"

#include "base/search.h"
#include "format/format.h"

enum { MARK_STEP = 64 }; /* records */

/* A record, and the counts before it. */
struct heap_mark {
    uint64_t at;
    uint64_t segments;
    uint64_t next; /* in `starts`: this record */
};

void heap_index_init(struct heap_index *index, struct memory *memory)
{
    *index = (struct heap_index){0};
    byte_log_init(&index->starts, memory);
}

void heap_index_clear(struct heap_index *index)
{
    memory_put(index->starts.memory, index->marks, index->mark_capacity * sizeof *index->marks);
    byte_log_clear(&index->starts);
}

void heap_index_add(struct heap_index *index, uint64_t at, bool is_segment)
{
    struct memory *memory = index->starts.memory;
    struct heap_mark mark = {at, index->segments, index->starts.size};
    void *marks = index->marks;

    if (index->records && at <= index->last)
        return; /* the heap dump is being read again */
    if (memory->exhausted || !byte_log_append_number(&index->starts, (at - index->last) << 1 | is_segment))
        return;
    if (index->records % MARK_STEP == 0) {
        if (!memory_grow(memory, &marks, &index->mark_capacity, index->mark_count + 1, sizeof mark))
            return;
        index->marks = marks;
        index->marks[index->mark_count++] = mark;
    }
    index->last = at;
    index->records++;
    index->segments += is_segment;
}

uint64_t heap_index_find(const struct heap_index *index, uint64_t offset, bool *is_segment)
{
    uint64_t latest = offset > RECORD_HEADER_SIZE ? offset - RECORD_HEADER_SIZE : 0;
    size_t marks = count_up_to(index->marks, index->mark_count, sizeof *index->marks, offsetof(struct heap_mark, at), latest);
    uint64_t record, segments, next, at, number;

    *is_segment = false;
    if (!marks)
        return 0;
    record = (uint64_t)(marks - 1) * MARK_STEP + 1;
    next = index->marks[marks - 1].next;
    at = index->marks[marks - 1].at;
    number = byte_log_read_number(&index->starts, &next);
    segments = index->marks[marks - 1].segments + (number & 1);
    *is_segment = number & 1;
    for (; record < index->records; record++) {
        number = byte_log_read_number(&index->starts, &next);
        at += number >> 1;
        if (at > latest)
            break;
        segments += number & 1;
        *is_segment = number & 1;
    }
    return *is_segment ? segments : record - segments;
}
