/* Compares two heap dumps whose IDs have nothing to do with each other: by what the objects hold. graph.c reads each dump;
 * rounds.c makes digests that contain more and more of what an object refers to; multisets.c counts equal digests; walk.c pairs
 * objects from the roots on, and so finds where a difference is. */
#ifndef HPROF_CLI_DIFF_CONTENT_H
#define HPROF_CLI_DIFF_CONTENT_H

#include <stdio.h>

#include "diff.h"
#include "graph.h"

enum { ROUNDS = 4, ROUNDS_MOST = 1000 };

/* Objects of a class, in both dumps. */
struct group {
    uint64_t key;
    enum kind kind; /* in the report */
    unsigned side;  /* whose shape has the name */
    uint32_t shape;
    struct counts counts;
};

/* A pair of objects that differ themselves. */
struct pair {
    uint32_t objects[SIDES];
};

/* A root that only one dump has. */
struct lone_root {
    unsigned side;
    struct root root;
};

/* What two objects refer to in the same field, or as the same element. */
struct child {
    const struct slot *slot; /* NULL for an element */
    unsigned slot_side;
    bool is_entry; /* of a map or set without order: the indices say nothing */
    uint32_t index[SIDES];
    uint32_t objects[SIDES]; /* or REFERENCE_NULL, REFERENCE_DANGLING */
};

/* A step from the roots to an object of A. */
struct step {
    uint32_t parent;  /* in A; NO_OBJECT at a root or class */
    uint32_t partner; /* in B; NO_OBJECT while the object has none */
};

/* Two roots, or two classes, with which the walk begins. */
struct start {
    unsigned order;
    uint64_t offset;
    uint32_t objects[SIDES];
};

struct content {
    struct diff *diff;
    unsigned ignored, rounds, jobs;
    uint64_t heap_dumps[SIDES]; /* which are compared */
    size_t most;                /* pairs that are described */
    struct graph graphs[SIDES];
    struct group *groups;
    size_t group_count;
    struct step *steps; /* by the number of an object of A */
    struct start *starts;
    size_t start_count, start_capacity;
    struct pair *pairs; /* the first ones from the roots on */
    size_t pair_count;
    uint64_t pairs_found;
    struct lone_root *lone_roots; /* the first ones of A, then those of B */
    size_t lone_root_count;
    bool out_of_memory;
    unsigned failed_side;
    char failure[HPROF_FAILURE_SIZE];
};

/* False if it failed: see `failure`. */
bool content_compare(struct content *content);
bool content_is_different(const struct content *content);
void content_free(struct content *content);

/* ---- rounds.c, multisets.c, walk.c, in this order ---- */
void rounds_run(struct content *content);
void multisets_compare(struct content *content);
void roots_compare(struct content *content);
void walk(struct content *content);

/* Whether two objects, not null, have the same class. */
bool have_same_class(const struct content *content, uint32_t a, uint32_t b);

/* A root of the object; NULL if it is none. After roots_compare(). */
const struct root *root_of(const struct graph *graph, uint32_t object);

/* ---- children.c ---- */
void children_each(struct content *content, uint32_t a, uint32_t b, void (*each)(void *context, const struct child *child),
                   void *context);
/* Whether both are null, or are a pair, or have the same digest. What a pair differs in is a difference of that pair. */
bool child_is_same(const struct content *content, const struct child *child);

/* ---- paths.c ---- */
enum { PATH_SIZE = 4096 };
/* "Main.list.elementData[3]", in A. False if memory ran out. */
bool path_of(struct content *content, const struct pair *pair, char path[PATH_SIZE]);
/* "JAVA_FRAME of thread \"main\", frame 2" */
void lone_root_name(struct content *content, const struct lone_root *root, char name[PATH_SIZE]);
/* "java.lang.String 0x7000 \"text\"", "null" */
void object_name(struct content *content, unsigned side, uint32_t object, char name[PART_SIZE]);
/* "java.lang.String" */
void class_of_pair(struct content *content, const struct pair *pair, char name[PART_SIZE]);

/* ---- holdings.c ---- */
/* Calls `visit` for each field, element or other part in which a pair differs; returns how many there are. */
uint64_t pair_describe(struct content *content, const struct pair *pair, uint64_t most,
                       void (*visit)(void *context, const struct part *part), void *context);

/* ---- The writers ---- */
void content_print_text(struct content *content, FILE *out);
void content_print_json(struct content *content, FILE *out);

#endif
