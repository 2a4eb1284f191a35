/* A cell of a heap: so many objects, of the kinds of mixed.def as often as it says, that name each other as it says. The heap is
 * this cell again and again, but for lengths of arrays, values, references to other cells, and what the rare classes are.
 *
 * A cell grows from its first object, the spine, an Object[] whose first element is the spine of the next cell: a new object is
 * named by a reference of an older one. So all of the heap is reachable, also where the last cell is cut short. */
#ifndef HPROF_GEN_PATTERN_H
#define HPROF_GEN_PATTERN_H

#include "mixed.h"

/* A reference: an object of the cell, and above that where it leads: to the same cell, to any, to the first one; or it is null. */
enum { EDGE_SLOT_BITS = 28, EDGE_SLOT = (1 << EDGE_SLOT_BITS) - 1 };
enum edge_mode { EDGE_NEAR, EDGE_FAR = 1, EDGE_HOME = 2, EDGE_TO_NULL = 4, EDGE_MODES };
#define EDGE_NULL ((uint32_t)EDGE_TO_NULL << EDGE_SLOT_BITS) /* of object 0, so that its ID is 0 without a question */

struct pattern_object {
    uint32_t edges; /* the first */
    uint32_t class;
    uint32_t rank; /* among those of its kind; of the spine: its elements */
    uint8_t form;  /* enum mixed_form */
    uint8_t type;
    uint8_t kind;
    bool leads_far; /* an instance: a reference leads to another cell */
};

_Static_assert(KINDS <= UINT8_MAX, "a kind fits a byte");

struct pattern_array {
    struct lengths lengths;
    const struct mixed_row *elements;
    uint32_t edges;   /* so many elements, the first ones, are edges; the others are drawn */
    uint32_t nonnull; /* 2^16ths of those drawn */
};

struct pattern_kind {
    uint32_t count, first; /* in `members` */
    uint16_t array;
};

struct pattern {
    unsigned shift;
    uint64_t mask;
    struct pattern_kind kinds[KINDS];
    struct pattern_array arrays[MIXED_ARRAYS];
    uint32_t orphans; /* objects that no older one names */
    struct pattern_object *objects;
    uint32_t *edges;   /* there is room after the last for a step of MODEL_IDS_STEP */
    uint32_t *members; /* the objects of each kind */
};

/* A cell of 1 << shift objects, in the shape's memory. NULL without memory. */
struct pattern *pattern_new(struct model *m, unsigned shift, const struct mixed_kind_row kinds[KINDS],
                            const struct pattern_array arrays[MIXED_ARRAYS]);

#endif
