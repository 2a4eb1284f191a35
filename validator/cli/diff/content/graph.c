#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mix.h"
#include "read_object.h"
#include "threads.h"

enum {
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SUB_PRIMITIVE_ARRAY_NODATA = 0xc3,
    SUB_ROOT_THREAD_OBJECT = 0x08,
    SUB_HEAP_DUMP_INFO = 0xfe,
    TAG_START_THREAD = 0x0a,
    FIRST_EACH = 16,
    MARK_EACH = 1024
};

static bool fail(struct graph *graph, const char *why)
{
    if (graph->failure[0] == '\0')
        snprintf(graph->failure, sizeof graph->failure, "%s", why);
    return false;
}

static bool out_of_memory(struct graph *graph)
{
    return fail(graph, "out of memory");
}

/* Room for one more; the array grows by a half. */
static void *add(struct graph *graph, void *array, size_t *count, size_t *capacity, size_t size)
{
    void **at = array;

    if (*count == *capacity) {
        size_t larger = *capacity + *capacity / 2 + 64;
        void *grown = realloc(*at, larger * size);

        if (grown == NULL) {
            out_of_memory(graph);
            return NULL;
        }
        *at = grown;
        *capacity = larger;
    }
    return (char *)*at + (*count)++ * size;
}

static bool is_object(const struct graph *graph, const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_SUBRECORD && item->heap_dump == graph->number &&
           (item->tag == SUB_INSTANCE_DUMP || item->tag == SUB_CLASS_DUMP || item->tag == SUB_OBJECT_ARRAY_DUMP ||
            item->tag == SUB_PRIMITIVE_ARRAY_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_NODATA);
}

/* ---- First reading: the IDs -------------------------------------------------------------------------------------- */

static bool read_ids(struct graph *graph, struct ids *ids)
{
    uint64_t *list = NULL;
    size_t count = 0, capacity = 0;
    struct hprof_item item;
    int result = 0;

    hprof_item_init(&item);
    while (graph->failure[0] == '\0' && (result = hprof_next(graph->reader, &item)) == 1) {
        graph->damage += item.kind == HPROF_ITEM_DAMAGE ? item.size : 0;
        if (item.heap_dump > graph->heap_dumps)
            graph->heap_dumps = item.heap_dump;
        if (!is_object(graph, &item))
            continue;
        uint64_t *id = count < OBJECTS_MOST ? add(graph, &list, &count, &capacity, sizeof *id) : NULL;

        if (id == NULL)
            fail(graph, "a heap dump of more than 4,294,967,293 objects");
        else
            *id = item.id;
    }
    if (result < 0)
        fail(graph, hprof_failure(graph->reader));
    if (graph->failure[0] == '\0' && !ids_build(ids, list, count))
        out_of_memory(graph);
    free(list);
    return graph->failure[0] == '\0';
}

/* ---- Second reading: objects -------------------------------------------------------------------------------------- */

static bool make_room(struct graph *graph, size_t count)
{
    graph->shape_lows = malloc((count + 1) * sizeof *graph->shape_lows);
    graph->digests = malloc((count + 1) * sizeof *graph->digests);
    graph->firsts = malloc((count / FIRST_EACH + 1) * sizeof *graph->firsts);
    graph->marks = malloc((count / MARK_EACH + 1) * sizeof *graph->marks);
    return (graph->shape_lows != NULL && graph->digests != NULL && graph->firsts != NULL && graph->marks != NULL) ||
           out_of_memory(graph);
}

/* `count` objects in all. */
static bool set_shape(struct graph *graph, uint32_t object, uint32_t shape, size_t count)
{
    if (shape > UINT16_MAX && graph->shape_highs == NULL) {
        graph->shape_highs = calloc(count + 1, sizeof *graph->shape_highs);
        if (graph->shape_highs == NULL)
            return out_of_memory(graph);
    }
    if (graph->shape_highs != NULL)
        graph->shape_highs[object] = (uint16_t)(shape >> 16);
    graph->shape_lows[object] = (uint16_t)shape;
    return true;
}

struct filling {
    struct graph *graph;
    const struct ids *ids;
    uint32_t *numbers; /* of the objects, by the ranks of their IDs */
};

/* Keeps the rank of the object it refers to, until all ranks have numbers. */
static void add_reference(void *context, uint64_t id)
{
    const struct filling *f = context;
    struct graph *graph = f->graph;
    uint32_t *to = add(graph, &graph->references, &graph->reference_count, &graph->reference_capacity, sizeof *to);
    uint32_t rank = id != 0 && to != NULL ? ids_rank(f->ids, id) : NO_OBJECT;

    if (to != NULL)
        *to = id == 0 ? REFERENCE_NULL : rank == NO_OBJECT ? REFERENCE_DANGLING : rank;
}

