/* What the files of a graph share. */
#ifndef HPROF_GEN_TWIN_GRAPH_PARTS_H
#define HPROF_GEN_TWIN_GRAPH_PARTS_H

#include "stream/random.h"
#include "twin/fenwick.h"
#include "twin/graph.h"

#define NOTHING UINT32_MAX /* no object, no entity, no line */
enum {
    STRETCH = 64,               /* objects of a profile's order that follow each other */
    NEAR_BITS = 6,              /* of near distances */
    NEAR_MOST = 1 << NEAR_BITS, /* objects within a range of near ones, with one to spare */
    NAMED_MOST = 8,             /* near references that name an object */
    PENDING = 8 * NEAR_MOST,
    EXACT_DEGREES = 8, /* in-degrees above are of an octave */
    PLACES = 12,       /* that are looked at for an object of any class */
    REST_TRIES = 4,    /* to draw a class from the rest of targets */
    ONE = 1 << 16,     /* fractions */
    UNSAMPLED = 4,     /* objects that a reference names whose targets are not known, */
    FIRST = 64,        /* among these */
    LENGTH_BITS = 31,
    LENGTH_MOST = 0x7fffffff
};

/* Random numbers, the same in each pass. */
struct draws {
    uint64_t key, count;
};

/* How many objects of a class have so many near references or more. */
struct having {
    uint64_t at_least[NAMED_MOST + 1];
};

struct fixed {
    uint64_t counts[2];    /* instances, arrays */
    uint64_t wanted;       /* references to its objects */
    uint32_t first_member; /* in graph.members */
    uint32_t skew;         /* where in its octave an in-degree is, in ONE */
    uint64_t elements;     /* of all arrays */
    uint64_t longest;      /* array, */
    uint32_t longest_line; /* and its line */
    struct having may_have;
};

/* References are drawn in layers: to near objects at distances that most objects there have, to other near ones, and to far ones. A
 * layer depends on those before it alone, so that a pass can draw all references of an object at once. */
enum { STRONG, WEAK, FAR, LAYERS };

struct layer {
    uint64_t *numbers, *numbers_left; /* shares of the profile's numbers that earlier layers leave; in a pass */
    uint64_t *rest, *rest_left;       /* by class: references from the rest of targets; in a pass */
    struct having *having, *having_now;
    uint8_t *named, *named_now; /* by object: near references */
    struct draws draws;
};

enum { BLOCKS_MOST = 48 };

/* All memory of a graph. */
struct blocks {
    void *at[BLOCKS_MOST];
    unsigned count;
    bool lack; /* memory ran out */
};

/* What java.lang.System.props names, its map, and the table of that; slots are those of the references. NOTHING if it has none. */
struct system_properties {
    uint32_t object, map_slot, map, table_slot, table;
};

struct graph {
    const struct heap_profile *p;
    struct blocks blocks;
    uint64_t key, count;
    struct fixed *fixed;
    struct layer layers[LAYERS];
    uint64_t *slots, *far_slots, *slots_left; /* by slot, two each: not null, null; of the far layer; in a pass */
    uint64_t *there, *there_left;             /* by number of a distance: how often an object is there; in a pass */
    uint32_t *tried, *found;      /* by number of a distance: in a pass, how often an object was sought, and found */
    uint64_t *arrays;             /* by class: in a pass so far */
    uint32_t *entity;             /* by object: 2 * class, and 1 for an array */
    uint32_t *members;            /* objects by class, in their order */
    uint32_t *lengths;            /* of arrays by class, in their order */
    uint32_t *lacks_at_first;     /* by member: far references, */
    uint32_t *lacks;              /* and those that are left in a pass */
    struct fenwick stubs;         /* of members: what they lack */
    struct fenwick rest;          /* of classes: references from the rest of targets that are left */
    struct graph_target *statics; /* by slot */
    struct system_properties properties;
    struct draws draws;
    uint64_t at;               /* the present object plus 1 */
    uint32_t pending[PENDING]; /* near objects that elements of the present array name */
    uint32_t pending_count, pending_next;
};

struct span {
    uint64_t from, to; /* objects, both included */
};

static inline uint64_t draw_below(struct draws *d, uint64_t n)
{
    return n <= 1 ? 0 : below(mix(d->key + ++d->count * 0x9E3779B97F4A7C15U), n);
}

static inline uint64_t share(uint64_t value, uint64_t part, uint64_t whole)
{
    return whole ? (uint64_t)((unsigned __int128)value * part / whole) : 0;
}

static inline unsigned bits_of(uint64_t n)
{
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

static inline int64_t value_at(const struct graph *g, uint32_t number)
{
    return (int64_t)g->p->numbers[number].value;
}

static inline uint64_t members_of(const struct graph *g, uint32_t class)
{
    return g->fixed[class].counts[0] + g->fixed[class].counts[1];
}

/* ---- graph_shares.c: the profile's numbers for so many objects ---- */

void graph_scale(struct graph *g, uint64_t objects);

/* ---- graph_order.c: which object is of which class ---- */

bool graph_lay_out(struct graph *g);

/* ---- graph_near.c: references to near objects ---- */

/* The near object that the slot of the present object names; NOTHING for none. */
uint32_t graph_near_object(struct graph *g, uint32_t slot);
/* Those that the elements of an array name. */
void graph_near_elements(struct graph *g, uint32_t slot, uint64_t length);
void graph_begin_layers(struct graph *g);
void graph_prepare_near(struct graph *g);

/* ---- graph_targets.c: all other references ---- */

bool graph_span(const struct graph *g, uint64_t here, int64_t bits, struct span *out);
/* One of a range of numbers, in proportion to what is left of it, without those that a mask excludes; NOTHING for none. */
uint32_t graph_draw_of(struct graph *g, struct profile_range range, uint64_t excluded);
uint64_t graph_find_object(struct graph *g, const struct profile_slot *s);
struct graph_target graph_a_class(struct graph *g);
void graph_begin_far(struct graph *g);
void graph_prepare_far(struct graph *g);

/* ---- graph_system.c ---- */

void graph_prepare_system(struct graph *g);

#endif
