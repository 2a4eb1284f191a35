/* Roots of the same kind, thread and frame, of objects of the same class, are pairs: those with the same digest first. */
#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "mix.h"
#include "threads.h"

enum {
    SUB_ROOT_JNI_GLOBAL = 0x01,
    SUB_ROOT_JNI_LOCAL = 0x02,
    SUB_ROOT_JAVA_FRAME = 0x03,
    SUB_ROOT_NATIVE_STACK = 0x04,
    SUB_ROOT_STICKY_CLASS = 0x05,
    SUB_ROOT_THREAD_OBJECT = 0x08,
    ORDER_OF_CLASSES = 3
};

/* The walk begins where paths are easy to follow. */
static unsigned order_of(uint8_t tag)
{
    switch (tag) {
    case SUB_ROOT_THREAD_OBJECT:
        return 0;
    case SUB_ROOT_JAVA_FRAME:
        return 1;
    case SUB_ROOT_STICKY_CLASS:
        return ORDER_OF_CLASSES - 1;
    case SUB_ROOT_JNI_LOCAL:
    case SUB_ROOT_NATIVE_STACK:
        return ORDER_OF_CLASSES + 1;
    case SUB_ROOT_JNI_GLOBAL:
        return ORDER_OF_CLASSES + 2;
    default:
        return ORDER_OF_CLASSES + 3;
    }
}

static void add_start(struct content *content, unsigned order, uint64_t offset, uint32_t a, uint32_t b)
{
    if (content->start_count == content->start_capacity) {
        size_t capacity = content->start_capacity ? 2 * content->start_capacity : 1024;
        struct start *grown = realloc(content->starts, capacity * sizeof *grown);

        if (grown == NULL) {
            content->out_of_memory = true;
            return;
        }
        content->starts = grown;
        content->start_capacity = capacity;
    }
    content->starts[content->start_count++] = (struct start){order, offset, {a, b}};
}

/* ---- Roots -------------------------------------------------------------------------------------------------------- */

static void find_keys(struct graph *graph)
{
    for (size_t i = 0; i < graph->root_count; i++) {
        struct root *root = &graph->roots[i];
        const struct thread *thread = root->thread != 0 ? find_thread(graph, root->thread) : NULL;
        bool is_there = root->object < REFERENCE_DANGLING;

        root->key = mix_two(root->tag, root->frame);
        if (thread != NULL && thread->name != NULL)
            root->key = mix_two(root->key, mix_bytes(graph->seed, thread->name, strlen(thread->name)));
        root->key = mix_two(root->key, is_there ? graph_shape(graph, root->object)->key : 0);
        root->digest = is_there ? graph->digests[root->object] : 0;
    }
}

static int compare_digests(const void *a, const void *b)
{
    const struct root *one = a, *other = b;

    return one->key != other->key         ? (one->key < other->key ? -1 : 1)
           : one->digest != other->digest ? (one->digest < other->digest ? -1 : 1)
           : one->offset < other->offset  ? -1
                                          : one->offset > other->offset;
}

static int compare_offsets(const void *a, const void *b)
{
    const struct root *one = a, *other = b;

    return one->key != other->key        ? (one->key < other->key ? -1 : 1)
           : one->offset < other->offset ? -1
                                         : one->offset > other->offset;
}

/* Whether two that compare as equal are a pair, by the digest or without. */
static int compare_roots(const struct root *a, const struct root *b, bool by_digest)
{
    return a->key != b->key                       ? (a->key < b->key ? -1 : 1)
           : !by_digest || a->digest == b->digest ? 0
           : a->digest < b->digest                ? -1
                                                  : 1;
}

/* Takes the pairs out of both lists, which are sorted; what is left is alone. */
static void take_pairs(struct content *content, struct root *lists[SIDES], size_t counts[SIDES], bool by_digest)
{
    size_t at[SIDES] = {0, 0}, left[SIDES] = {0, 0};

    while (at[0] < counts[0] || at[1] < counts[1]) {
        const struct root *a = &lists[0][at[0]], *b = &lists[1][at[1]];
        int order = at[0] == counts[0] ? 1 : at[1] == counts[1] ? -1 : compare_roots(a, b, by_digest);

        if (order == 0) {
            content->diff->kinds[KIND_ROOTS].same++;
            if (a->object < REFERENCE_DANGLING && b->object < REFERENCE_DANGLING)
                add_start(content, order_of(a->tag), a->offset, a->object, b->object);
            at[0]++;
            at[1]++;
        } else {
            unsigned side = order < 0 ? 0 : 1;

            lists[side][left[side]++] = lists[side][at[side]++];
        }
    }
    counts[0] = left[0];
    counts[1] = left[1];
}

static int compare_places(const void *a, const void *b)
{
    const struct root *one = a, *other = b;

    return one->offset < other->offset ? -1 : one->offset > other->offset;
}

static void sort_roots(struct root *roots, size_t count, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(roots, count, sizeof *roots, compare);
}

/* Of several roots of an object, that with which the walk begins. */
static int compare_objects(const void *a, const void *b)
{
    const struct root *one = a, *other = b;
    unsigned order = order_of(one->tag), other_order = order_of(other->tag);

    return one->object != other->object ? (one->object < other->object ? -1 : 1)
           : order != other_order       ? (order < other_order ? -1 : 1)
                                        : compare_places(a, b);
}