static bool add_object(struct filling *f, const struct hprof_item *item)
{
    struct graph *graph = f->graph;
    uint32_t rank = ids_rank(f->ids, item->id), number = graph->count, *numbers = f->numbers;
    uint32_t shape;

    if (rank == NO_OBJECT)
        return fail(graph, "the dump changed while it was read");
    if (numbers[rank] != NO_OBJECT) {
        uint64_t *repeat = add(graph, &graph->repeats, &graph->repeat_count, &graph->repeat_capacity, sizeof *repeat);

        if (repeat != NULL)
            *repeat = item->offset;
        return repeat != NULL;
    }
    shape = shape_of_item(&graph->shapes, item);
    if (shape == NO_SHAPE)
        return out_of_memory(graph);
    numbers[rank] = number;
    if (number % FIRST_EACH == 0)
        graph->firsts[number / FIRST_EACH] = graph->reference_count;
    if (number % MARK_EACH == 0)
        graph->marks[number / MARK_EACH] = *item;
    if (!set_shape(graph, number, shape, f->ids->count))
        return false;
    if (graph->shapes.list[shape].kind == SHAPE_OBJECT_ARRAY) {
        uint32_t *elements =
            add(graph, &graph->references, &graph->reference_count, &graph->reference_capacity, sizeof *elements);

        if (elements == NULL)
            return false;
        *elements = item->elements;
    }
    graph->count++;
    return read_object(graph->reader, item, &graph->shapes.list[shape], graph->seed, add_reference, f,
                       &graph->digests[number]) ||
           fail(graph, hprof_failure(graph->reader));
}

static void add_root(struct graph *graph, const struct hprof_item *item, const struct ids *ids)
{
    struct root *root = add(graph, &graph->roots, &graph->root_count, &graph->root_capacity, sizeof *root);
    uint32_t rank = ids_rank(ids, item->id);

    if (root != NULL)
        *root = (struct root){.offset = item->offset,
                              .object = rank != NO_OBJECT ? rank : REFERENCE_DANGLING,
                              .thread = item->thread_serial,
                              .frame = item->frame,
                              .tag = item->tag};
}

static void add_thread(struct graph *graph, const struct hprof_item *item, const struct ids *ids)
{
    struct thread *thread = add(graph, &graph->threads, &graph->thread_count, &graph->thread_capacity, sizeof *thread);
    bool is_root = item->kind == HPROF_ITEM_SUBRECORD;
    uint32_t rank = is_root ? ids_rank(ids, item->id) : NO_OBJECT;

    if (thread != NULL)
        *thread = (struct thread){.serial = item->thread_serial,
                                  .order = (uint32_t)graph->thread_count,
                                  .object = rank != NO_OBJECT ? rank : REFERENCE_NULL,
                                  .name_id = is_root ? 0 : item->name_id,
                                  .is_root = is_root};
}

/* From ranks to numbers. */
static uint32_t number_of(const uint32_t *numbers, uint32_t rank)
{
    return rank >= REFERENCE_DANGLING ? rank : numbers[rank] != NO_OBJECT ? numbers[rank] : REFERENCE_DANGLING;
}

static void number_references(struct graph *graph, const uint32_t *numbers)
{
    size_t at = 0;

    for (uint32_t i = 0; i < graph->count; i++) {
        const struct shape *shape = graph_shape(graph, i);
        uint32_t count = shape->kind == SHAPE_OBJECT_ARRAY ? graph->references[at++] : shape->reference_count;

        for (size_t end = at + count; at < end; at++)
            graph->references[at] = number_of(numbers, graph->references[at]);
    }
    for (size_t i = 0; i < graph->root_count; i++)
        graph->roots[i].object = number_of(numbers, graph->roots[i].object);
    for (size_t i = 0; i < graph->thread_count; i++)
        graph->threads[i].object = number_of(numbers, graph->threads[i].object);
}

static bool read_objects(struct graph *graph, const struct ids *ids, uint32_t *numbers)
{
    struct filling filling = {graph, ids, numbers};
    struct hprof_item item;
    int result = hprof_seek(graph->reader, NULL);

    hprof_item_init(&item);
    while (graph->failure[0] == '\0' && result == 1 && (result = hprof_next(graph->reader, &item)) == 1) {
        if (is_object(graph, &item)) {
            add_object(&filling, &item);
        } else if (item.kind == HPROF_ITEM_RECORD && item.tag == TAG_START_THREAD) {
            add_thread(graph, &item, ids);
        } else if (item.kind == HPROF_ITEM_SUBRECORD && item.heap_dump == graph->number && item.tag != SUB_HEAP_DUMP_INFO) {
            add_root(graph, &item, ids);
            if (item.tag == SUB_ROOT_THREAD_OBJECT)
                add_thread(graph, &item, ids);
        }
    }
    return result < 0 ? fail(graph, hprof_failure(graph->reader)) : graph->failure[0] == '\0';
}

/* ---- After reading ------------------------------------------------------------------------------------------------ */

