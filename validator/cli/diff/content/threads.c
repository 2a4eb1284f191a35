#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read_object.h"

/* Each takes a moment to read, and no more threads than this are told apart by a person. */
enum { NAMES_MOST = 4096, NAME_SIZE = 256, TYPE_CHAR = 5 };

/* ---- Texts -------------------------------------------------------------------------------------------------------- */

static size_t put_character(char *to, size_t at, size_t size, uint32_t c)
{
    if (c < 0x80 && at + 1 < size) {
        to[at++] = (char)(c < ' ' || c == 0x7f ? '?' : (char)c);
    } else if (c < 0x800 && at + 2 < size) {
        to[at++] = (char)(0xc0 | c >> 6);
        to[at++] = (char)(0x80 | (c & 0x3f));
    } else if (at + 3 < size) {
        if (c >= 0xd800 && c < 0xe000)
            c = 0xfffd;
        to[at++] = (char)(0xe0 | c >> 12);
        to[at++] = (char)(0x80 | (c >> 6 & 0x3f));
        to[at++] = (char)(0x80 | (c & 0x3f));
    }
    return at;
}

/* Of a char[], or of a byte[] with one or two bytes a character. */
static bool put_array(struct graph *graph, uint32_t array, unsigned width, bool is_little, char *to, size_t size)
{
    struct hprof_item item;
    const uint8_t *bytes;
    size_t at = 0;
    int64_t there;

    if (array >= REFERENCE_DANGLING || graph_shape(graph, array)->kind != SHAPE_PRIMITIVE_ARRAY ||
        !graph_item(graph, array, &item))
        return false;
    there = hprof_body(graph->reader, 0, size, &bytes);
    for (int64_t i = 0; i + width <= there; i += width) {
        uint32_t first = bytes[i], second = width == 2 ? bytes[i + 1] : 0;

        at = put_character(to, at, size, width == 1 ? first : is_little ? first | second << 8 : first << 8 | second);
    }
    to[at] = '\0';
    return true;
}

/* The value of the field `coder`: 0 for Latin-1, 1 for UTF-16 in the order of the machine, which was little-endian. */
static bool is_latin(struct graph *graph, uint32_t string)
{
    const struct shape *shape = graph_shape(graph, string);
    uint32_t slot = find_slot(&graph->shapes, shape->values, shape->value_count, "coder");
    struct hprof_item item;
    const uint8_t *bytes;

    return slot == NO_SLOT || !graph_item(graph, string, &item) ||
           hprof_body(graph->reader, shape->values[slot].at, 1, &bytes) != 1 || *bytes == 0;
}

bool graph_text(struct graph *graph, uint32_t object, char *to, size_t size)
{
    char name[64];
    const struct shape *shape;
    uint32_t array;

    if (object >= REFERENCE_DANGLING)
        return false;
    shape = graph_shape(graph, object);
    if (shape->kind == SHAPE_PRIMITIVE_ARRAY && shape->element_type == TYPE_CHAR)
        return put_array(graph, object, 2, false, to, size);
    shape_name(&graph->shapes, shape, name, sizeof name);
    if (shape->kind != SHAPE_INSTANCE || strcmp(name, "java.lang.String") != 0)
        return false;
    array = graph_referee(graph, object, "value");
    if (array >= REFERENCE_DANGLING)
        return false;
    if (graph_shape(graph, array)->element_type == TYPE_CHAR)
        return put_array(graph, array, 2, false, to, size);
    return put_array(graph, array, is_latin(graph, object) ? 1 : 2, true, to, size);
}

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

static int compare_threads(const void *a, const void *b)
{
    const struct thread *one = a, *other = b;

    return one->serial != other->serial ? (one->serial < other->serial ? -1 : 1)
           : one->order < other->order  ? -1
                                        : one->order > other->order;
}

/* A thread is described by its START_THREAD and by its root. */
static void merge_threads(struct graph *graph)
{
    size_t kept = 0;

    if (graph->thread_count > 1)
        qsort(graph->threads, graph->thread_count, sizeof *graph->threads, compare_threads);
    for (size_t i = 0; i < graph->thread_count; i++) {
        struct thread *last = kept > 0 ? &graph->threads[kept - 1] : NULL, *thread = &graph->threads[i];

        if (last == NULL || last->serial != thread->serial) {
            graph->threads[kept++] = *thread;
            continue;
        }
        if (thread->is_root)
            last->object = thread->object;
        else if (thread->name_id != 0)
            last->name_id = thread->name_id;
    }
    graph->thread_count = kept;
}

static bool name_thread(struct graph *graph, struct thread *thread)
{
    char name[NAME_SIZE];
    const char *text;
    size_t size;

    if (thread->object < REFERENCE_DANGLING &&
        graph_text(graph, graph_referee(graph, thread->object, "name"), name, sizeof name))
        thread->name = strdup(name);
    else if (thread->name_id != 0 && hprof_string(graph->reader, thread->name_id, &text, &size) == 1)
        thread->name = strndup(text, size < NAME_SIZE ? size : NAME_SIZE);
    else
        return true;
    return thread->name != NULL;
}

bool threads_name(struct graph *graph)
{
    merge_threads(graph);
    for (size_t i = 0; i < graph->thread_count && i < NAMES_MOST; i++)
        if (!name_thread(graph, &graph->threads[i]))
            return false;
    return true;
}

const struct thread *find_thread(const struct graph *graph, uint32_t serial)
{
    size_t low = 0, high = graph->thread_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (graph->threads[middle].serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->thread_count && graph->threads[low].serial == serial ? &graph->threads[low] : NULL;
}
