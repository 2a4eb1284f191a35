/* Objects that are counted by class while they are checked, so that whoever reads the dump again need not read each of them. A run
 * is some that follow each other. What is counted depends on the bytes of the run alone, not on what the check makes of them. */
#ifndef HPROF_COUNTED_H
#define HPROF_COUNTED_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "format/format.h"
#include "format/native.h"
#include "hprof/read.h"

struct counted_run {
    struct counted_run *next;
    struct hprof_counted counted;
    size_t capacity;
    struct hprof_class_count classes[];
};

enum {
    COUNTED_SLOTS_BITS = USUAL_OR_SMALL(11, 4),
    COUNTED_CLASSES = 1 << (COUNTED_SLOTS_BITS - 1),
    COUNTED_PROBES = 16,
    PRIMITIVE_TYPES = 12
};

/* Each thread has its own. */
struct counted {
    struct memory *memory;
    uint64_t within; /* objects of one run begin between two multiples of this, a power of two */
    uint64_t least;  /* bytes of a run: fewer are read as fast as they are passed */
    uint64_t multiply;
    unsigned id_size;
    struct counted_run *first, **sorted;
    size_t count;    /* runs */
    size_t capacity; /* of `sorted` */
    /* The present run: */
    struct hprof_counted run;
    uint64_t cut;                                        /* its last object is the one that ends here or later */
    uint64_t end;                                        /* of its last object, outside of loops */
    struct hprof_class_count primitive[PRIMITIVE_TYPES]; /* arrays by type */
    struct hprof_class_count classes[COUNTED_CLASSES];   /* of instances and object arrays; the first is for none */
    uint16_t
        slots[1 << COUNTED_SLOTS_BITS]; /* by the bytes of the class ID in the dump: an index of `classes`; 0 is for none */
};

void counted_init(struct counted *c, struct memory *memory, const struct hash_key *key, uint64_t within, uint64_t least);
void counted_clear(struct counted *c);

/* Ends the present run at `end`, and begins one at an offset. */
void counted_begin(struct counted *c, uint64_t offset);

/* Called before objects that begin at an offset, and after them. */
static inline void counted_from(struct counted *c, uint64_t offset, unsigned id_size)
{
    c->id_size = id_size;
    if (offset != c->end)
        counted_begin(c, offset);
}
static inline void counted_until(struct counted *c, uint64_t offset)
{
    c->end = offset;
}

/* An object that ends at an offset was the last one of its run. */
void counted_end_run(struct counted *c, uint64_t offset, uint8_t tag);

/* Where the present run counts a class, which begins a run if this one has no room for another class. `offset` is where the run
 * would end. */
uint16_t counted_index(struct counted *c, uint64_t raw_id, uint8_t tag, uint64_t offset);

/* The instance or array at p, with its tag, which follows the last one. Its head is complete. Inline, because it is part of the
 * hottest loop, which passes a constant as the tag. `found` is where an object of its class was counted last. */
static inline __attribute__((always_inline)) void counted_object(struct counted *c, uint8_t tag, const uint8_t *p,
                                                                 uint64_t offset, uint64_t size, const unsigned id_size,
                                                                 uint16_t *found)
{
    uint64_t id = get_id(p + 1, id_size);
    struct hprof_class_count *class;

    if (tag == SUB_PRIMITIVE_ARRAY_DUMP) {
        class = &c->primitive[p[1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, type, id_size)]];
    } else {
        size_t at = 1 + (tag == SUB_INSTANCE_DUMP ? OFFSET_OF(INSTANCE_DUMP, class_id, id_size)
                                                  : OFFSET_OF(OBJECT_ARRAY_DUMP, class_id, id_size));
        uint64_t raw_id = native_load(p + at, id_size);

        class = &c->classes[*found];
        if (__builtin_expect(class->class_id != raw_id || class->tag != tag, 0)) {
            *found = counted_index(c, raw_id, tag, offset);
            class = &c->classes[*found];
        }
    }
    class->number++;
    class->size += size;
    if (id < c->run.low_id)
        c->run.low_id = id;
    if (id > c->run.high_id)
        c->run.high_id = id;
    if (__builtin_expect(offset + size >= c->cut, 0))
        counted_end_run(c, offset + size, tag);
}

/* The runs of another thread, which has ended, are added. */
void counted_take(struct counted *c, struct counted *from);

/* No more objects come: the runs are sorted, and one that goes on in another is made whole. Some may overlap: what was read twice
 * was counted twice. */
void counted_end(struct counted *c);
/* Then: the run that begins at an offset; NULL if none does. */
const struct hprof_counted *counted_at(const struct counted *c, uint64_t offset);

#endif
