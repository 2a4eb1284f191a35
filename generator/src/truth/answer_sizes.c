/* See asker.h: how large objects are, which are reachable, and what they retain. */
#include <stdlib.h>

#include "truth/asker.h"

/* Of HotSpot: with compressed references and classes, and with neither before JDK 22. */
enum { HEADER = 12, ARRAY_HEADER = 16, REFERENCE = 4, WIDE_HEADER = 16, WIDE_ARRAY_HEADER = 24, WIDE_REFERENCE = 8 };

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static struct extent extent_of(struct asker *a, const struct object *object)
{
    const struct layout *layout;
    uint64_t narrow = 0, wide = 0;

    if (object->is_array) {
        unsigned type = object->class >= PRIMITIVE ? object->class - PRIMITIVE : TYPE_OBJECT;
        uint64_t n = object->elements, width = type_size(type, REFERENCE);

        return (struct extent){1, rounded(ARRAY_HEADER + n * width),
                               rounded(WIDE_ARRAY_HEADER + n * (type == TYPE_OBJECT ? WIDE_REFERENCE : width))};
    }
    layout = heap_dump_layout(&a->heap, &a->names, class_of(a, object));
    if (layout->state != LAYOUT_KNOWN)
        narrow = wide = object->elements;
    else
        for (size_t i = 0; i < layout->count; i++) {
            narrow += type_size(layout->slots[i].type, REFERENCE);
            wide += type_size(layout->slots[i].type, WIDE_REFERENCE);
        }
    return (struct extent){1, rounded(HEADER + narrow), rounded(WIDE_HEADER + wide)};
}

static void add_extent(struct extent *to, const struct extent *more)
{
    to->objects += more->objects;
    to->compressed += more->compressed;
    to->uncompressed += more->uncompressed;
}

static char *class_name(const struct asker *a, size_t class)
{
    static const char *const arrays[] = {[TYPE_BOOLEAN] = "[Z", [TYPE_CHAR] = "[C",  [TYPE_FLOAT] = "[F", [TYPE_DOUBLE] = "[D",
                                         [TYPE_BYTE] = "[B",    [TYPE_SHORT] = "[S", [TYPE_INT] = "[I",   [TYPE_LONG] = "[J"};
    struct text name;

    if (class >= a->heap.class_count)
        return strdup(arrays[class - a->heap.class_count]);
    name = a->heap.classes[class].name;
    return utf8_of_units(name.size ? a->names.units.bytes + name.at : NULL, name.size);
}

/* The place of a class in a table of heap classes and, after them, types. */
static size_t class_place(const struct asker *a, const struct object *object)
{
    return object->class >= PRIMITIVE ? a->heap.class_count + (object->class - PRIMITIVE) : object->class;
}

/* *places: where each class is in answers.classes. */
static bool find_classes(struct asker *a, size_t *places)
{
    size_t most = a->heap.class_count + TYPE_LONG + 1;
    struct extent *extents = memory_get_zeroed(&a->memory, most * sizeof *extents);
    struct answers *answers = a->answers;
    bool good = extents != NULL;

    for (size_t i = 0; good && i < a->object_count; i++) {
        struct extent one = extent_of(a, &a->objects[i]);

        add_extent(&extents[class_place(a, &a->objects[i])], &one);
    }
    answers->classes = calloc(most, sizeof *answers->classes);
    good = good && answers->classes;
    for (size_t i = 0; good && i < most; i++) {
        struct answer_class *class = &answers->classes[answers->class_count];

        if (!extents[i].objects)
            continue;
        *class = (struct answer_class){i < a->heap.class_count ? a->heap.classes[i].id : 0, class_name(a, i), extents[i]};
        places[i] = answers->class_count++;
        good = class->name != NULL;
    }
    memory_put(&a->memory, extents, most * sizeof *extents);
    return good;
}

static bool retains_less(const struct answer_object *x, const struct answer_object *y)
{
    return x->retained.compressed != y->retained.compressed ? x->retained.compressed < y->retained.compressed : x->id > y->id;
}

/* Keeps the largest, in descending order. */
static void offer(struct answers *answers, const struct answer_object *one)
{
    size_t at = answers->object_count;

    if (at == ANSWER_OBJECTS && retains_less(one, &answers->objects[at - 1]))
        return;
    at = at == ANSWER_OBJECTS ? at - 1 : answers->object_count++;
    for (; at && retains_less(&answers->objects[at - 1], one); at--)
        answers->objects[at] = answers->objects[at - 1];
    answers->objects[at] = *one;
}

static void count_reachable(struct answers *answers, const struct object *object)
{
    if (!object->is_array)
        answers->instances++;
    else if (object->class >= PRIMITIVE)
        answers->primitive_arrays++;
    else
        answers->object_arrays++;
}

/* What a node retains is itself and what the nodes retain that it dominates. */
static bool find_retained(struct asker *a, const struct dominators *d, const size_t *places)
{
    struct extent *retained = memory_get_zeroed(&a->memory, d->count * sizeof *retained);
    struct answers *answers = a->answers;

    answers->objects = calloc(ANSWER_OBJECTS, sizeof *answers->objects);
    if (!retained || !answers->objects)
        return false;
    for (size_t place = d->count; place-- > 0;) {
        const struct object *object = is_object(a, d->node[place]) ? &a->objects[d->node[place] - 1] : NULL;

        if (object) {
            struct extent one = extent_of(a, object);

            add_extent(&retained[place], &one);
            count_reachable(answers, object);
            offer(answers, &(struct answer_object){object->id, places[class_place(a, object)], retained[place]});
        }
        if (place)
            add_extent(&retained[d->above[place]], &retained[place]);
    }
    answers->reachable = retained[0];
    memory_put(&a->memory, retained, d->count * sizeof *retained);
    return true;
}

bool find_answers(struct asker *a)
{
    size_t most = a->heap.class_count + TYPE_LONG + 1, *places = memory_get_zeroed(&a->memory, most * sizeof *places);
    struct dominators d = {0};
    bool good = places != NULL;

    good = good && !a->memory.exhausted && find_classes(a, places) &&
           dominators_find(&d, &a->memory, node_count(a), a->edges, a->edge_count) && find_retained(a, &d, places) &&
           string_texts_finish(&a->texts, a->answers);
    dominators_clear(&d, &a->memory);
    memory_put(&a->memory, places, most * sizeof *places);
    return good;
}
