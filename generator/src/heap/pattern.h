/* A cell is a part of a heap: objects of the kinds of a heap_data, with its shares, that refer to each other as its rows say.
 * The heap repeats one cell. Only lengths of arrays, values, references to other cells, and the choice of rare classes differ.
 * A cell grows from its first object, the spine: an Object[] whose first element is the spine of the next cell. Each new object
 * is the target of a reference of an older one. So all objects are reachable, even if the last cell is cut short. */
#ifndef HPROF_GEN_PATTERN_H
#define HPROF_GEN_PATTERN_H

#include "heap/heap_data.h"

/* A reference: in the low bits an object of a cell, above them which cell: the same, any, or the first; or null. */
enum { EDGE_SLOT_BITS = 28, EDGE_SLOT = (1 << EDGE_SLOT_BITS) - 1 };
enum edge_mode { EDGE_NEAR, EDGE_FAR = 1, EDGE_HOME = 2, EDGE_TO_NULL = 4, EDGE_MODES };
#define EDGE_NULL ((uint32_t)EDGE_TO_NULL << EDGE_SLOT_BITS) /* as object 0, so that its ID becomes 0 without a branch */

struct pattern_object {
    uint32_t edges; /* the first */
    uint32_t class;
    uint32_t rank;          /* its number within its kind; of the spine: its elements */
    unsigned form : 6;      /* enum data_form */
    unsigned is_utf16 : 1;  /* a byte[] that is a text of two bytes for each character */
    unsigned leads_far : 1; /* an instance: a reference leads to another cell */
    unsigned type : 8;
    unsigned kind : 16;
};

_Static_assert(sizeof(struct pattern_object) == 16, "many of them");

struct pattern_array {
    struct lengths lengths;
    const struct data_row *elements;
    uint32_t edges;   /* the number of elements, from the first on, that are edges; the others are random */
    uint32_t nonnull; /* share of nulls among the random ones, in 2^16ths */
};

struct pattern_kind {
    uint32_t count, first; /* in `members` */
    uint16_t array;
};

struct pattern {
    const struct heap_data *data;
    unsigned shift; /* the distance of cells is 1 << shift objects */
    uint32_t size;  /* of a cell; less only if there is no other */
    uint64_t mask;
    struct pattern_kind *kinds;
    const struct pattern_array *arrays;
    uint32_t orphans; /* objects that no older object refers to */
    struct pattern_object *objects;
    uint32_t *edges;   /* with space for a step of MODEL_IDS_STEP after the last */
    uint32_t *members; /* the objects of each kind */
};

/* Makes a cell of `size` objects, in memory of the shape, for the kinds of data_kinds(). `arrays` must outlive it. NULL without
 * memory. */
struct pattern *pattern_new(struct model *m, const struct heap_data *data, uint32_t size, const struct data_kind *kinds,
                            const struct pattern_array *arrays);

#endif
