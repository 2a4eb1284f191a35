/* A heap that is made up: classes, threads, stacks, and objects that are functions of the seed and their index, never a
 * table. Memory is bounded by the classes and threads, whatever the number of objects. Knows nothing of records, IDs or
 * producers: objects, classes, strings are numbers from 0. Integer arithmetic only: the same everywhere. */
#ifndef HPROF_GEN_MODEL_H
#define HPROF_GEN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_UNSET UINT64_MAX
#define MODEL_NONE UINT32_MAX /* no class, no string */
#define MODEL_NULL UINT64_MAX /* no object */

enum { MODEL_UNIT = 1000 }; /* means are given in thousandths */

/* MODEL_UNSET stands for what the shape takes of itself. */
struct model_options {
    uint64_t seed;
    uint64_t objects;
    uint64_t classes;
    uint64_t threads;
    uint64_t stack_depth;
    uint64_t references;    /* mean, in thousandths */
    uint64_t array_length;  /* likewise */
    uint64_t string_length; /* likewise */
    unsigned id_size;
};

struct model_field {
    uint32_t name; /* string */
    uint8_t type;  /* enum basic_type */
};

struct model_class {
    uint32_t name;        /* string: "java/lang/String", "[Ljava/lang/String;", "[I" */
    uint32_t super;       /* class; MODEL_NONE for java/lang/Object */
    uint32_t first_field; /* in model.fields: its own */
    uint16_t fields;
    uint16_t statics;          /* in model.fields behind those */
    uint32_t instance_bytes;   /* own fields and those of the superclasses */
    uint32_t next_with_fields; /* the nearest superclass that has fields of its own; MODEL_NONE for none */
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
    bool (*prepare)(struct model *m); /* adds its classes; false: m->failure says why */
    void (*object)(const struct model *m, uint64_t index, struct object *o);
    /* The values of an instance's body or an array's elements are made piece by piece: `slot` counts the object's fields of type
     * object, those of the class first, or its elements. Gives an object, or MODEL_NULL. */
    uint64_t (*reference)(const struct model *m, uint64_t index, const struct object *o, uint64_t slot);
};

enum shape_option {
    SHAPE_TAKES_CLASSES = 1,
    SHAPE_TAKES_REFERENCES = 2,
    SHAPE_TAKES_ARRAY_LENGTH = 4,
    SHAPE_TAKES_STRING_LENGTH = 8
};

extern const struct shape *const shapes[]; /* mixed first; NULL behind the last */

struct model {
    struct model_options options; /* nothing unset any more */
    const struct shape *shape;
    struct model_class *classes;
    uint32_t class_count;
    struct model_field *fields;
    uint32_t field_count;
    uint32_t string_count;
    uint64_t deepest_chain;
    uint64_t longest_object; /* bytes of the body of the longest object, at the most */
    void *of_shape;          /* what the shape keeps */
    const char *failure;
};

#endif
