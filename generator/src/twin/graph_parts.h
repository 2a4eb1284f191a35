/* What the files of a graph share. */
#ifndef HPROF_GEN_TWIN_GRAPH_PARTS_H
#define HPROF_GEN_TWIN_GRAPH_PARTS_H

#include "stream/random.h"
#include "twin/fenwick.h"
#include "twin/graph.h"

#define NOTHING UINT32_MAX /* no object, no entity, no line */
enum {
    POOL = 16,          /* objects of a class that are wanted, and may be named again */
    TRIES = 12,         /* to draw a class whose references would find something here */
    PLACES = 6,         /* that are looked at in a range */
    DISTANCES = 64,     /* that are tried for a reference */
    EXACT_DEGREES = 8,  /* in-degrees above are of an octave */
    HUB = 16,           /* references of an object that is sought first, in proportion to what it lacks */
    NEAR = 4,           /* bits of the distances at which an object follows one that it refers to */
    EXCEEDING = 28,     /* one of so many references may name an object that lacks none, */
    EXCEEDING_MANY = 6, /* or so many, if each object is named by */
    MANY = 3,           /* more others than these */
    SPARE = 2,          /* of these, so many more may be wanted than their share of the objects so far */
    BLOCK = 64,         /* objects */
    PROMISES = 3,       /* objects that are wanted because of each other */
    ONE = 1 << 16,      /* fractions */
    UNSAMPLED = 4,      /* objects that a reference names whose targets are not known, */
    FIRST = 64,         /* among these */
    LENGTH_MOST = 0x7fffffff
};

/* What is left of a class in a pass. */
struct left {
    uint64_t free[2];   /* instances and arrays that are neither placed nor wanted */
    uint64_t ahead;     /* references to objects after theirs that are expected */
    uint64_t exceeded;  /* references more than objects were to have */
    uint64_t lacking;   /* references that objects so far lack, */
    uint64_t hubs_lack; /* and those of the hubs among them */
    uint32_t members;   /* placed */
    uint32_t tree;      /* of objects that lack references */
    uint32_t hubs;
    uint32_t pool[POOL], pooled;
};

/* What is the same in each pass. */
struct fixed {
    uint64_t counts[2];
    uint64_t ahead, wanted;
    uint32_t first_member, first_hub, hubs;
    uint32_t skew;         /* where in its octave an in-degree is, in ONE */
    uint64_t elements;     /* of all arrays */
    uint64_t longest;      /* array, */
    uint32_t longest_line; /* and its line */
    bool longest_first;
    uint32_t needs_next; /* the share of its objects that refer to the next object, in ONE */
    uint32_t first_follower, followers;
};

/* Objects of a class that follow those of another, to which they refer. */
struct follower {
    uint32_t class;
    int32_t bits; /* of the distance */
    uint64_t count;
};

struct graph {
    const struct heap_profile *p;
    uint64_t key, draws;
    uint64_t count;
    struct fixed *fixed;
    struct left *left;
    uint64_t *of_numbers, *numbers_left; /* shares of the profile's numbers: of all; in a pass */
    uint64_t *of_slots, *slots_left;     /* likewise, two for each slot: not null, null */
    struct fenwick weights, others;      /* of entities: those to draw from; all that are left */
    uint64_t *weight;                    /* by entity */
    uint32_t *entity;                    /* by object: 2 * class, and 1 for an array */
    uint32_t *lacks;                     /* by object: references */
    uint32_t *next_free;                 /* by object: no object from this one to that one is free */
    uint32_t *members;                   /* objects by class, in their order */
    uint32_t *lower, *higher;            /* by object: its children in the tree of those that lack references */
    uint32_t *hubs;
    struct follower *followers; /* by the class that they follow */
    uint64_t *followers_left;
    uint32_t follower_count;
    struct graph_target *statics; /* by slot */
    uint64_t at;                  /* the present object plus 1 */
};

struct span {
    uint64_t from, to; /* objects, both included */
};

static inline uint64_t draw(struct graph *g)
{
    return mix(g->key + ++g->draws * 0x9E3779B97F4A7C15U);
}

static inline uint64_t draw_below(struct graph *g, uint64_t n)
{
    return n <= 1 ? 0 : below(draw(g), n);
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

static inline bool is_near(int64_t bits)
{
    return bits < 0 && bits >= -NEAR;
}

/* That of a class of which there are objects left, instances first. */
static inline uint32_t entity_of(const struct graph *g, uint32_t class)
{
    return 2 * class + (g->left[class].free[0] == 0);
}

/* ---- graph_shares.c: the profile's numbers for so many objects ---- */

bool graph_prepare(struct graph *g, uint64_t objects);

/* ---- graph_tree.c: objects of a class that lack references ---- */

void tree_add(struct graph *g, uint32_t *tree, uint32_t object);
void tree_remove(struct graph *g, uint32_t *tree, uint32_t object);
uint32_t tree_from(const struct graph *g, uint32_t tree, uint64_t object);   /* the first from this one on; NOTHING for none */
uint32_t tree_before(const struct graph *g, uint32_t tree, uint64_t object); /* the last one before */

/* ---- graph_places.c: which object is of which class ---- */

void graph_weigh(struct graph *g, uint32_t class);
void graph_settle(struct graph *g, uint64_t object, uint32_t entity, bool is_wanted);
uint32_t graph_draw_of(struct graph *g, struct profile_range range, uint64_t excluded);
bool graph_span(const struct graph *g, uint64_t here, int64_t bits, struct span *out);
uint64_t graph_free_from(struct graph *g, uint64_t object);
uint64_t graph_free_place(struct graph *g, uint32_t class, struct span span);
uint64_t graph_want(struct graph *g, uint32_t class, struct span span, unsigned depth);

/* ---- graph_targets.c: what a reference names; NOTHING for none ---- */

uint64_t graph_find_lacking(struct graph *g, uint32_t class, struct span span);
uint64_t graph_find_placed(struct graph *g, uint32_t class, struct span span);
uint64_t graph_find_object(struct graph *g, const struct profile_slot *s);
uint64_t graph_find_anywhere(struct graph *g, const struct profile_slot *s);
void graph_name(struct graph *g, uint64_t object);

#endif