/* The class of a loader is known once its object is. */
static void name_loaders(struct graph *graph, const struct ids *ids, const uint32_t *numbers)
{
    struct shapes *shapes = &graph->shapes;
    const uint32_t count = shapes->count;
    uint64_t *keys = malloc((count + 1) * sizeof *keys);

    if (keys == NULL) {
        out_of_memory(graph);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = shapes->list[i].loader_id != 0 ? ids_rank(ids, shapes->list[i].loader_id) : NO_OBJECT;
        uint32_t loader = rank != NO_OBJECT ? numbers[rank] : NO_OBJECT;

        keys[i] = loader != NO_OBJECT ? graph_shape(graph, loader)->key : 0;
    }
    for (uint32_t i = 0; i < count; i++)
        shape_add_loader(&shapes->list[i], keys[i]);
    free(keys);
}

/* The arrays of maps without entries have the class Object[], and no order. */
static void find_map_tables(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct shape *shape = graph_shape(graph, i);
        uint32_t count, *references;

        if (shape->table == NO_SLOT)
            continue;
        references = graph_references(graph, i, &count);
        uint32_t table = references[shape->table];

        if (table >= REFERENCE_DANGLING || graph_shape(graph, table)->kind != SHAPE_OBJECT_ARRAY ||
            graph_shape(graph, table)->order != IN_ORDER)
            continue;
        uint32_t other = shape_in_order(&graph->shapes, graph_shape_number(graph, table), shape->table_order);

        if (other == NO_SHAPE)
            out_of_memory(graph);
        else
            set_shape(graph, table, other, graph->count);
    }
}

static void finish_digests(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++)
        graph->digests[i] = mix_two(graph->digests[i], graph_shape(graph, i)->key);
}

bool graph_read(struct graph *graph, uint64_t number, unsigned ignored, uint64_t seed)
{
    struct ids ids = {0};
    uint32_t *numbers = NULL;

    graph->number = number;
    graph->seed = seed;
    shapes_init(&graph->shapes, graph->reader, ignored);
    if (hprof_seek(graph->reader, NULL) != 1)
        fail(graph, hprof_failure(graph->reader));
    if (graph->failure[0] == '\0' && read_ids(graph, &ids)) {
        numbers = malloc((ids.count + (size_t)1) * sizeof *numbers);
        if (numbers == NULL)
            out_of_memory(graph);
        else
            memset(numbers, 0xff, (ids.count + (size_t)1) * sizeof *numbers);
    }
    if (numbers != NULL && make_room(graph, ids.count) && read_objects(graph, &ids, numbers)) {
        number_references(graph, numbers);
        name_loaders(graph, &ids, numbers);
    }
    free(numbers);
    ids_free(&ids);
    if (graph->failure[0] == '\0') {
        find_map_tables(graph);
        finish_digests(graph);
    }
    if (graph->shapes.out_of_memory)
        out_of_memory(graph);
    if (graph->failure[0] == '\0' && !threads_name(graph))
        out_of_memory(graph);
    return graph->failure[0] == '\0';
}

void graph_free(struct graph *graph)
{
    for (size_t i = 0; i < graph->thread_count; i++)
        free(graph->threads[i].name);
    shapes_free(&graph->shapes);
    free(graph->shape_lows);
    free(graph->shape_highs);
    free(graph->digests);
    free(graph->firsts);
    free(graph->references);
    free(graph->marks);
    free(graph->repeats);
    free(graph->roots);
    free(graph->threads);
}

/* ---- Objects again ------------------------------------------------------------------------------------------------ */

uint32_t *graph_references(const struct graph *graph, uint32_t object, uint32_t *count)
{
    uint64_t at = graph->firsts[object / FIRST_EACH];

    for (uint32_t i = object / FIRST_EACH * FIRST_EACH; i < object; i++) {
        const struct shape *shape = graph_shape(graph, i);

        at += shape->kind == SHAPE_OBJECT_ARRAY ? 1 + (uint64_t)graph->references[at] : shape->reference_count;
    }
    if (graph_shape(graph, object)->kind != SHAPE_OBJECT_ARRAY) {
        *count = graph_shape(graph, object)->reference_count;
        return graph->references + at;
    }
    *count = graph->references[at];
    return graph->references + at + 1;
}

static bool is_repeat(const struct graph *graph, uint64_t offset)
{
    size_t low = 0, high = graph->repeat_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (graph->repeats[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->repeat_count && graph->repeats[low] == offset;
}

bool graph_item(struct graph *graph, uint32_t object, struct hprof_item *item)
{
    uint32_t at = object / MARK_EACH * MARK_EACH;
    bool is_one;

    hprof_item_init(item);
    if (hprof_seek(graph->reader, &graph->marks[object / MARK_EACH]) != 1)
        return false;
    do {
        if (hprof_next(graph->reader, item) != 1)
            return false;
        is_one = is_object(graph, item) && !is_repeat(graph, item->offset);
        at += is_one;
    } while (!is_one || at <= object);
    return true;
}

uint32_t graph_referee(struct graph *graph, uint32_t object, const char *field)
{
    const struct shape *shape = graph_shape(graph, object);
    uint32_t count, *references = graph_references(graph, object, &count);
    uint32_t slot = shape->kind == SHAPE_INSTANCE ? find_slot(&graph->shapes, shape->references, count, field) : NO_SLOT;

    return slot != NO_SLOT ? references[slot] : REFERENCE_NULL;
}
