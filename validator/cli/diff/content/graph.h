/* A heap dump in memory: the shape, a digest and the references of each object, by its number in the order of the file. Takes 11
 * bytes an object, 13 if there are many classes, and 4 a reference, and 5 to 16 more an object while it is read. */
#ifndef HPROF_CLI_DIFF_GRAPH_H
#define HPROF_CLI_DIFF_GRAPH_H

#include "ids.h"
#include "shapes.h"

/* A reference that is null, or to an object that is not in the dump. */
#define REFERENCE_NULL UINT32_MAX
#define REFERENCE_DANGLING (UINT32_MAX - 1)
#define OBJECTS_MOST (UINT32_MAX - 2)

/* The bits of a digest that say what the object holds itself: no round changes them. In the others, the rounds add what it
 * refers to. */
#define OWN_BITS ((uint64_t)0xffffff << 40)

struct root {
    uint64_t key;    /* its kind, thread and frame */
    uint64_t digest; /* of its object */
    uint64_t offset;
    uint32_t object; /* or REFERENCE_DANGLING */
    uint32_t thread, frame;
    uint8_t tag;
};

/* A thread that roots name by its serial number. */
struct thread {
    uint32_t serial, order;
    uint32_t object;  /* or REFERENCE_NULL */
    uint64_t name_id; /* of a START_THREAD record; 0 if there is none */
    char *name;       /* NULL if it is not known */
    bool is_root;
};

struct graph {
    struct hprof_reader *reader;
    uint64_t number; /* of the heap dump */
    uint64_t seed;   /* of the digests; the same for both dumps */
    struct shapes shapes;
    uint32_t count;
    uint16_t *shape_lows, *shape_highs; /* the shape of each object, in two halves; without highs, these are 0 */
    uint64_t *digests;
    uint64_t *firsts;     /* of each 16th object: where its references begin */
    uint32_t *references; /* of an object array, their number comes first */
    size_t reference_count, reference_capacity;
    struct hprof_item *marks; /* each 1024th object, for reading it again */
    uint64_t *repeats;        /* offsets of objects whose ID an earlier one has: these have no number */
    size_t repeat_count, repeat_capacity;
    struct root *roots;
    size_t root_count, root_capacity;
    struct thread *threads;
    size_t thread_count, thread_capacity;
    uint64_t heap_dumps; /* in the file */
    uint64_t damage;
    char failure[HPROF_FAILURE_SIZE]; /* "" if it has not failed */
};

/* Reads all of the heap dump, twice. False if it failed: see `failure`. */
bool graph_read(struct graph *graph, uint64_t number, unsigned ignored, uint64_t seed);
void graph_free(struct graph *graph);

/* The references of an object, without the number of an array. */
uint32_t *graph_references(const struct graph *graph, uint32_t object, uint32_t *count);
static inline uint32_t graph_shape_number(const struct graph *graph, uint32_t object)
{
    uint32_t high = graph->shape_highs != NULL ? graph->shape_highs[object] : 0;

    return high << 16 | graph->shape_lows[object];
}
static inline const struct shape *graph_shape(const struct graph *graph, uint32_t object)
{
    return &graph->shapes.list[graph_shape_number(graph, object)];
}

/* How many entries are followed in the chains of a table: more than a map has in one. A chain in a file may be a circle. */
static inline uint64_t chain_steps(uint32_t length)
{
    return 4 * (uint64_t)length + 16;
}
static inline uint32_t next_in_chain(const struct graph *graph, uint32_t entry)
{
    uint32_t link = graph_shape(graph, entry)->link, count;

    return link != NO_SLOT ? graph_references(graph, entry, &count)[link] : REFERENCE_NULL;
}

/* Makes an object the last item of the reader again. */
bool graph_item(struct graph *graph, uint32_t object, struct hprof_item *item);

/* The reference with the name, or REFERENCE_NULL. */
uint32_t graph_referee(struct graph *graph, uint32_t object, const char *field);
/* The text of a java.lang.String, or of a char[]; false if it is neither. */
bool graph_text(struct graph *graph, uint32_t object, char *to, size_t size);

#endif
