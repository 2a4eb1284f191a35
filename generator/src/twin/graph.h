/* The objects of a twin, in the order of the dump: of which class each is, and what it refers to. Classes have the order that the
 * profile has. References to near objects are drawn first, then how many more references each object lacks, and then all others.
 * Numbers of objects, lengths and nulls are exact. Classes of references, distances, and how many name an object are drawn from
 * what is left of the profile's numbers. Each pass draws the same. It takes 34 bytes an object, and no memory for references. */
#ifndef HPROF_GEN_TWIN_GRAPH_H
#define HPROF_GEN_TWIN_GRAPH_H

#include "twin/profile.h"

struct graph;

/* What a reference names. */
struct graph_target {
    enum { TARGET_NULL, TARGET_OBJECT, TARGET_CLASS } kind;
    uint64_t number; /* of the object or the class */
};

#define GRAPH_OBJECTS_MOST UINT64_C(4000000000)

/* Draws `objects` of them; as many as the profile has if it is 0. The profile must outlive the graph. NULL without memory. */
struct graph *graph_new(const struct heap_profile *p, uint64_t objects, uint64_t seed);
void graph_free(struct graph *g);

uint64_t graph_objects(const struct graph *g);
uint64_t graph_count(const struct graph *g, uint32_t class, bool arrays);
/* The class of an object, and whether it is an array. */
uint32_t graph_class(const struct graph *g, uint64_t object, bool *is_array);
/* The length of the n-th array of a class. */
uint64_t graph_length(const struct graph *g, uint32_t class, uint64_t n);

/* A pass: for each object graph_next(), then graph_reference() for each reference of it, in order. */
void graph_begin(struct graph *g);
void graph_next(struct graph *g);
struct graph_target graph_reference(struct graph *g, uint32_t slot);
/* Of a static field. */
struct graph_target graph_static(const struct graph *g, uint32_t slot);
/* The n-th of the objects of a class and its subclasses, in the order of classes; UINT64_MAX for none. */
uint64_t graph_instance(const struct graph *g, const char *label, uint64_t n);

#endif
