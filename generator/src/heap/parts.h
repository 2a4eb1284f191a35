/* What the files of the model share: how classes are added, and what model.h's functions use. */
#ifndef HPROF_GEN_PARTS_H
#define HPROF_GEN_PARTS_H

#include "heap/model.h"

#include "format/format.h"
#include "heap/names.h"
#include "stream/random.h"

/* Blocks of element values, of which each array takes pieces. */
struct element_blocks {
    uint8_t *text, *chars, *numbers, *booleans;
};

/* The methods that are on stacks: those of some classes. */
enum { STACK_CLASSES_MOST = 256 };
struct stack_places {
    uint32_t classes[STACK_CLASSES_MOST];
    uint32_t class_count;
    uint32_t methods, signatures, sources; /* the first string of each */
    uint32_t run, no_arguments, wait, thread_source, object_source;
    uint32_t thread_names, main, group; /* strings */
};

struct parts {
    struct model model; /* first, so that one is the other */
    struct names names;
    uint64_t key;          /* the seed, mixed */
    uint64_t core_objects; /* as many as the threads need; the heap may have fewer objects */
    uint32_t class_capacity, field_capacity;
    struct element_blocks blocks;
    struct stack_places places;
    struct shape_block *shape_blocks;
};

static inline const struct parts *parts_of(const struct model *m)
{
    return (const struct parts *)m;
}

static inline uint64_t key_of(const struct model *m)
{
    return parts_of(m)->key;
}

/* ---- classes.c: adding classes, their superclass first. MODEL_NONE or false without memory. ---- */

/* Fields are "L:name I:hash B0:coder": the type as in signatures (L for any object), optionally the form (0: zero, s: small),
 * the name. */
uint32_t class_add(struct model *m, const char *name, uint32_t super, const char *fields, const char *statics);
/* Likewise, with this many references after those fields. */
uint32_t class_add_wider(struct model *m, const char *name, uint32_t super, const char *fields, uint64_t more,
                         const char *statics);
/* Likewise; the fields are added one by one, the instance fields first. */
uint32_t class_add_named(struct model *m, uint32_t name, uint32_t super);
bool field_add(struct model *m, uint32_t name, uint8_t type, uint8_t form);
bool static_add(struct model *m, uint32_t name, uint8_t type, uint8_t form);
/* An array class of objects of that class. */
uint32_t class_add_array(struct model *m, uint32_t of);
/* Adds the generated texts as strings, and returns the first. names.failed if some could not be added. */
uint32_t string_add(struct model *m, enum name_form form, const char *text, uint32_t of, uint32_t count);
/* Gives each class from `first` on the number of references that `wanted` has for it: the first ones of its own, then
 * "reference1" and so on. To be called before classes_finish(). */
bool references_refit(struct model *m, uint32_t first, const uint32_t *wanted);
/* Sizes, next_with_fields. */
void classes_finish(struct model *m);
/* Adds the classes of enum model_core_class. */
bool core_classes_add(struct model *m);

/* ---- core.c: the objects of any heap ---- */

uint64_t core_object_count(const struct model *m);
void core_object(const struct model *m, uint64_t index, struct object *o);
uint64_t core_reference(const struct model *m, uint64_t index, uint64_t slot);
/* The text of a byte[] that is the value of a thread's name; false for any other object. */
bool core_text(const struct model *m, uint64_t index, char text[MODEL_STRING_MOST], size_t *size);

/* ---- elements.c ---- */

bool elements_prepare(struct model *m);
void elements_free(struct model *m);

/* ---- stacks.c ---- */

void stacks_prepare_names(struct model *m);
void stacks_prepare(struct model *m);

/* ---- For shapes ---- */

/* The options make no sense. Failure without this call means that memory ran out. */
bool fail(struct model *m, const char *why);

/* The objects of the shape follow those of every heap. */
static inline uint64_t shape_first(const struct model *m)
{
    uint64_t core = parts_of(m)->core_objects;

    return core < m->options.objects ? core : m->options.objects;
}

static inline uint64_t shape_count(const struct model *m)
{
    return m->options.objects - shape_first(m);
}

static inline void be_instance(struct object *o, uint32_t class)
{
    o->kind = OBJECT_INSTANCE;
    o->class = class;
    o->type = TYPE_OBJECT;
    o->elements = 0;
}

static inline void be_object_array(struct object *o, uint32_t class, uint64_t elements)
{
    o->kind = OBJECT_OBJECT_ARRAY;
    o->class = class;
    o->type = TYPE_OBJECT;
    o->elements = elements;
}

static inline void be_primitive_array(struct object *o, uint8_t type, uint64_t elements)
{
    o->kind = OBJECT_PRIMITIVE_ARRAY;
    o->class = CORE_BOOLEAN_ARRAY + (uint32_t)type - TYPE_BOOLEAN;
    o->type = type;
    o->elements = elements;
}

/* Memory that is freed with the model. NULL if there is none. */
void *shape_memory(struct model *m, size_t size);
void shape_memory_free(struct model *m);

/* Adds this many references, named "reference1" and so on, to the class that was added last. */
bool references_add(struct model *m, uint64_t count);

/* A random object of the shape; null for one of four. */
uint64_t any_or_null(const struct model *m, uint64_t index, uint64_t slot);
/* The IDs of `count` random objects, from slot `first` on. */
void any_or_null_ids(const struct model *m, uint64_t index, uint64_t first, uint64_t count, uint64_t *out);

/* Notes the longest body of the shape's objects. */
void longest_is(struct model *m, uint64_t bytes);

/* The most classes that a shape takes. */
#define CLASSES_MOST UINT32_C(10000000)

/* The default of an option, and its limits. */
bool option_within(struct model *m, uint64_t *option, uint64_t unset, uint64_t least, uint64_t most, const char *allowed);

#endif
