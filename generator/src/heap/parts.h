/* What the files of the model share: how classes are added, and what model.h's functions use. */
#ifndef HPROF_GEN_PARTS_H
#define HPROF_GEN_PARTS_H

#include "heap/model.h"

#include "format/format.h"
#include "heap/names.h"
#include "stream/random.h"

/* Blocks of element values, of which each array takes pieces. */
struct element_blocks {
    uint8_t *text, *utf16, *chars, *numbers, *booleans;
};

/* The methods that are on stacks: those of some classes. */
enum { STACK_CLASSES_MOST = 256, IDLE_THREADS_MOST = 32 };
struct stack_places {
    uint32_t classes[STACK_CLASSES_MOST];
    uint32_t class_count;
    uint32_t methods, signatures, sources; /* the first string of each */
    uint32_t run, no_arguments, wait, thread_source, object_source;
    uint32_t idle_names[IDLE_THREADS_MOST], idle_threads;             /* those of an idle VM come first */
    uint32_t thread_names, main, group, carrier_names, virtual_names; /* strings */
    uint32_t enter, yield, continuation_source, virtual_source;
};

struct cells; /* cells.h */

enum thread_kind { THREAD_PLATFORM, THREAD_CARRIER, THREAD_VIRTUAL, THREAD_KINDS };

/* References of the core's objects, which differ by the version of the JDK; UINT32_MAX for none. */
struct core_slots {
    uint32_t group_name, loader_parent, string_value;
    struct {
        uint32_t loader, group, name, continuation, carrier;
    } threads[THREAD_KINDS];
    uint32_t coder_at; /* offset in the values of a String */
};

/* What program.c adds. */
struct program {
    uint64_t first;   /* its objects, the last ones of the core */
    uint64_t threads; /* objects: those of options.threads, and virtual threads that are no roots */
    uint64_t
        first_carrier; /* thread; the virtual threads follow the carriers. Carrier n has the virtual thread n, others are parked */
    uint32_t carriers, virtual_threads;
    uint32_t classes[THREAD_KINDS], continuation, chunk;
    uint32_t chunk_slot;        /* reference of a continuation */
    uint32_t twin_class, twins; /* classes of one name, each in another loader */
    uint32_t hidden;            /* hidden classes, one object of each */
    const uint32_t *hidden_classes;
};

struct parts {
    struct model model; /* first, so that one is the other */
    struct names names;
    uint64_t key;          /* the seed, mixed */
    uint64_t core_objects; /* as many as the threads need; the heap may have fewer objects */
    uint64_t shape_from;   /* the core's objects and those of an idle VM; the heap may have fewer objects */
    struct cells *idle;    /* the objects of an idle VM; NULL for none */
    uint32_t shape_class;  /* the first class that is not of every heap or of an idle VM */
    uint8_t text_type;     /* of the text of a String: TYPE_BYTE, or TYPE_CHAR before JDK 9 */
    uint32_t class_capacity, field_capacity;
    struct element_blocks blocks;
    struct stack_places places;
    struct core_slots slots;
    struct program program;
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
/* Likewise, in the opposite order. */
uint32_t class_add_turned(struct model *m, const char *name, uint32_t super, const char *fields, const char *statics);
/* One of those fields; *spec is the next one then. */
struct field_text {
    const char *name;
    size_t length;
    uint8_t type, form;
};
struct field_text field_next(const char **spec);
/* Likewise, with this many references after those fields. */
uint32_t class_add_wider(struct model *m, const char *name, uint32_t super, const char *fields, uint64_t more,
                         const char *statics);
/* Likewise; the fields are added one by one, the instance fields first. */
uint32_t class_add_named(struct model *m, uint32_t name, uint32_t super);
bool field_add(struct model *m, uint32_t name, uint8_t type, uint8_t form);
bool static_add(struct model *m, uint32_t name, uint8_t type, uint8_t form);
/* The number of a reference, by the name of its field; UINT32_MAX for none. */
uint32_t slot_named(const struct model *m, uint32_t class, const char *name);
/* The class of this name; MODEL_NONE for none. */
uint32_t class_find(struct model *m, const char *name);
/* The array class of objects of that class, added if it is new. */
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

/* Finds the fields that the core's objects refer by. After program_prepare(). */
void core_prepare(struct model *m);
uint64_t core_object_count(const struct model *m); /* without those of program.c */
enum { CORE_FIRST_THREAD = 2 };
void core_object(const struct model *m, uint64_t index, struct object *o);
uint64_t core_reference(const struct model *m, uint64_t index, uint64_t slot);
/* The text of a byte[] that is the value of a thread's name; false for any other object. */
bool core_text(const struct model *m, uint64_t index, char text[MODEL_STRING_MOST], size_t *size);

/* ---- program.c: the last of the core's objects ---- */

uint32_t program_thread_roots(const struct model *m); /* how many threads it adds to those of the options */
void program_settle(struct model *m);                 /* when the number of threads is known */
bool program_prepare(struct model *m);                /* adds its classes; after idle_prepare() */
enum thread_kind thread_kind(const struct model *m, uint64_t thread);
uint64_t thread_rank(const struct model *m, uint64_t thread); /* of a carrier or a virtual thread */
bool is_mounted(const struct model *m, uint64_t rank);        /* of a virtual thread */
uint64_t program_object_count(const struct model *m);
void program_object(const struct model *m, uint64_t index, struct object *o);
uint64_t program_reference(const struct model *m, uint64_t index, uint64_t slot);
uint64_t program_list(const struct model *m); /* MODEL_NULL without a program */
uint64_t program_continuation(const struct model *m, uint64_t rank);
void program_values(const struct model *m, uint64_t index, uint8_t *body);
void thread_values(const struct model *m, uint64_t thread, uint8_t *body);

/* ---- idle.c: the objects of an idle VM ---- */

/* Adds the classes and symbols: all, or in proportion fewer in a small heap. */
bool idle_prepare(struct model *m);
uint64_t idle_threads(const struct model *m); /* up to IDLE_THREADS_MOST */

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
    uint64_t from = parts_of(m)->shape_from;

    return from < m->options.objects ? from : m->options.objects;
}

static inline uint64_t shape_count(const struct model *m)
{
    return m->options.objects - shape_first(m);
}

static inline uint32_t first_class_of_shape(const struct model *m)
{
    return parts_of(m)->shape_class;
}

/* The number of classes that make `classes` in all, without those of an idle VM. */
static inline uint32_t classes_left(const struct model *m, uint64_t classes)
{
    return (uint32_t)(classes - CORE_CLASSES - (m->class_count - first_class_of_shape(m)));
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
