/* One walk over a made-up heap in a producer's manner, and the parts of a dump that producers have in common. */
#ifndef HPROF_GEN_EMITTER_H
#define HPROF_GEN_EMITTER_H

#include "producer.h"
#include "source.h"

enum {
    PIECE_SIZE = 64 << 10, /* bodies up to this are given whole, but for classes; a multiple of all sizes of values */
    TEXT_MOST = 2 * MODEL_STRING_MOST,
    SPARE_IDS = 16 /* IDs of objects that are not there */
};

/* A class as the writing of its instances wants it. */
struct hot_class {
    uint64_t id;
    uint32_t trace, bytes;
    uint32_t pattern;           /* in `patterns` */
    uint16_t words, references; /* of the pattern */
    bool patterned;             /* there is one */
    bool in_dump_before;        /* there was one of them in a heap dump before this one */
    uint64_t objects;           /* of the heap dump at hand, */
    uint64_t array_bytes;       /* and their bytes, if they are arrays */
};

/* What the objects of a class take. */
struct site {
    uint64_t objects, bytes;
    uint32_t class;
};

struct emitter {
    /* Settled once. */
    const struct producer *producer;
    struct model *model;
    enum version version;
    unsigned id_size;
    unsigned records; /* bits of WRITES_* */
    unsigned heap_dumps;
    uint64_t objects; /* in all of them */
    uint8_t heap_tag;
    struct id_forms ids;
    uint32_t own_classes, own_strings;
    uint32_t class_count;  /* with its own */
    uint32_t beside;       /* so many classes, the first, have an object beside them */
    uint32_t string_count; /* with its own, and the names of its own classes */
    uint8_t *class_names;  /* bits: strings that are names of classes */
    uint32_t *traces;      /* by class: the stack trace of it and its objects */
    struct hot_class *hot; /* by class of the model */
    uint64_t *patterns;
    uint8_t *room;      /* for bodies: PIECE_SIZE or the longest CLASS_DUMP, and some bytes more */
    struct site *sites; /* room for one for each class; NULL unless they are wanted */

    /* Of a run. */
    struct stage *to;
    const bool *stop;
    enum detail detail;
    uint8_t *written; /* bits: strings that were */
    unsigned dump;    /* heap dumps that are done */
    uint64_t given;   /* records */
    uint32_t pause;   /* added to the time */
    uint32_t last_time;
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

/* Own classes come after those of the model. */
static inline uint64_t class_id(const struct emitter *em, uint32_t class)
{
    return class == MODEL_NONE ? 0 : id_of(&em->ids.objects, class) + em->producer->class_offset;
}

static inline uint32_t class_serial(const struct emitter *em, uint32_t class)
{
    return em->producer->class_start + class;
}

static inline uint32_t thread_serial(const struct emitter *em, uint64_t thread)
{
    return em->producer->thread_start + (uint32_t)thread;
}

static inline uint32_t thread_trace(const struct emitter *em, uint64_t thread)
{
    return em->producer->trace_start + 1 + (uint32_t)thread;
}

uint64_t missing_id(const struct emitter *em, unsigned number);    /* of no object; up to SPARE_IDS */
uint64_t any_object_id(const struct emitter *em, uint64_t number); /* of an object, or a class where there is none */
uint32_t own_class(const struct emitter *em, unsigned number);
uint32_t field_bytes(const struct emitter *em, uint32_t class); /* of an instance */
uint32_t own_string(const struct emitter *em, int number);
uint32_t class_name_string(const struct emitter *em, uint32_t class);

/* The ID of a string, which is defined here if it is not yet; 0 for MODEL_NONE. Not within a heap dump, but for strings that are
 * defined. */
uint64_t named(struct emitter *em, uint32_t string);

/* Makes `hot` and `patterns`. False without memory. */
bool prepare_objects(struct emitter *em);

/* ---- To give ---- */

/* With the time it has in this producer's dump. */
void give_record(struct emitter *em, struct event *e);
void give_open(struct emitter *em);
void give_close(struct emitter *em);
void give_string(struct emitter *em, uint32_t string);
void give_frame(struct emitter *em, uint64_t thread, uint64_t depth, int broken_rule); /* NO_RULE for none */
void give_trace(struct emitter *em, uint64_t thread);
/* Of eight frames of the program one is of a generated class, which has neither a source nor lines, and one of a class that was
 * compiled without lines. */
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
    part_unknown_roots;

#endif
