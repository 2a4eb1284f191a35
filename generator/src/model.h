/* A heap that is made up: classes, threads, stacks, and objects that are functions of the seed and their index, never a
 * table. Memory is bounded by the classes and threads, whatever the number of objects. Knows nothing of records and
 * producers: objects, classes, strings are numbers from 0, and the IDs of objects have equal distances. Integer arithmetic
 * only: the same everywhere. */
#ifndef HPROF_GEN_MODEL_H
#define HPROF_GEN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_UNSET UINT64_MAX
#define MODEL_NONE UINT32_MAX /* no class, no string */
#define MODEL_NULL UINT64_MAX /* no object */

enum { MODEL_UNIT = 1000 }; /* means are given in thousandths */

/* MODEL_UNSET means what the shape takes of itself. */
struct model_options {
    uint64_t seed; /* always given */
    uint64_t objects;
    uint64_t classes;
    uint64_t threads;
    uint64_t stack_depth;
    uint64_t references;    /* mean, in thousandths */
    uint64_t array_length;  /* likewise */
    uint64_t string_length; /* likewise */
    uint64_t mirrors;       /* objects of java.lang.Class: those of the primitive types; fewer in a small heap */
    uint64_t loaders;       /* beside the application's; likewise */
    unsigned id_size;
};

enum value_form { VALUE_ANY, VALUE_SMALL /* 0 to 127 */, VALUE_ZERO };

struct model_field {
    uint32_t name; /* string */
    uint8_t type;  /* enum basic_type */
    uint8_t form;  /* enum value_form, of a primitive one: a String's coder is 0, a size is small */
};

struct model_class {
    uint32_t name;        /* string: "java/lang/String", "[Ljava/lang/String;", "[I" */
    uint32_t super;       /* class; MODEL_NONE for java/lang/Object */
    uint32_t first_field; /* in model.fields: its own */
    uint16_t fields;
    uint16_t statics;          /* in model.fields after those */
    uint32_t instance_bytes;   /* own fields and those of the superclasses */
    uint32_t next_with_fields; /* the nearest superclass that has fields of its own; MODEL_NONE for none */
    uint32_t element_class;    /* of a class of object arrays */
    uint8_t element;           /* of an array class: enum basic_type; 0 for no array class */
    bool interface;
};

enum object_kind { OBJECT_INSTANCE, OBJECT_OBJECT_ARRAY, OBJECT_PRIMITIVE_ARRAY };

struct object {
    enum object_kind kind;
    uint32_t class;    /* of an instance; the array class of an array, primitive ones too */
    uint8_t type;      /* of a primitive array: enum basic_type */
    uint64_t elements; /* of an array */
};

enum { MODEL_LINE_NATIVE = -3 }; /* of a native method */

struct model_frame {
    uint32_t method, signature, source; /* strings */
    uint32_t class;
    int32_t line;
};

struct model;

/* A shape: what the objects are and whom they name. */
struct shape {
    const char *name;
    const char *about;                /* one line for --help */
    unsigned takes;                   /* bits of enum shape_option: the options that mean something to it */
    uint64_t threads, stack_depth;    /* unless told; fewer threads in a small heap */
    bool (*prepare)(struct model *m); /* adds its classes; false: m->failure says why */
    void (*resize)(struct model *m);  /* options.objects is one more or less. NULL: nothing is kept that follows from it */
    void (*object)(const struct model *m, uint64_t index, struct object *o);
    /* The values of an instance's body or an array's elements are made piece by piece: `slot` counts the object's fields of type
     * object, those of the class first, or its elements. Gives an object, or MODEL_NULL. */
    uint64_t (*reference)(const struct model *m, uint64_t index, const struct object *o, uint64_t slot);
    /* Likewise the IDs of `count` of them, from slot `first` on. NULL: one by one. */
    void (*reference_ids)(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                          uint64_t *out);
};

enum shape_option { SHAPE_TAKES_REFERENCES = 1, SHAPE_TAKES_ARRAY_LENGTH = 2, SHAPE_TAKES_STRING_LENGTH = 4 };

extern const struct shape *const shapes[]; /* mixed first; NULL after the last */

