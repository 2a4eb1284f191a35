/* A made-up heap: classes, threads, stacks and objects. Each object is a function of the seed and its index, so memory depends
 * on the number of classes and threads, not on that of objects. The model does not know records or producers: objects, classes
 * and strings are numbers from 0, and the IDs of objects have equal distances. It uses integers only, so it is the same on
 * every machine. */
#ifndef HPROF_GEN_MODEL_H
#define HPROF_GEN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_UNSET UINT64_MAX
#define MODEL_NONE UINT32_MAX /* no class, no string */
#define MODEL_NULL UINT64_MAX /* no object */

enum { MODEL_UNIT = 1000 }; /* means are given in thousandths */

/* MODEL_UNSET means the default of the shape. */
struct heap_data; /* heap_data.h */

struct model_options {
    uint64_t seed; /* always given */
    uint64_t objects;
    uint64_t classes; /* without those of an idle VM */
    uint64_t threads;
    uint64_t stack_depth;
    uint64_t references;    /* mean, in thousandths */
    uint64_t array_length;  /* likewise */
    uint64_t string_length; /* likewise */
    uint64_t mirrors;       /* instances of java.lang.Class, for primitive types; fewer in a small heap */
    uint64_t loaders;       /* besides the application's; fewer in a small heap */
    enum virtual_threads {
        VIRTUAL_NONE,
        VIRTUAL_ON_CARRIERS, /* only their carriers are roots */
        VIRTUAL_AS_ROOTS
    } virtual_threads; /* of a program, on an idle VM */
    unsigned id_size;
    bool declared_order;          /* fields are in the order of the class file; else the last one is first */
    const struct heap_data *idle; /* what a VM holds before the program does anything; NULL for nothing */
    const struct heap_data *load; /* of shape_mixed; NULL for javac */
};

enum value_form { VALUE_ANY, VALUE_SMALL /* 0 to 127 */, VALUE_ZERO };

struct model_field {
    uint32_t name; /* string */
    uint8_t type;  /* enum basic_type */
    uint8_t form;  /* enum value_form, of a primitive field: the coder of a String is 0 or model_is_utf16(), a size is small */
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
    uint32_t loader;           /* 0: that of its package; 1: the application's; from 2 on the others */
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

/* A shape: the kinds of objects, and what they refer to. */
struct shape {
    const char *name;
    const char *about;                /* one line for --help */
    unsigned takes;                   /* bits of enum shape_option: the options that the shape takes */
    uint64_t threads, stack_depth;    /* the defaults; fewer threads in a small heap */
    bool (*prepare)(struct model *m); /* adds its classes; false: m->failure says why */
    void (*resize)(struct model *m);  /* options.objects has changed by one. NULL: the shape keeps nothing that depends on it */
    void (*object)(const struct model *m, uint64_t index, struct object *o);
    /* The values of an instance or an array are made piece by piece. `slot` counts the fields of type object, those of the
     * class first, or the elements. Returns an object, or MODEL_NULL. */
    uint64_t (*reference)(const struct model *m, uint64_t index, const struct object *o, uint64_t slot);
    /* The IDs for `count` slots, from `first` on. NULL: they are made one by one. */
    void (*reference_ids)(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                          uint64_t *out);
};

enum shape_option { SHAPE_TAKES_REFERENCES = 1, SHAPE_TAKES_ARRAY_LENGTH = 2, SHAPE_TAKES_STRING_LENGTH = 4 };

extern const struct shape *const shapes[]; /* mixed first; NULL after the last */

struct model {
    struct model_options options;        /* with no option unset */
    uint64_t first_object_id, id_stride; /* of object 0, and the distance to the next; 0 and 1 until they are set */
    const struct shape *shape;
    struct model_class *classes;
    uint32_t class_count;
    struct model_field *fields;
    uint32_t field_count;
    uint32_t string_count;
    uint64_t longest_object; /* an upper limit for the body of any object, in bytes */
    void *of_shape;          /* memory of the shape */
    const char *failure;
};

/* Returns NULL with *failure if a value makes no sense for the shape, or there are too many classes. *failure is NULL if memory
 * ran out. */
struct model *model_new(const struct shape *shape, const struct model_options *options, const char **failure);
void model_free(struct model *m);
/* Changes the number of objects: to the one it was made with, or to one more. */
void model_resize(struct model *m, uint64_t objects);

/* ---- The loads of shape_mixed: javac first; NULL after the last ---- */
const struct heap_data *load_at(size_t index);
const char *load_name(const struct heap_data *load);
const char *load_about(const struct heap_data *load);
bool load_is_none(const struct heap_data *load);

/* ---- Strings: names of classes (as in class files), fields, methods, signatures, source files, threads, and symbols without a
 * use. The text of a string is a function of its number. ---- */
enum { MODEL_STRING_MOST = 1024 };
size_t model_string(const struct model *m, uint32_t string,
                    char out[MODEL_STRING_MOST]); /* without a NUL; returns the length */

/* ---- Objects: first those of every heap (threads, class loaders, the thread group), as many as options.objects allows; then
 * those of an idle VM; then those of the shape. ---- */
void model_object(const struct model *m, uint64_t index, struct object *o);
uint64_t model_reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot);
/* The IDs for `count` slots, from `first` on: faster than one by one. The buffer must hold a multiple of MODEL_IDS_STEP; the
 * content after the last ID is undefined. */
