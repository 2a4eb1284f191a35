/* The walk: bytes and a position in, the record or sub-record that begins there out. It knows the framing only (SPEC.md 3.2, 6.1):
 * no rule, no ID, no source of the bytes. Loops over many sub-records use measure_object() (subrecord.h), as the walk does. */
#ifndef HPROF_WALK_H
#define HPROF_WALK_H

#include "format/subrecord.h"

/* Bytes of the dump from some offset on. */
struct sight {
    const uint8_t *at;
    size_t size;
    bool ended; /* the dump ends after these bytes */
    unsigned id_size;
    enum version version;
};

/* What is wrong with the frame of an item. Its last bytes need not be in sight. */
enum frame {
    FRAME_RIGHT,     /* nothing: its size is known, and a sub-record ends within its heap dump record */
    FRAME_UNSEEN,    /* its size is not in sight */
    FRAME_TRUNCATED, /* the dump ends before its size is known */
    FRAME_CROSSES, /* a sub-record that ends after its heap dump record; its size is 0 if that record ends before it is known */
    FRAME_TAG,     /* no sub-record of this version has the tag */
    FRAME_TYPE     /* an undefined type at `bad_at`, so the size of the value after it is unknown */
};

struct walk_item {
    uint8_t tag;           /* if there is a byte */
    uint32_t time, length; /* of a record whose header is complete */
    uint64_t head;         /* bytes before the body: the header of a record, as far as it is there; the tag of a sub-record */
    uint64_t size;         /* with the head; 0 while it is unknown */
    uint64_t bad_at;       /* offset from the tag */
    bool in_constant_pool; /* of a CLASS_DUMP: the undefined type is there, not in a static field */
};

static inline bool is_heap_dump_record(unsigned tag)
{
    return tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT;
}

/* The record whose complete header is at p. */
static inline struct walk_item walk_header(const uint8_t *p)
{
    uint32_t length = get_u4(p + RECORD_LENGTH_AT);

    return (struct walk_item){.tag = *p,
                              .time = get_u4(p + RECORD_TIME_AT),
                              .length = length,
                              .head = RECORD_HEADER_SIZE,
                              .size = RECORD_HEADER_SIZE + (uint64_t)length};
}

/* The record at an offset of the sight that is at most its size. Any tag and any length is a frame. */
static inline enum frame walk_record(const struct sight *s, uint64_t at, struct walk_item *item)
{
    if (s->size - at < RECORD_HEADER_SIZE) {
        *item = (struct walk_item){.tag = at < s->size ? s->at[at] : 0, .head = s->size - at};
        return s->ended ? FRAME_TRUNCATED : FRAME_UNSEEN;
    }
    *item = walk_header(s->at + at);
    return FRAME_RIGHT;
}

/* The sub-record at an offset of the sight that is at most its size, in a heap dump record that ends after `left` bytes. */
enum frame walk_subrecord(const struct sight *s, uint64_t at, uint64_t left, struct walk_item *item);

/* Passes the sub-records of the n bytes at p whose sizes are known, up to the first that ends at `wanted` or after it. Returns the
 * bytes that they take; the last one may end after the n bytes, but not after `left`. */
uint64_t walk_over(const uint8_t *p, size_t n, uint64_t wanted, uint64_t left, unsigned id_size, enum version version);

#endif
