/* Paths from a root or a class to an object, as a person would write them: "Main.list.elementData[3]". */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "threads.h"

enum { SUB_ROOT_JAVA_FRAME = 0x03, SUB_ROOT_THREAD_OBJECT = 0x08, STEPS_MOST = 10000, LABEL_SIZE = 256, TEXT_SIZE = 81 };

struct text {
    char *to;
    size_t size, used;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(text->to + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
    if (n > 0)
        text->used = text->used + (size_t)n < text->size ? text->used + (size_t)n : text->size - 1;
}

/* ---- Names of objects --------------------------------------------------------------------------------------------- */

static void put_class(struct content *content, unsigned side, uint32_t object, struct text *text)
{
    char name[LABEL_SIZE];

    shape_name(&content->graphs[side].shapes, graph_shape(&content->graphs[side], object), name, sizeof name);
    put(text, "%s", name);
}

void object_name(struct content *content, unsigned side, uint32_t object, char name[PART_SIZE])
{
    struct graph *graph = &content->graphs[side];
    struct text text = {.to = name, .size = PART_SIZE};
    struct hprof_item item;
    char words[TEXT_SIZE];

    if (object >= REFERENCE_DANGLING) {
        snprintf(name, PART_SIZE, "%s", object == REFERENCE_NULL ? "null" : "an object that is not in the dump");
        return;
    }
    if (graph_shape(graph, object)->kind == SHAPE_CLASS)
        put(&text, "class ");
    put_class(content, side, object, &text);
    if (graph_item(graph, object, &item))
        put(&text, " 0x%" PRIx64, item.id);
    if (graph_text(graph, object, words, sizeof words))
        put(&text, " \"%s\"", words);
}

void class_of_pair(struct content *content, const struct pair *pair, char name[PART_SIZE])
{
    struct text text = {.to = name, .size = PART_SIZE};

    if (graph_shape(&content->graphs[0], pair->objects[0])->kind == SHAPE_CLASS)
        put(&text, "java.lang.Class");
    else
        put_class(content, 0, pair->objects[0], &text);
}

/* ---- The beginning ------------------------------------------------------------------------------------------------ */

static void put_thread(const struct graph *graph, uint32_t serial, struct text *text)
{
    const struct thread *thread = find_thread(graph, serial);

    if (thread != NULL && thread->name != NULL)
        put(text, "thread \"%s\"", thread->name);
    else
        put(text, "thread %" PRIu32, serial);
}

static void put_root(struct content *content, unsigned side, const struct root *root, struct text *text)
{
    const struct graph *graph = &content->graphs[side];
    const char *kind = hprof_subrecord_name(root->tag);

    if (root->tag == SUB_ROOT_THREAD_OBJECT) {
        put_thread(graph, root->thread, text);
        return;
    }
    put(text, "%s", kind == NULL ? "root" : strncmp(kind, "ROOT_", 5) == 0 ? kind + 5 : kind);
    if (root->thread != 0) {
        put(text, " of ");
        put_thread(graph, root->thread, text);
    }
    if (root->tag == SUB_ROOT_JAVA_FRAME && root->frame != UINT32_MAX)
        put(text, ", frame %" PRIu32, root->frame);
}

void lone_root_name(struct content *content, const struct lone_root *root, char name[PATH_SIZE])
{
    struct text text = {.to = name, .size = PATH_SIZE};

    *name = '\0';
    put_root(content, root->side, &root->root, &text);
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

static void label_step(struct content *content, uint32_t parent, uint32_t child, char label[LABEL_SIZE])
{
    struct graph *graph = &content->graphs[0];
    const struct shape *shape = graph_shape(graph, parent);
    uint32_t count, *references = graph_references(graph, parent, &count), i = 0;

    while (i < count && (references[i] != child || (i == shape->link && shape->kind != SHAPE_OBJECT_ARRAY)))
        i++;
    if (i == count || shape->order != IN_ORDER) {
        snprintf(label, LABEL_SIZE, "{entry}");
    } else if (shape->kind == SHAPE_OBJECT_ARRAY) {
        snprintf(label, LABEL_SIZE, "[%" PRIu32 "]", i);
    } else {
        label[0] = '.';
        slot_name(&graph->shapes, &shape->references[i], label + 1, LABEL_SIZE - 1);
    }
}

/* The objects on the way, from the last one back to a class, a root, or the most. Returns how many there are. */
static size_t list_steps(const struct content *content, uint32_t object, uint32_t *steps)
{
    size_t count = 0;

    steps[count++] = object;
    while (count < STEPS_MOST && content->steps[object].parent != NO_OBJECT &&
           graph_shape(&content->graphs[0], object)->kind != SHAPE_CLASS) {
        object = content->steps[object].parent;
        steps[count++] = object;
    }
    return count;
}

static void put_beginning(struct content *content, uint32_t object, struct text *text)
{
    const struct graph *graph = &content->graphs[0];
    const struct root *root = root_of(graph, object);

    if (graph_shape(graph, object)->kind == SHAPE_CLASS) {
        put_class(content, 0, object, text);
    } else if (content->steps[object].parent == NO_OBJECT && root != NULL) {
        put_root(content, 0, root, text);
        if (root->tag != SUB_ROOT_THREAD_OBJECT) {
            put(text, " (");
            put_class(content, 0, object, text);
            put(text, ")");
        }
    } else {
        put(text, "(after %d steps) ", STEPS_MOST);
        put_class(content, 0, object, text);
    }
}

/* The same step several times, such as along a list, is written once. */
static void put_steps(struct content *content, const uint32_t *steps, size_t count, struct text *text)
{
    char label[LABEL_SIZE], last[LABEL_SIZE] = "";
    size_t times = 0;

    for (size_t i = count - 1; i > 0; i--) {
        label_step(content, steps[i], steps[i - 1], label);
        if (times > 0 && strcmp(label, last) == 0) {
            times++;
            continue;
        }
        if (times > 1)
            put(text, " (%zu times) ", times);
        put(text, "%s", label);
        memcpy(last, label, sizeof last);
        times = 1;
    }
    if (times > 1)
        put(text, " (%zu times)", times);
}

bool path_of(struct content *content, const struct pair *pair, char path[PATH_SIZE])
{
    struct text text = {.to = path, .size = PATH_SIZE};
    uint32_t *steps;

    *path = '\0';
    steps = malloc(STEPS_MOST * sizeof *steps);
    if (steps == NULL)
        return false;
    size_t count = list_steps(content, pair->objects[0], steps);

    put_beginning(content, steps[count - 1], &text);
    put_steps(content, steps, count, &text);
    free(steps);
    return true;
}
