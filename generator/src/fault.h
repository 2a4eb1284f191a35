/* What the rows of faults.def are made of: where a rule can be broken, and the means to break it there. Between violate.c,
 * which chooses the places, and violate_*.c, which know what to do there, a chapter of SPEC.md each. */
#ifndef HPROF_GEN_FAULT_H
#define HPROF_GEN_FAULT_H

#include "encode.h"
#include "findings/rules.h"
#include "fresh_ids.h"
#include "violate.h"

enum fault_flag {
    CHANGES = 1,           /* changes the event at the place: one that nothing else has changed */
    ALONE = 2,             /* hides others, or would be hidden by them */
    ONCE = 4,              /* a second one of this rule would not be seen */
    ONLY_101 = 8,          /* of version 1.0.1 alone, */
    NOT_101 = 16,          /* of 1.0.2 and 1.0.3, */
    ONLY_103 = 32,         /* of 1.0.3, */
    NOT_103 = 64,          /* of 1.0.1 and 1.0.2 */
    ONLY_102 = 128,        /* of 1.0.2 */
    EVERYWHERE = 256,      /* sees all events from the first on, and finds its places by itself */
    GZIP = 512,            /* of the compressed file: not for us */
    LATE = 1024,           /* the string NAME is defined at the end of the file */
    NO_STRING_ZERO = 2048, /* not where a string has ID 0, */
    NO_THREAD_ZERO = 4096, /* or a root thread 0 */
    LAST_END = 8192,       /* not where another heap dump follows the last HEAP_DUMP_END */
    CLASSES_FIRST = 16384, /* not where an instance comes before a class */
    BESIDE_QUIRK = 32768   /* it CHANGES nothing that a producer's quirk may be about */
};

/* IDs and serials that occur nowhere in the dump: a fault has so many of its own. Named for what they mostly are. */
enum fresh_id { NAME, CLASS, FIELD, OBJECT, OTHER, MISSING, FRESH_IDS };
enum fresh_serial { CLASS_SERIAL, THREAD_SERIAL, TRACE_SERIAL, OTHER_SERIAL, FRESH_SERIALS };

/* What is before the event at hand. */
struct flow {
    bool series_open;     /* a HEAP_DUMP_SEGMENT, and no HEAP_DUMP_END */
    uint8_t heap_tag;     /* of the heap dump record at hand; 0 for none */
    uint64_t opened;      /* heap dump records, with the one at hand */
    uint64_t subrecords;  /* in all, */
    uint64_t in_record;   /* and of the record at hand, */
    uint64_t record_size; /* whose bytes so far are so many */
    uint32_t time;        /* of the record before */
    bool instances;       /* there are some in this heap dump */
    /* The record before is a heap dump record without a sub-record: what comes next decides what that is. */
    bool after_empty;
    uint64_t top_class; /* a class without superclass and fields that was dumped in this heap dump; 0 for none */
};

/* Heap dump records that have sub-records, some of them, at equal distances. */
enum { SAMPLES = 1024 };
struct sample {
    uint64_t opened;     /* its number, from 1 */
    uint64_t subrecords; /* before it, */
    uint64_t inside;     /* and of its own */
};

/* What the look finds out, beside the places. */
struct facts {
    uint64_t subrecords;
    struct sample samples[SAMPLES];
    size_t sample_count;
    uint64_t stride, seen;
    bool string_zero;  /* a string, */
    bool thread_zero;  /* a thread root or the thread of a root has the ID or the serial 0 */
    bool classes_late; /* a CLASS_DUMP comes after an instance */
    bool frames_again; /* a FRAME, or a TRACE, may appear twice: to change one of them would make them differ */
    uint8_t seen_frames[1 << 17];
    uint64_t last_segment;   /* the last HEAP_DUMP_SEGMENT before the last HEAP_DUMP_END, if no other comes after; else 0 */
    uint64_t segments_end;   /* while looking: the last HEAP_DUMP_SEGMENT */
    uint64_t long_heap_dump; /* the first HEAP_DUMP of more bytes than 32 bits can hold; 0 for none */
};

struct chosen {
    const struct fault *row;
    uint64_t places;      /* that the look found */
    bool shared;          /* some of them with other rows that change the same event */
    uint64_t first, left; /* of the places that may be taken */
    uint64_t at;          /* while breaking: the places gone by, */
    uint64_t done, due;   /* how often it was broken, and is yet to be */
    size_t base;          /* of its share of fresh numbers, in faults */
};

enum {
    VIOLATIONS_MOST = 1000000,          /* in all: each has IDs of its own */
    BODY_MOST = 64 << 10,               /* longer bodies are not changed, */
    SCRATCH = 2 * BODY_MOST + (8 << 10) /* and so this holds any that is made */
};

struct faults {
    struct stage look, break_;
    struct violate_options options;
    unsigned id_size;
    enum version version;
    struct chosen *chosen;
    size_t count;
    struct fresh_ids ids, serials;
    bool scanning, scanning_serials; /* the body of the event before has IDs, serials */
    struct facts facts;
    struct flow flow;