struct model {
    struct model_options options;        /* nothing unset any more */
    uint64_t first_object_id, id_stride; /* of object 0, and from one to the next: 0 and 1 until somebody sets them */
    const struct shape *shape;
    struct model_class *classes;
    uint32_t class_count;
    struct model_field *fields;
    uint32_t field_count;
    uint32_t string_count;
    uint64_t longest_object; /* bytes of the body of the longest object, at the most */
    void *of_shape;          /* what the shape keeps */
    const char *failure;
};

/* NULL, and *failure says why: a value that makes no sense to this shape, too many classes. *failure is NULL when memory ran
 * out. */
struct model *model_new(const struct shape *shape, const struct model_options *options, const char **failure);
void model_free(struct model *m);
/* From now on it has so many objects: as many as it was made with, or one more. */
void model_resize(struct model *m, uint64_t objects);

/* ---- Strings: names of classes (in the JVM's inner form), fields, methods, signatures, source files, threads, and symbols that
 * nothing names. Each string's text is a function of its number. ---- */
enum { MODEL_STRING_MOST = 1024 };
size_t model_string(const struct model *m, uint32_t string, char out[MODEL_STRING_MOST]); /* no NUL; gives the length */

/* ---- Objects: the first ones are those that any heap has (thread objects, class loaders, the thread group), as far as
 * options.objects has room for them; then come the shape's. ---- */
void model_object(const struct model *m, uint64_t index, struct object *o);
uint64_t model_reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot);
/* Likewise the IDs of `count` of them, from slot `first` on: faster than one by one. There must be room for a multiple of
 * MODEL_IDS_STEP, and what is after the last is of no use. */
enum { MODEL_IDS_STEP = 4 };
void model_reference_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                         uint64_t *out);
static inline uint64_t model_object_id(const struct model *m, uint64_t object)
{
    return object == MODEL_NULL ? 0 : m->first_object_id + object * m->id_stride;
}
/* Elements of a primitive array, big-endian, from the first-th on, `size` bytes of them (whole elements). Text where the array
 * is a String's value, 0 and 1 where it is boolean. Cheap: about the speed of memory. */
void model_elements(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint8_t *out, size_t size);
/* Well mixed bits, a function of the seed and two numbers: for values of fields. */
uint64_t model_random(const struct model *m, uint64_t a, uint64_t b);

/* ---- Classes that any heap has, by their index ---- */
enum model_core_class {
    CORE_OBJECT,
    CORE_CLASS,
    CORE_STRING,
    CORE_THREAD,
    CORE_THREAD_GROUP,
    CORE_CLASS_LOADER,
    CORE_OBJECT_ARRAY,
    CORE_STRING_ARRAY,
    CORE_BOOLEAN_ARRAY,
    CORE_CHAR_ARRAY,
    CORE_FLOAT_ARRAY,
    CORE_DOUBLE_ARRAY,
    CORE_BYTE_ARRAY,
    CORE_SHORT_ARRAY,
    CORE_INT_ARRAY,
    CORE_LONG_ARRAY,
    CORE_RUNNABLE /* an interface */,
    CORE_CLASSES
};
uint64_t model_class_loader(const struct model *m, uint32_t class);          /* object; MODEL_NULL for the bootstrap loader */
uint64_t model_static(const struct model *m, uint32_t class, uint32_t slot); /* object that the slot-th object static names */

/* ---- Threads and their stacks: options.threads of them, options.stack_depth frames each, the innermost first ---- */
uint64_t model_thread_object(const struct model *m, uint64_t thread); /* MODEL_NULL if the heap is too small */
uint32_t model_thread_name(const struct model *m, uint64_t thread);   /* string */
uint32_t model_thread_group_name(const struct model *m);              /* string */
/* Thread t's frame d has the number t * stack_depth + d. */
void model_frame(const struct model *m, uint64_t thread, uint64_t depth, struct model_frame *frame);
/* What a local variable of that frame holds; MODEL_NULL for none. */
uint64_t model_local(const struct model *m, uint64_t thread, uint64_t depth);

/* ---- Roots beside those of the stacks: what JNI globals hold ---- */
uint64_t model_global_count(const struct model *m);
uint64_t model_global(const struct model *m, uint64_t index);  /* object */
uint64_t model_mirror(const struct model *m, uint64_t mirror); /* of options.mirrors; MODEL_NULL if the heap is too small */

#endif
