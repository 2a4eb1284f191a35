/* Models for tests: of any shape, with the options that a test is not about left unset, and what is counted in them. */
#ifndef HPROF_GEN_TESTS_MADE_MODEL_H
#define HPROF_GEN_TESTS_MADE_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "heap/model.h"

static inline struct model_options unset(uint64_t objects)
{
    return (struct model_options){.seed = 1,
                                  .objects = objects,
                                  .classes = MODEL_UNSET,
                                  .threads = MODEL_UNSET,
                                  .stack_depth = MODEL_UNSET,
                                  .references = MODEL_UNSET,
                                  .array_length = MODEL_UNSET,
                                  .string_length = MODEL_UNSET,
                                  .id_size = 8};
}

static inline const struct shape *shape_of(const char *name)
{
    for (size_t i = 0; shapes[i]; i++)
        if (strcmp(shapes[i]->name, name) == 0)
            return shapes[i];
    fail_msg("there is no shape %s", name);
    return NULL;
}

static inline struct model *made(const struct shape *shape, const struct model_options *options)
{
    const char *failure = NULL;
    struct model *m = model_new(shape, options, &failure);

    if (!m)
        fail_msg("%s: %s", shape->name, failure);
    m->first_object_id = 0x1000;
    m->id_stride = 8;
    return m;
}

static inline struct model *made_with(const char *shape, uint64_t objects)
{
    struct model_options options = unset(objects);

    return made(shape_of(shape), &options);
}

/* Fields of type object, by class. */
static inline uint32_t *reference_fields(const struct model *m)
{
    uint32_t *references = calloc(m->class_count, sizeof *references);

    for (uint32_t c = 0; c < m->class_count; c++) {
        const struct model_class *class = &m->classes[c];

        if (class->super != MODEL_NONE)
            references[c] = references[class->super];
        for (uint32_t f = 0; f < class->fields; f++)
            references[c] += m->fields[class->first_field + f].type == TYPE_OBJECT;
    }
    return references;
}

static inline uint64_t slots_of(const uint32_t *references, const struct object *o)
{
    return o->kind == OBJECT_INSTANCE ? references[o->class] : o->kind == OBJECT_OBJECT_ARRAY ? o->elements : 0;
}

#endif
