/* A heap dump in stretches of about a MiB, each with the pages of IDs that it defines and names: the second look reads only
 * the stretches that may hold what it looks for. Detours are the offsets at which checking did not go on where lengths lead, so
 * the second look reads each stretch as the first did. */
#ifndef HPROF_STRETCHES_H
#define HPROF_STRETCHES_H

#include "bytelog.h"
#include "chunks.h"
#include "page_filter.h"

struct stretch {
    uint64_t at;          /* of its first sub-record */
    uint64_t record_end;  /* of the heap dump record with that sub-record */
    uint64_t next_detour; /* in the log of detours, */
    uint64_t last_from;   /* and `from` of the one before it */
    bool has_thread_roots;
    struct page_filter defined, referenced, elements;
};

/* After the sub-record or record at `from`, of which no more than the fixed part was checked, checking goes on at `to`. */
struct detour {
    uint64_t from, to;
    uint64_t record_end; /* of the heap dump record at `to` */
    bool is_defined;     /* the ID of the sub-record was taken */
};

struct stretches {
    struct chunks list; /* struct stretch */
    struct bytelog detours;
    uint64_t last_from;
    uint64_t due; /* the next stretch begins at the first sub-record from this offset on */
};

void stretches_init(struct stretches *s, struct memory *memory);
void stretches_clear(struct stretches *s);

/* Begins a stretch at a sub-record; NULL when memory ran out. */
struct stretch *stretches_begin(struct stretches *s, uint64_t at, uint64_t record_end);

static inline struct stretch *stretches_at(const struct stretches *s, size_t i)
{
    return chunks_at(&s->list, i);
}

/* Detours come in order of `from`. */
void stretches_note_detour(struct stretches *s, const struct detour *detour);

/* Reads the detours from a stretch on. */
struct detour_reader {
    const struct stretches *stretches;
    uint64_t next;
    struct detour detour; /* `from` is UINT64_MAX after the last */
};
struct detour_reader detours_from(const struct stretches *s, size_t i);
void detour_next(struct detour_reader *r);

#endif
