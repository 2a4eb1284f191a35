/* Divides a heap dump into stretches of about a MiB, and keeps for each which pages of IDs it defines and references, so that the
 * second look reads only the stretches that may hold an offset it wants. */
#ifndef HPROF_STRETCHES_H
#define HPROF_STRETCHES_H

#include "base/chunks.h"
#include "state/page_filter.h"

struct stretch {
    uint64_t at;         /* of its first sub-record */
    uint64_t record_end; /* of the heap dump record with that sub-record */
    bool has_thread_roots;
    struct page_filter defined, referenced, elements;
};

struct stretches {
    struct chunks list; /* struct stretch */
    uint64_t length;    /* at least, in bytes of the dump */
    uint64_t due;       /* the next stretch begins at the first sub-record from this offset on */
};

void stretches_init(struct stretches *s, struct memory *memory, uint64_t length);
void stretches_clear(struct stretches *s);

/* Begins a stretch at a sub-record; NULL when memory ran out. */
struct stretch *stretches_begin(struct stretches *s, uint64_t at, uint64_t record_end);

/* What a filter holds is referenced somewhere from an offset up to another. */
void stretches_add_referenced(struct stretches *s, uint64_t from, uint64_t to, const struct page_filter *pages);

static inline struct stretch *stretches_at(const struct stretches *s, size_t i)
{
    return chunks_at(&s->list, i);
}

#endif
