/* What the files of a twin's source share. */
#ifndef HPROF_GEN_TWIN_PARTS_H
#define HPROF_GEN_TWIN_PARTS_H

#include "stream/encode.h"
#include "stream/random.h"
#include "stream/source.h"
#include "twin/addresses.h"
#include "twin/graph.h"
#include "twin/texts.h"

enum { PIECE = 64 << 10, BLOCK = 2 * PIECE };

struct twin {
    struct source source;
    struct heap_profile p;
    struct graph *graph;
    struct texts texts;
    uint64_t key;
    struct addresses addresses;
    uint32_t first_class;             /* index of the first after those of primitive arrays */
    uint64_t stacks, dummies, frames; /* traces with and without a thread; frames */
    uint64_t threads;                 /* objects of class Thread */
    uint8_t *room;                    /* PIECE, or the longest instance or class, and FIELDS_MOST */
    uint8_t *block;                   /* elements of primitive arrays */
    uint64_t *arrays;                 /* by class: given so far */
    uint64_t strings, utf16;          /* given so far: Strings, those of them that are UTF-16 */
    struct stage *to;
    const bool *stop;
    bool had_frames, had_traces;            /* in this run so far */
    uint64_t given, all, segment, segments; /* sub-records */
};

/* ---- Numbers to IDs and serials ---- */

static inline uint64_t class_id(const struct twin *t, int64_t class)
{
    return class < (int64_t)t->first_class ? 0 : address_of(&t->addresses, (uint64_t)(class - t->first_class));
}

static inline uint64_t object_id(const struct twin *t, uint64_t object)
{
    return address_of(&t->addresses, t->p.class_count - t->first_class + object);
}

static inline uint64_t id_of_target(const struct twin *t, struct graph_target target)
{
    switch (target.kind) {
    case TARGET_OBJECT:
        return object_id(t, target.number);
    case TARGET_CLASS:
        return class_id(t, (int64_t)target.number);
    case TARGET_NULL:
        break;
    }
    return 0;
}

static inline uint64_t any_object(const struct twin *t, uint64_t a, uint64_t b)
{
    uint64_t objects = graph_objects(t->graph);

    return objects ? object_id(t, below(mix_of(t->key, a, b), objects)) : class_id(t, t->first_class);
}

static inline uint32_t class_serial(const struct twin *t, int64_t class)
{
    return (uint32_t)(class - t->first_class) + 1;
}

static inline uint32_t dummy_trace(const struct twin *t)
{
    return t->dummies > 0;
}

static inline uint32_t stack_trace(const struct twin *t, uint64_t stack)
{
    return stack < t->stacks ? (uint32_t)(t->dummies + stack + 1) : dummy_trace(t);
}

/* The n-th value of a range of lines, if each line is repeated as often as its count says. */
static inline uint64_t nth(const struct heap_profile *p, struct profile_range range, uint64_t n)
{
    for (uint32_t i = 0; i < range.count; i++) {
        if (n < p->numbers[range.first + i].count)
            return p->numbers[range.first + i].value;
        n -= p->numbers[range.first + i].count;
    }
    return 0;
}

static inline uint64_t count_of(const struct heap_profile *p, struct profile_range range)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < range.count; i++)
        count += p->numbers[range.first + i].count;
    return count;
}

/* ---- twin_records.c ---- */

void twin_give_texts(struct twin *t);
void twin_give_loads(struct twin *t);
void twin_give_frames(struct twin *t);
void twin_give_dummies(struct twin *t); /* traces without a thread, */
void twin_give_stacks(struct twin *t);  /* and with one */
void twin_give_threads(struct twin *t); /* their starts and ends */
void twin_give_empty(struct twin *t, uint8_t tag);

/* ---- twin_heap.c ---- */

bool twin_is_object(uint8_t tag);
void twin_give_heap(struct twin *t, enum event_kind kind);
void twin_give_subrecords(struct twin *t);

#endif
