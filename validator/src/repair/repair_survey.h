/* What a copy has and what it lacks, found by reading it once: for stand-ins. */
#ifndef HPROF_REPAIR_SURVEY_H
#define HPROF_REPAIR_SURVEY_H

#include "repair/repair_copy.h"

/* A value for which most of the weight votes: the majority if there is one. */
struct vote {
    uint64_t value, weight;
};

static inline void vote(struct vote *v, uint64_t value, uint64_t weight)
{
    if (v->value == value) {
        v->weight += weight;
    } else if (v->weight < weight) {
        v->value = value;
        v->weight = weight - v->weight;
    } else {
        v->weight -= weight;
    }
}

/* A class that is loaded, dumped, or only used. What is about dumps is of the heap dump with the number `heap_dump`. */
struct seen_class {
    uint64_t id, heap_dump;
    uint64_t at;                   /* offset of the CLASS_DUMP */
    uint64_t super, own, declared; /* of the CLASS_DUMP: the bytes of its own fields, and of its instances as it says */
    uint64_t instances, arrays, subclasses; /* in all heap dumps */
    struct vote size;                       /* of its instances; of a missing class, also as far as its subclasses tell */
    uint64_t below, missing; /* once `is_resolved`: bytes of the fields from here up to the missing class, and its index */
    uint8_t array_type;      /* of a class of primitive arrays that is made */
    bool is_loaded, is_dumped;
    bool is_here, is_used, has_instances; /* in this heap dump: dumped, used */
    bool is_resolved, is_doubted, is_left_out;
    size_t walk, chain; /* in this heap dump: the walks, for cycles and to resolve it, that met it last */
    bool is_counted;
};
#define NOT_MISSING UINT64_MAX
enum { SURVEY_DEPTH_MOST = 1 << 16 /* no stack is deeper in a dump */, SURVEY_FRAMES_MOST = 1 << 20 };

enum { LATEST_CLASSES = 256 };

enum named_kind { NAMED_CLASS, NAMED_SIGNATURE, NAMED_OTHER };

struct survey {
    struct repair *r;
    bool only_doubts; /* it is read for doubt_classes() */
    uint32_t time;    /* of the first record */

    struct seen_class *classes;
    size_t class_count, class_capacity;
    struct keymap class_index;     /* by ID */
    size_t latest[LATEST_CLASSES]; /* of the classes that were seen last, by ID: the index, or 0 */
    size_t *touched;               /* indices of those that the present heap dump has or uses */
    size_t touched_count, touched_capacity;
    unsigned array_types;                                /* of the arrays of the present heap dump, bits by element type */
    uint64_t primitive_arrays[TYPE_LONG + 1];            /* by element type, in all heap dumps */
    uint64_t array_classes[TYPE_LONG + 1], object_class; /* IDs of loaded classes, or of new ones; 0 for none */
    bool is_object_new;                                  /* java.lang.Object was not loaded */

    struct keymap strings; /* those that are defined: ID to enum text_kind */
    struct keymap named;   /* those that are named before they are defined, if ever */
    struct named {
        uint64_t id, class_id;
        enum named_kind kind;
    } * names; /* the same, in their order */
    size_t name_count, name_capacity;
    struct keymap serials; /* class serials; 1 if they are defined, 0 if only frames name them */
    struct named_numbers {
        uint64_t *at;
        size_t count, capacity;
    } named_serials, named_frames; /* those that are named before they are defined, if ever */
    struct keymap traces, used_traces;
    uint32_t *trace_serials; /* those that are used before they are defined, if ever */
    size_t trace_count, trace_capacity;
    uint32_t last_trace;
    struct keymap depths;                   /* by thread serial: the frames that roots name, at least */
    struct keymap thread_traces;            /* by stack trace serial: the serial of its thread */
    struct keymap traces_of_threads;        /* by thread serial: the stack trace that alone names it; 0 if several do */
    bool traces_agree, traces_differ;       /* with what ROOT_THREAD_OBJECTs name: not all producers number threads alike */
    struct keymap threads;                  /* serials; the last heap dump that has their ROOT_THREAD_OBJECT */
    struct keymap rooted_threads;           /* serials that roots name; in the last of these heap dumps */
    struct named_numbers dump_threads;      /* the same, in the present heap dump; or they are defined there later */
    struct keymap frames;                   /* IDs of frames; 1 if they are defined, 0 if only stack traces name them */
    uint64_t frame;                         /* the ID of the frame of stand-ins for stack traces; 0 for none yet */
    uint32_t frame_class;                   /* the serial number of the class of stand-ins for frames; 0 for none yet */
    uint64_t frame_method, frame_signature; /* their strings */
    uint64_t frames_left; /* that may still be made, in stand-ins for stack traces or for themselves: real dumps have fewer */

    uint64_t fields_left; /* of all stand-ins for classes: damaged bytes may declare any size */
    uint64_t *field_names;
    size_t field_name_count, field_name_capacity;
    uint64_t last_string;
    uint32_t last_serial;

    uint8_t page[512]; /* IDs that a new class may have: which ones are used */
};

/* ---- survey_classes.c ---- */

/* A class that was seen, or NULL. */
struct seen_class *survey_class(struct survey *v, uint64_t id);
/* The same, a new one if it was not seen yet; NULL without memory. */
struct seen_class *survey_find_class(struct survey *v, uint64_t id);
/* The same, as one that the present heap dump has or uses. */
struct seen_class *survey_touch_class(struct survey *v, uint64_t id);
/* The ID of a class that is not in the dump; 0 if there is none left. */
uint64_t survey_new_class(struct survey *v);
/* How many primitive arrays have this class, by its name. */
uint64_t survey_primitive_arrays(const struct survey *v, uint64_t class_id);

/* Whether it is a class of arrays, as most of its objects say. */
static inline bool is_of_arrays(const struct seen_class *c)
{
    return c->arrays > c->instances + c->subclasses;
}

/* An object has this ID. */
void survey_note_id(struct survey *v, uint64_t id);

/* ---- survey_heap_dump.c ---- */

/* The bytes of the fields of an instance, by the CLASS_DUMPs of the present heap dump, which ends. False if one is missing. */
bool survey_fields_of(struct survey *v, size_t index, uint64_t *bytes);
/* Makes the classes and threads that the present heap dump lacks. */
void survey_end_heap_dump(struct survey *v);

/* ---- repair_doubt.c ---- */

/* The heap dump ends: leaves out classes that most of their instances contradict. False if superclasses make cycles: then one class
 * of each is left out. */
bool doubt_classes(struct survey *v);

/* ---- repair_misfits.c ---- */

/* Decides for each class whether its name is wrong, or its objects that are misfits get a new class. */
void misfits_decide(struct survey *v);

/* ---- repair_stand_ins.c ---- */

/* A CLASS_DUMP for the present heap dump; its instances have as many bytes of fields of the superclass and of its own. False if a
 * class cannot have so many fields. */
bool survey_make_class(struct survey *v, const struct seen_class *c, uint64_t super, uint64_t inherited, uint64_t own);
/* A ROOT_THREAD_OBJECT for the present heap dump; which object the thread is, is not known. */
void survey_make_thread(struct survey *v, uint32_t serial);
/* All records, once the whole copy was read. */
void survey_make_definitions(struct survey *v);

#endif
