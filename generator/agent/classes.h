/* The classes of the program: their names, and where a heap dump has their fields. */
#ifndef AGENT_CLASSES_H
#define AGENT_CLASSES_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The types of the format. */
enum type { TYPE_OBJECT = 2, TYPE_BOOLEAN = 4, TYPE_CHAR, TYPE_FLOAT, TYPE_DOUBLE, TYPE_BYTE, TYPE_SHORT, TYPE_INT, TYPE_LONG };

enum class_kind { CLASS_INSTANCES, CLASS_OBJECT_ARRAY, CLASS_PRIMITIVE_ARRAY, CLASS_PRIMITIVE };

struct field {
    uint32_t name;
    enum type type;
    bool is_static;
    uint32_t offset; /* among the values of the class that are static, or that are not */
};

struct class_values; /* what a heap dump has met of a class: heap.c */

struct class
{
    uint32_t name;
    uint32_t signature; /* a name, too */
    uint64_t number;    /* of its ID */
    uint32_t site;      /* where the class object was allocated */
    enum class_kind kind;
    enum type element;                       /* of CLASS_PRIMITIVE_ARRAY */
    _Atomic(jweak) mirror;                   /* the class object, once sites.c has seen an instance; else NULL */
    bool is_load_written, is_unload_written; /* under the lock of the output */

    /* From here on: known to a thread that dumps the heap. */
    bool is_found, is_unloaded; /* whether the VM lists it */
    bool is_laid_out;
    bool is_dumped;  /* by the heap dump that is being written */
    uint32_t super;  /* 0 for Object and interfaces */
    uint64_t loader; /* the number of its object; 0: the bootstrap loader */
    uint32_t field_count;
    struct field *fields;
    uint32_t *interfaces; /* all superinterfaces, each once */
    uint32_t interface_count;
    uint32_t interface_fields, inherited_fields; /* JVM TI numbers fields after these */
    uint32_t static_bytes, own_bytes, total_bytes;
    _Atomic jlong object_size; /* of an instance, as the VM says; 0 until one is met */
    struct class_values *values;
};

struct class *class_at(uint32_t number);
uint32_t class_count(void);

/* The number of a class, which becomes known if it is not yet; 0 on failure. */
uint32_t class_of(jclass class);
uint32_t class_of_object(JNIEnv *env, jobject object);

/* By the tag of its class object; NULL if it is none. */
struct class *class_of_tag(jlong tag);
uint32_t class_serial(uint32_t number);

/* Makes all loaded classes known. Their local references, which keep them loaded, or NULL; vm_free frees the array. */
jclass *classes_find_all(jint *count);
void classes_lay_out(JNIEnv *env, jclass *classes, jint count);
void classes_start(JNIEnv *env); /* finds the classes of the platform that dumps ask for */
jclass class_of_classes(void);   /* java.lang.Class */

/* Between the two, these classes are in the heap dump, and have values. */
void classes_begin_dump(jclass *classes, jint count);
void classes_end_dump(void);

unsigned type_size(enum type type);

#endif
