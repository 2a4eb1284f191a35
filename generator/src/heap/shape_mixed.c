/* A realistic heap: a load of heap_data.h, javac unless the options name another. */
#include "heap/cells.h"

enum { LEAST_CLASSES = 200, OBJECTS_FOR_A_CLASS = 40, CELL_SHIFT = 14 };

static void resize(struct model *m)
{
    cells_place(m->of_shape, shape_first(m), shape_count(m));
}

static bool prepare(struct model *m)
{
    const struct heap_data *load = m->options.load ? m->options.load : &load_javac;
    struct cells *cells = shape_memory(m, sizeof *cells);
    struct model_options *options = &m->options;
    uint64_t most = 100000000 * (uint64_t)MODEL_UNIT;
    uint64_t few = LEAST_CLASSES + options->objects / OBJECTS_FOR_A_CLASS; /* a small heap has loaded only some of them */
    uint64_t of_idle = first_class_of_shape(m) - CORE_CLASSES;             /* the load's classes are counted with those */
    uint64_t least = load->class_count + load->array_count + RARE_CLASSES_LEAST, of_load = load->classes;
    unsigned shift = 0;

    if (load == &load_javac)
        least = LEAST_CLASSES;
    of_load = of_load > least + of_idle ? of_load - of_idle : least;
    m->of_shape = cells;
    if (!option_within(m, &options->classes, few < of_load ? few : of_load, least, CLASSES_MOST,
                       load == &load_javac ? "--classes of mixed: 200 to 10,000,000" : "--classes: too few for this --load"))
        return false;
    if (!cells ||
        (options->array_length != MODEL_UNSET && options->array_length > most &&
         !fail(m, "--array-length: up to 100,000,000 on average")) ||
        (options->string_length != MODEL_UNSET && options->string_length > most &&
         !fail(m, "--string-length: up to 100,000,000 characters on average")) ||
        (options->references != MODEL_UNSET && !option_within(m, &options->references, 0, MODEL_UNIT / 2, 100 * MODEL_UNIT,
                                                              "--references of mixed: 0.5 to 100 of an object on average")))
        return false;
    while (shift < CELL_SHIFT && shape_count(m) >> (shift + 1) > 0)
        shift++;
    if (!cells_prepare(m, cells, load, (uint32_t)1 << shift,
                       &(struct cells_wanted){options->references, options->array_length, options->string_length}, 1, 1))
        return false;
    resize(m);
    return rare_classes_add(m, &cells->rare, options->classes);
}

const struct shape shape_mixed = {
    .name = "mixed",
    .about = "like the heap of a real program",
    .takes = SHAPE_TAKES_REFERENCES | SHAPE_TAKES_ARRAY_LENGTH | SHAPE_TAKES_STRING_LENGTH,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .resize = resize,
    .object = cells_shape_object,
    .reference = cells_shape_reference,
    .reference_ids = cells_shape_ids,
};
