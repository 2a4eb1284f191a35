/* See model.h: the options, and which part makes which object. */
#include "heap/cells.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct shape shape_mixed, shape_list, shape_tree, shape_graph, shape_arrays, shape_strings, shape_wide, shape_deep,
    shape_threads;

const struct shape *const shapes[] = {&shape_mixed,   &shape_list, &shape_tree, &shape_graph,   &shape_arrays,
                                      &shape_strings, &shape_wide, &shape_deep, &shape_threads, NULL};

#define MOST_OBJECTS ((uint64_t)1000000000000)
#define MOST_THREADS 1000000U
#define MOST_DEPTH ((uint64_t)1000000)
#define MOST_FRAMES ((uint64_t)1000000000)

static char sentence[256]; /* the latest failure that is not a constant string */

/* ---- Options ---- */

/* "--string-length means nothing to --shape list: mixed and strings take it" */
static bool is_taken(struct model *m, const struct shape *shape, const char *option, uint64_t value, unsigned bit)
{
    int used;

    if (value == MODEL_UNSET || shape->takes & bit)
        return true;
    used = snprintf(sentence, sizeof sentence, "%s means nothing to --shape %s:", option, shape->name);
    for (size_t i = 0; shapes[i]; i++) {
        size_t left = 0;

        if (!(shapes[i]->takes & bit))
            continue;
        for (size_t other = i + 1; shapes[other]; other++)
            left += (shapes[other]->takes & bit) != 0;
        used += snprintf(sentence + used, sizeof sentence - (size_t)used, " %s%s", shapes[i]->name,
                         left > 1    ? ","
                         : left == 1 ? " and"
                                     : " take it");
    }
    return fail(m, sentence);
}

static bool only_what_is_taken(struct model *m, const struct shape *shape)
{
    const struct model_options *o = &m->options;

    return is_taken(m, shape, "--references", o->references, SHAPE_TAKES_REFERENCES) &&
           is_taken(m, shape, "--array-length", o->array_length, SHAPE_TAKES_ARRAY_LENGTH) &&
           is_taken(m, shape, "--string-length", o->string_length, SHAPE_TAKES_STRING_LENGTH);
}

static bool options_settle(struct model *m, const struct shape *shape)
{
    struct model_options *o = &m->options;
    uint64_t few = 1 + o->objects / 16, depth = MOST_DEPTH, idle = idle_threads(m), added = program_thread_roots(m);
    uint64_t of_load = o->load ? o->load->thread_count : 0, threads = shape->threads > idle ? shape->threads : idle;

    threads = threads > of_load ? threads : of_load;

    o->mirrors = o->mirrors < few ? o->mirrors : few;
    o->loaders = o->loaders < few ? o->loaders : few;
    if (o->threads != MODEL_UNSET && o->threads > MOST_FRAMES / MOST_DEPTH)
        depth = MOST_FRAMES / o->threads;
    return only_what_is_taken(m, shape) && option_within(m, &o->objects, 1000000, 0, MOST_OBJECTS, "--objects: up to 1e12") &&
           option_within(m, &o->threads, (threads < few ? threads : few) + added, 0, MOST_THREADS,
                         "--threads: up to 1,000,000") &&
           option_within(m, &o->stack_depth, shape->stack_depth, 0, depth,
                         "--stack-depth: up to 1,000,000, and up to 1e9 frames in all threads together");
}

/* ---- Making one ---- */

struct model *model_new(const struct shape *shape, const struct model_options *options, const char **failure)
{
    struct parts *parts = calloc(1, sizeof *parts);
    struct model *m = (struct model *)parts;

