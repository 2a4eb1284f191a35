/* The state of answers.c while it runs, and what it finds at the end: answer_sizes.c. */
#ifndef HPROF_GEN_ASKER_H
#define HPROF_GEN_ASKER_H

#include "truth/answer_graph.h"
#include "truth/answer_texts.h"
#include "truth/digest_heap.h"

enum pass { PASS_COLLECT, PASS_REFERENCES, PASS_TEXTS, PASSES };

struct object {
    uint64_t id;
    uint32_t class;    /* index of a heap class; of a primitive array, PRIMITIVE and the type */
    uint32_t elements; /* of an array; the bytes of an instance of an unknown layout */
    bool is_array;
};

#define PRIMITIVE 0xFFFFFF00u

/* A String whose text is an array, or a part of it. */
struct text_use {
    uint32_t array;
    uint32_t first, count; /* elements; UINT32_MAX: all of them */
    bool is_utf16;
};

struct asker {
    struct stage stage;
    struct answers *answers;
    struct memory memory;
    struct hash_key key;
    struct texts names;
    struct heap_dump heap;
    struct object *objects;
    struct edge *edges;
    uint64_t *roots;
    struct text_use *uses;
    size_t object_count, object_capacity, edge_count, edge_capacity, root_count, root_capacity, use_count, use_capacity;
    struct string_texts texts;
    const char *failure;
    bool stop, has_heap, in_series;

    enum pass pass;
    size_t objects_seen, uses_seen;
    enum layout_id layout; /* of the present record or sub-record; LAYOUT_ID_NONE if its body does not matter */
    union fields fields;
    uint64_t body_left;
    uint32_t node;
    struct item body; /* a body that comes in parts */
};

/* ---- Nodes: 0 has the roots, objects follow, then classes ---- */

static inline uint32_t object_node(size_t object)
{
    return (uint32_t)object + 1;
}

static inline uint32_t class_node(const struct asker *a, size_t class)
{
    return (uint32_t)(a->object_count + 1 + class);
}

static inline bool is_object(const struct asker *a, uint32_t node)
{
    return node > 0 && node <= a->object_count;
}

static inline size_t node_count(const struct asker *a)
{
    return 1 + a->object_count + a->heap.class_count;
}

static inline struct heap_class *class_of(struct asker *a, const struct object *object)
{
    return &a->heap.classes[object->class];
}

/* Once all passes are done, and the edges of the roots are there. False without memory. */
bool find_answers(struct asker *asker);

#endif