static void pair_roots(struct content *content, struct root *lists[SIDES], size_t counts[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        sort_roots(lists[side], counts[side], compare_digests);
    take_pairs(content, lists, counts, true);
    for (unsigned side = 0; side < SIDES; side++)
        sort_roots(lists[side], counts[side], compare_offsets);
    take_pairs(content, lists, counts, false);
    for (unsigned side = 0; side < SIDES; side++) {
        sort_roots(lists[side], counts[side], compare_places);
        content->diff->kinds[KIND_ROOTS].only[side] = counts[side];
        for (size_t i = 0; i < counts[side] && content->lone_root_count < content->most; i++)
            content->lone_roots[content->lone_root_count++] = (struct lone_root){side, lists[side][i]};
    }
}

/* ---- Classes ------------------------------------------------------------------------------------------------------ */

struct class_key {
    uint64_t key, digest;
    uint32_t object;
};

static int compare_classes(const struct class_key *a, const struct class_key *b, bool by_digest)
{
    return a->key != b->key                       ? (a->key < b->key ? -1 : 1)
           : !by_digest || a->digest == b->digest ? 0
           : a->digest < b->digest                ? -1
                                                  : 1;
}

static int compare_objects_of(const struct class_key *a, const struct class_key *b)
{
    return a->object < b->object ? -1 : a->object > b->object;
}

static int compare_with_digests(const void *a, const void *b)
{
    int order = compare_classes(a, b, true);

    return order != 0 ? order : compare_objects_of(a, b);
}

static int compare_without(const void *a, const void *b)
{
    int order = compare_classes(a, b, false);

    return order != 0 ? order : compare_objects_of(a, b);
}

static struct class_key *classes_of(const struct graph *graph, size_t *count)
{
    struct class_key *list = malloc((graph->shapes.count + (size_t)1) * sizeof *list);

    *count = 0;
    for (uint32_t i = 0; i < graph->count && list != NULL; i++) /* each class has a shape of its own */
        if (graph_shape(graph, i)->kind == SHAPE_CLASS && *count < graph->shapes.count)
            list[(*count)++] = (struct class_key){graph_shape(graph, i)->key, graph->digests[i], i};
    return list;
}

/* Takes the pairs out of both lists. */
static void take_classes(struct content *content, struct class_key *lists[SIDES], size_t counts[SIDES], bool by_digest)
{
    size_t at[SIDES] = {0, 0}, left[SIDES] = {0, 0};

    for (unsigned side = 0; side < SIDES; side++)
        if (counts[side] > 1)
            qsort(lists[side], counts[side], sizeof **lists, by_digest ? compare_with_digests : compare_without);
    while (at[0] < counts[0] || at[1] < counts[1]) {
        const struct class_key *a = &lists[0][at[0]], *b = &lists[1][at[1]];
        int order = at[0] == counts[0] ? 1 : at[1] == counts[1] ? -1 : compare_classes(a, b, by_digest);

        if (order == 0) {
            add_start(content, ORDER_OF_CLASSES, a->object, a->object, b->object);
            at[0]++;
            at[1]++;
        } else {
            unsigned side = order < 0 ? 0 : 1;

            lists[side][left[side]++] = lists[side][at[side]++];
        }
    }
    counts[0] = left[0];
    counts[1] = left[1];
}

/* Several hidden classes may have the same name: those with the same digest are pairs first. */
static void pair_classes(struct content *content)
{
    size_t counts[SIDES];
    struct class_key *lists[SIDES] = {classes_of(&content->graphs[0], &counts[0]), classes_of(&content->graphs[1], &counts[1])};

    if (lists[0] != NULL && lists[1] != NULL) {
        take_classes(content, lists, counts, true);
        take_classes(content, lists, counts, false);
    } else {
        content->out_of_memory = true;
    }
    free(lists[0]);
    free(lists[1]);
}

static int compare_starts(const void *a, const void *b)
{
    const struct start *one = a, *other = b;

    return one->order != other->order     ? (one->order < other->order ? -1 : 1)
           : one->offset != other->offset ? (one->offset < other->offset ? -1 : 1)
                                          : 0;
}

void roots_compare(struct content *content)
{
    struct root *lists[SIDES];
    size_t counts[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        struct graph *graph = &content->graphs[side];

        find_keys(graph);
        counts[side] = graph->root_count;
        lists[side] = malloc((graph->root_count + 1) * sizeof **lists);
        content->out_of_memory |= lists[side] == NULL;
        if (lists[side] != NULL && graph->root_count > 0)
            memcpy(lists[side], graph->roots, graph->root_count * sizeof *graph->roots);
    }
    if (!content->out_of_memory) {
        pair_roots(content, lists, counts);
        pair_classes(content);
        if (content->start_count > 1)
            qsort(content->starts, content->start_count, sizeof *content->starts, compare_starts);
    }
    free(lists[0]);
    free(lists[1]);
    for (unsigned side = 0; side < SIDES; side++)
        sort_roots(content->graphs[side].roots, content->graphs[side].root_count, compare_objects);
}

const struct root *root_of(const struct graph *graph, uint32_t object)
{
    size_t low = 0, high = graph->root_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (graph->roots[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->root_count && graph->roots[low].object == object ? &graph->roots[low] : NULL;
}
