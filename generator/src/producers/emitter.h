/* Emits the records of a made-up heap as a producer would, and has the parts of a dump that producers have in common. */
#ifndef HPROF_GEN_EMITTER_H
#define HPROF_GEN_EMITTER_H

#include "producers/producer.h"
#include "stream/source.h"

enum {
    PIECE_SIZE = 64 << 10, /* longer bodies, except those of classes, come in parts; a multiple of all sizes of values */
    TEXT_MOST = 2 * MODEL_STRING_MOST,
    SPARE_IDS = 16 /* IDs of nonexistent objects */
};

/* What is needed of a class to write its instances. */
struct hot_class {
    uint64_t id;
    uint32_t trace, bytes;
    uint32_t pattern;           /* in `patterns` */
    uint16_t words, references; /* of the pattern */
    bool patterned;             /* the class has a pattern */
    bool in_dump_before;        /* an earlier heap dump had an instance of it */
    uint64_t objects;           /* in the present heap dump, */
    uint64_t array_bytes;       /* and their bytes, if they are arrays */
};

/* The number and the bytes of the objects of a class. */
struct site {
    uint64_t objects, bytes;
    uint32_t class;
};

/* Classes and strings of the dump. */
struct emitter_counts {
    uint32_t own_classes, own_strings; /* of the producer */
    uint32_t class_count;              /* with those of the producer */
    uint32_t companions;               /* the number of classes, from the first on, that have a companion object */
    uint32_t archived;                 /* objects that the list of roots of the archive names and that are not dumped */
    uint32_t string_count;             /* with those of the producer, and the names of its classes */
};

/* The state of a run; the rest of an emitter stays the same. */
struct emitter_run {
    struct stage *to;
    const bool *stop;
    enum detail detail;
    uint8_t *written; /* bits: strings that were written */
    unsigned dump;    /* complete heap dumps */
    uint64_t given;   /* records */
    uint32_t pause;   /* added to the time of each record */
    uint32_t last_time;
    bool has_ints; /* an int[][] was written, by a producer that names the class of the elements */
};

struct emitter {
    const struct producer *producer;
    struct model *model;
    enum version version;
    unsigned id_size;
    unsigned records; /* bits of WRITES_* */
    unsigned heap_dumps;
    uint64_t objects; /* in all heap dumps */
    uint8_t heap_tag;
    struct id_forms ids;
    struct emitter_counts counts;
    uint8_t *class_names;  /* bits: strings that are names of classes */
    uint32_t *traces;      /* by class: the stack trace of it and its objects */
    struct hot_class *hot; /* by class of the model */
    uint64_t *patterns;
    uint8_t *room;      /* buffer for bodies: PIECE_SIZE or the longest CLASS_DUMP, and some bytes more */
    struct site *sites; /* one for each class; NULL unless they are wanted */

    struct emitter_run run;
    char text[TEXT_MOST + 1];
};

/* Of `class_names` and `written`. */
static inline bool get_bit(const uint8_t *bits, uint32_t n)
{
    return bits[n / 8] >> n % 8 & 1;
}

static inline void set_bit(uint8_t *bits, uint32_t n)
{
    bits[n / 8] = (uint8_t)(bits[n / 8] | 1u << n % 8);
}

/* ---- Numbers to IDs and serials ---- */

static inline uint64_t id_of(const struct ids *ids, uint64_t number)
{
    return ids->base + number * ids->stride;
}

static inline uint64_t object_id(const struct emitter *em, uint64_t object)
{
    return model_object_id(em->model, object);
}

/* The producer's own classes have numbers after those of the model. */
static inline uint64_t class_id(const struct emitter *em, uint32_t class)
{
    return class == MODEL_NONE ? 0 : id_of(&em->ids.objects, class) + em->producer->numbers.class_offset;
}

static inline uint32_t class_serial(const struct emitter *em, uint32_t class)
{
    return em->producer->numbers.class_start + class;
}

static inline uint32_t thread_serial(const struct emitter *em, uint64_t thread)
{
    return em->producer->numbers.thread_start + (uint32_t)thread;
}

static inline uint32_t thread_trace(const struct emitter *em, uint64_t thread)
{
    return em->producer->numbers.trace_start + 1 + (uint32_t)thread;
}

uint64_t missing_id(const struct emitter *em, unsigned number);    /* of a nonexistent object; up to SPARE_IDS of them */
uint64_t any_object_id(const struct emitter *em, uint64_t number); /* of an object, or of a class if there are no objects */
uint32_t own_class(const struct emitter *em, unsigned number);
uint32_t field_bytes(const struct emitter *em, uint32_t class); /* of an instance */
uint32_t own_string(const struct emitter *em, int number);
uint32_t class_name_string(const struct emitter *em, uint32_t class);

/* The ID of a string; 0 for MODEL_NONE. Defines the string if it is undefined, so within a heap dump only for defined ones. */
uint64_t named(struct emitter *em, uint32_t string);

/* Makes `hot` and `patterns`. False without memory. */
bool prepare_objects(struct emitter *em);

/* ---- To give ---- */

/* Sets the time as this producer does. */
void give_record(struct emitter *em, struct event *e);
void give_open(struct emitter *em);
void give_close(struct emitter *em);
void give_string(struct emitter *em, uint32_t string);
void give_frame(struct emitter *em, uint64_t thread, uint64_t depth, int broken_rule); /* NO_RULE for none */
void give_trace(struct emitter *em, uint64_t thread);
/* Of eight frames of the program, one is of a generated class, without a source and lines, and one of a class that was compiled
 * without lines. */
void leave_out_lines(struct model_frame *frame, uint64_t number, uint32_t generated);
void give_dummy_trace(struct emitter *em, uint32_t thread);
void give_load(struct emitter *em, uint32_t class, uint32_t serial);
void give_root(struct emitter *em, uint8_t tag, uint64_t object);
void give_root_of_nothing(struct emitter *em, uint8_t tag, uint64_t missing); /* by quirk */
void give_root_of_thread(struct emitter *em, uint8_t tag, uint64_t object, uint64_t thread);

/* ---- Parts ---- */

/* Records. */
part part_settings, part_strings, part_class_names, part_loads, part_field_names, part_frame_names, part_dummy_trace,
    part_traces, part_starts, part_unload, part_sites, part_samples, part_summary;
/* Sub-records. */
part part_classes, part_objects, part_threads, part_globals, part_sticky_classes, part_sticky_arrays, part_monitors,
    part_unknown_roots, part_archive, part_root_of_archive;

#endif
