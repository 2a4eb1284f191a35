/* A producer as data: what it can write; the form of its IDs, serials, names and times; the parts of its dumps and their order;
 * its quirks. One for each producer, in a file of its name. */
#ifndef HPROF_GEN_PRODUCER_H
#define HPROF_GEN_PRODUCER_H

#include "findings/rules.h"
#include "heap/model.h"
#include "stream/event.h"
#include "stream/segments.h"

struct emitter; /* emitter.h */

/* A part of a dump: emits its records or sub-records. */
typedef void part(struct emitter *em);
/* Changes an event, before it is given, to what this producer writes. */
typedef void touch(struct emitter *em, struct event *e, uint64_t number);

/* IDs are linear: base + number * stride. */
struct ids {
    uint64_t base, stride;
};
struct id_forms {
    struct ids strings, frames, objects /* classes first */, references /* of JNI globals */;
};

/* Optional records. */
enum {
    WRITES_SITES = 1,
    WRITES_SAMPLES = 2,
    WRITES_SUMMARY = 4,
    WRITES_THREADS = 8, /* START_THREAD, END_THREAD */
    WRITES_UNLOADS = 16,
    WRITES_SETTINGS = 32, /* CONTROL_SETTINGS */
    WRITES_ALL = 63
};

enum name_style {
    NAMES_INNER,  /* java/lang/String, [Ljava/lang/String;, [I */
    NAMES_DOTTED, /* java.lang.String, [Ljava.lang.String;, [I */
    NAMES_SOURCE  /* java.lang.String, java.lang.String[], int[] */
};
enum time_style { TIME_ZERO, TIME_MICROSECONDS, TIME_AGENT /* milliseconds, in microseconds */, TIME_MILLISECONDS };
enum trace_style { TRACE_NONE, TRACE_DUMMY, TRACE_OF_ALLOCATION };
enum constant_style { CONSTANTS_NONE, CONSTANTS_OBJECTS, CONSTANTS_ALL };

/* A class that is not in the model. */
struct own_class {
    const char *name; /* as it is written */
    uint32_t super;   /* enum model_core_class; MODEL_NONE for none */
    bool absent;      /* it has a LOAD_CLASS but no CLASS_DUMP */
};

/* A static field of type object that is not in the model, in each class whose number modulo `each` is `rest`. */
struct own_static {
    int name;            /* one of the producer's own strings */
    uint32_t each, rest; /* each is 0 after the last */
    uint64_t (*value)(const struct emitter *em,
                      uint32_t class); /* its value, in array classes too; NULL: null, and not in array classes */
};

/* What files it can write: bit 1 << V for version V, bit 1 << n for IDs of n bytes. Then the defaults. */
struct producer_file {
    unsigned versions, id_sizes;
    enum version version;
    unsigned id_size;
    uint64_t segment_size;            /* from 1.0.2 on; 0 for one HEAP_DUMP */
    uint64_t compressed_segment_size; /* 0 for the same as segment_size */
    uint64_t segment_objects;         /* sub-records; 0 for any number */
    enum segments_cut segments_cut;
    bool resets_heap;   /* segments.h */
    bool without_clock; /* the header's timestamp is 0 */
};

struct producer_numbers {
    struct id_forms ids4, ids8;
    uint64_t id_limit4;                              /* 4-byte IDs of objects are below this */
    uint64_t class_offset;                           /* the ID of a class is this far after the address of its class */
    uint32_t class_start, thread_start, trace_start; /* the first serial numbers; trace_start is the empty trace */
};

struct producer_style {
    enum name_style names;
    enum time_style time;
    enum trace_style traces; /* of classes and objects */
    enum constant_style constants;
    int32_t lowest_line, line_unknown; /* lines below the first become the second */
    bool names_threads;                /* a trace names its thread */
    bool thread_blocks;                /* a ROOT_THREAD_BLOCK for each thread */
    bool omits_java_frames;            /* roots of threads are objects and JNI locals */
    bool unknown_site;                 /* one allocation site is of a class that was never loaded */
    uint32_t cutoff;                   /* of the sites */
    uint16_t asked_flags;              /* of the sites that a client requests, with the heap summary: as in the command */
};

/* What it writes that is not of the model. */
struct producer_own {
    const struct own_class *classes; /* the last one has no name */
    const char *const *strings;      /* up to NULL */
    const struct own_static *statics;
};

struct producer_heap {
    bool companion_objects;       /* each class has a companion object, which counts as one of --objects */
    unsigned mirrors;             /* instances of java.lang.Class, for the primitive types */
    unsigned loaders;             /* besides the application's */
    bool declared_order;          /* fields are in the order of the class file; else the last one is first */
    const struct heap_data *idle; /* heap_data.h; NULL for none */
    enum virtual_threads virtual_threads;
    unsigned archived_mirrors; /* the list of roots of the archive, which counts as one of --objects, names so many objects
                                  that are not dumped; fewer in a small heap */
    unsigned bad_booleans;     /* the number of boolean[] that hold a 7: OBJ-009 */
    bool element_classes;      /* an object array names the class of its elements: 0 for Object[], int[] for int[][] */
    bool cuts_nulls;           /* trailing nulls of object arrays are left out */
    bool leaves_out_elements;  /* 1.0.3: one primitive array has no elements */
};

/* Each changes a record, or gives others, before the record is given. */
struct producer_hooks {
    touch *on_load, *on_start, *on_trace, *on_thread, *on_local, *on_class; /* the number of the class, thread or frame */
    void (*before_class)(struct emitter *em, uint32_t class);               /* its CLASS_DUMP */
    void (*on_frame)(struct emitter *em, struct model_frame *frame, uint64_t number);
};

/* Each up to NULL: once before the first heap dump; in each heap dump; after each (NULL for none); once after the last. */
struct producer_parts {
    part *const *before, *const *dump, *const *beside, *const *after;
};

struct producer {
    const char *name, *about;
    const char *profile; /* the profile of hprof-validate */
    struct producer_file file;
    unsigned records, usual,
        always; /* bits of WRITES_*: all that it can write, those of RECORDS_DEFAULT, those of every dump */
    struct producer_numbers numbers;
    struct producer_style style;
    struct producer_own own;
    struct producer_heap heap;
    struct producer_hooks hooks;
    struct producer_parts parts;
};

extern const struct producer producer_plain, producer_hotspot, producer_hotspot_8, producer_hotspot_11, producer_hotspot_17,
    producer_hotspot_21, producer_hotspot_25, producer_hotspot_28, producer_jdk8_agent, producer_jvmpi_agent, producer_sa,
    producer_sa_11, producer_sa_17, producer_sa_21, producer_sa_25, producer_sa_28, producer_graalvm, producer_mat,
    producer_android;

#endif