    /* While breaking. */
    struct chosen *present; /* the one that is at work, */
    uint64_t turn;          /* its number among those of this row */
    bool swallow;           /* the event at hand is not handed on */
    bool prepared;          /* what comes before the first heap dump */
    bool marked;            /* for EVERYWHERE */
    uint8_t scratch[SCRATCH];
    size_t scratch_fill;
};

/* What a row does: at the place, which is before the event, or the event itself if it CHANGES that. `variant` is the row's. */
typedef void fault_act(struct faults *v, struct event *e, int variant);
typedef bool fault_place(const struct faults *v, const struct event *e);

/* ---- For violate_*.c ---- */

/* Which of the events that count as places is the one for a row that works EVERYWHERE. */
uint64_t chosen_place(const struct faults *v);
/* That is so of this event, which is one of them. */
bool is_chosen_place(struct faults *v);

uint64_t fresh_id(const struct faults *v, enum fresh_id which);
uint32_t fresh_serial(const struct faults *v, enum fresh_serial which);

enum rule rule_at_work(const struct faults *v);
const char *variant_at_work(const struct faults *v);
/* The rule of the row at work is broken in this event, `at` bytes after its first. */
void break_at(const struct faults *v, struct event *e, uint64_t at);
/* Hands on an event of our own before the one at hand; a record gets the time of the one before. */
void insert(struct faults *v, struct event *e);

/* Bodies, and bytes in general: begun, filled, and given to an event. One at a time. */
void begin_bytes(struct faults *v);
void add_u1(struct faults *v, unsigned value);
void add_u2(struct faults *v, unsigned value);
void add_u4(struct faults *v, uint32_t value);
void add_id(struct faults *v, uint64_t value);
void add_zeros(struct faults *v, size_t n);
void add_bytes(struct faults *v, const void *bytes, size_t n);
void end_bytes(struct faults *v, struct event *e);
/* All bytes of a sub-record, which are few. */
enum { ENCODED_MOST = 512 };
size_t encode(const struct faults *v, const struct event *e, uint8_t to[ENCODED_MOST]);
void insert_raw(struct faults *v, const uint8_t *bytes, size_t n, bool broken); /* broken: at the first of them */
/* The body of the event, to be changed; it is whole. */
uint8_t *own_body(struct faults *v, struct event *e);

/* A FRAME or TRACE that may come again is left as it is, and the event becomes a new one. */
void keep_the_first(struct faults *v, struct event *e);

/* Valid records. */
void insert_utf8(struct faults *v, uint64_t id, const char *text);
void insert_load_class(struct faults *v, uint32_t serial, uint64_t class_id, uint64_t name, const char *text);
void insert_start_thread(struct faults *v, uint32_t serial, uint64_t name);
/* The sub-records. A class of these fields, types one after the other, each named FIELD; its superclass if none is named is one
 * without fields. */
struct event class_dump(struct faults *v, uint64_t class_id, uint64_t super_id, const char *types);
struct event instance_dump(struct faults *v, uint64_t id, uint64_t class_id, size_t bytes); /* zeros */
struct event object_array(uint64_t id, uint64_t class_id);
struct event primitive_array(struct faults *v, uint64_t id, enum basic_type type, uint32_t elements); /* zeros */
struct event root(unsigned tag, uint64_t object_id, uint32_t thread_serial, int32_t frame); /* of any tag that is one */
bool root_has_thread(unsigned tag);
void insert_object(struct faults *v, uint64_t id);
void insert_class(struct faults *v, uint64_t class_id, uint64_t super_id, const char *types);
void insert_thread_root(struct faults *v, uint32_t serial, uint32_t trace);

/* What a row may need before the first heap dump. */
fault_act prepare_class;           /* CLASS, CLASS_SERIAL, NAME "Broken", FIELD "value" */
fault_act prepare_two_classes;     /* and OTHER, OTHER_SERIAL */
fault_act prepare_array_class;     /* CLASS is "[LBroken;" */
fault_act prepare_int_array_class; /* CLASS is "[I" */
fault_act prepare_trace;           /* TRACE_SERIAL of `variant` frames of a class as the first has it */
fault_act prepare_strings;         /* NAME and FIELD */

/* Whether the body of an event, if it has any, is at hand and not too long to be changed. */
static inline bool is_whole(const struct event *e)
{
    return (e->body || !e->body_size) && e->body_size <= BODY_MOST;
}

/* The lists in the body of a CLASS_DUMP: where their first entries are, and how many they are. False if the body is not as it
 * should be. */
struct class_lists {
    size_t statics_at, fields_at;
    unsigned statics, fields;
};
bool find_lists(const struct faults *v, const struct event *e, struct class_lists *lists);

/* From here on a timestamp is odd: 2100-01-01, in milliseconds since 1970. */
#define TIMESTAMP_END UINT64_C(4102444800000)

#define NOTHING NULL

#define PLACE(name, words) fault_place place_##name;
#define FAULT(rule, variant, place, prepare, act, number, flags, about) fault_act act;
#include "faults.def"

#endif