    *failure = NULL;
    if (!m)
        return NULL;
    m->options = *options;
    m->id_stride = 1;
    m->shape = shape;
    parts->text_type = options->idle ? data_text_type(options->idle) : TYPE_BYTE;
    if (!options_settle(m, shape))
        goto failed;
    parts->key = parts->names.key = mix(m->options.seed * 0x9E3779B97F4A7C15U + 1);
    program_settle(m);
    parts->program.first = core_object_count(m);
    parts->core_objects = parts->shape_from = parts->program.first + program_object_count(m);
    if (!core_classes_add(m) || !elements_prepare(m))
        goto failed;
    stacks_prepare_names(m);
    if (!idle_prepare(m) || !program_prepare(m))
        goto failed;
    core_prepare(m);
    parts->shape_class = m->class_count;
    if (!shape->prepare(m))
        goto failed;
    classes_finish(m);
    stacks_prepare(m);
    if (parts->names.failed)
        goto failed;
    for (uint32_t i = 0; i < m->class_count; i++)
        if (!m->classes[i].element && m->classes[i].instance_bytes > m->longest_object)
            m->longest_object = m->classes[i].instance_bytes;
    longest_is(m, MODEL_STRING_MOST); /* the name of a thread */
    m->string_count = parts->names.count;
    return m;
failed:
    *failure = m->failure;
    model_free(m);
    return NULL;
}

void model_resize(struct model *m, uint64_t objects)
{
    m->options.objects = objects;
    if (m->shape->resize)
        m->shape->resize(m);
}

void model_free(struct model *m)
{
    struct parts *parts = (struct parts *)m;

    if (!m)
        return;
    shape_memory_free(m);
    free(m->classes);
    free(m->fields);
    names_free(&parts->names);
    elements_free(m);
    free(parts);
}

/* ---- Asking ---- */

/* The objects before those of the shape are few: functions of their own keep the others fast. */
static __attribute__((noinline)) void front_object(const struct model *m, uint64_t index, struct object *o)
{
    if (index < parts_of(m)->core_objects)
        core_object(m, index, o);
    else
        cells_object(m, parts_of(m)->idle, index, o);
}

static __attribute__((noinline)) uint64_t front_reference(const struct model *m, uint64_t index, uint64_t slot)
{
    if (index < parts_of(m)->core_objects)
        return core_reference(m, index, slot);
    return cells_reference(parts_of(m)->idle, index, slot);
}

void model_object(const struct model *m, uint64_t index, struct object *o)
{
    if (index < parts_of(m)->shape_from)
        front_object(m, index, o);
    else
        m->shape->object(m, index, o);
}

uint64_t model_reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    if (index < parts_of(m)->shape_from)
        return front_reference(m, index, slot);
    return m->shape->reference(m, index, o, slot);
}

/* A function of its own, so that the call of the shape is a jump. */
static __attribute__((noinline)) void ids_one_by_one(const struct model *m, uint64_t index, const struct object *o,
                                                     uint64_t first, uint64_t count, uint64_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = model_object_id(m, model_reference(m, index, o, first + i));
}

void model_reference_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                         uint64_t *out)
{
    if (m->shape->reference_ids && index >= parts_of(m)->shape_from)
        m->shape->reference_ids(m, index, o, first, count, out);
    else
        ids_one_by_one(m, index, o, first, count, out);
}

uint64_t model_random(const struct model *m, uint64_t a, uint64_t b)
{
    return mix_of(key_of(m), a, b);
}

/* So many that there are some, among them the first object of the shape. */
uint64_t model_global_count(const struct model *m)
{
    enum { GLOBALS = 68 };
    uint64_t globals = m->options.idle ? m->options.idle->globals : GLOBALS;

    return m->options.objects < globals ? m->options.objects : globals;
}

uint64_t model_global(const struct model *m, uint64_t index)
{
    uint64_t first = shape_first(m), list = program_list(m);

    if (index == 0)
        return first < m->options.objects ? first : 0;
    if (index == 1 && list != MODEL_NULL)
        return list;
    return below(mix_of(key_of(m), index, 5), m->options.objects);
}

uint64_t model_static(const struct model *m, uint32_t class, uint32_t slot)
{
    uint64_t bits = mix_of(key_of(m), class, (uint64_t)slot << 8 | 6);

    if (m->options.objects == 0 || (bits & 1023) < 107) /* 10.5 %, as in the dump that load_javac.def was made from */
        return MODEL_NULL;
    return below(bits, m->options.objects);
}