enum { MODEL_IDS_STEP = 4 };
void model_reference_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                         uint64_t *out);
static inline uint64_t model_object_id(const struct model *m, uint64_t object)
{
    return object == MODEL_NULL ? 0 : m->first_object_id + object * m->id_stride;
}
/* Elements of a primitive array, big-endian, from index `first` on: `size` bytes of whole elements. Text if the array is the
 * value of a String, 0 and 1 if it is boolean. About as fast as memory. */
void model_elements(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint8_t *out, size_t size);
/* Whether the text of a String, or of the byte[] that holds one, is UTF-16, in the byte order of a little-endian machine. */
bool model_is_utf16(const struct model *m, uint64_t index, const struct object *o);
/* Of an instance before model_idle_objects(): the values that are not random. */
void model_values(const struct model *m, uint64_t index, const struct object *o, uint8_t *body);
/* Well mixed bits, a function of the seed and two numbers: for values of fields. */
uint64_t model_random(const struct model *m, uint64_t a, uint64_t b);

/* ---- The classes of every heap, by index ---- */
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
uint64_t model_class_loader(const struct model *m, uint32_t class); /* object; MODEL_NULL for the bootstrap loader */
uint64_t model_static(const struct model *m, uint32_t class,
                      uint32_t slot); /* the object that a static field of type object refers to */

/* ---- Threads and their stacks: options.threads of them, options.stack_depth frames each, the innermost first ---- */
uint64_t model_thread_object(const struct model *m, uint64_t thread); /* MODEL_NULL if the heap is too small */
uint32_t model_thread_name(const struct model *m, uint64_t thread);   /* string */
uint32_t model_thread_group_name(const struct model *m);              /* string */
/* Frame d of thread t has the number t * stack_depth + d. */
void model_frame(const struct model *m, uint64_t thread, uint64_t depth, struct model_frame *frame);
/* What a local variable of that frame holds; MODEL_NULL for none. */
uint64_t model_local(const struct model *m, uint64_t thread, uint64_t depth);

/* ---- Roots besides those of the stacks: JNI globals ---- */
uint64_t model_idle_objects(const struct model *m);                  /* the objects before those of the shape */
uint64_t model_share_of_idle(const struct model *m, uint64_t value); /* less in a heap that has no room for all of an idle VM */
uint64_t model_global_count(const struct model *m);
uint64_t model_global(const struct model *m, uint64_t index);  /* object */
uint64_t model_mirror(const struct model *m, uint64_t mirror); /* of options.mirrors; MODEL_NULL if the heap is too small */

#endif
