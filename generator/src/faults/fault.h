/* What the rows of faults.def use: the places where a rule can be broken, and the means to break it. engine.c chooses the
 * places; a file for each chapter of SPEC.md breaks the rules there. */
#ifndef HPROF_GEN_FAULT_H
#define HPROF_GEN_FAULT_H

#include "faults/engine.h"
#include "faults/fresh_ids.h"
#include "findings/rules.h"
#include "stream/encode.h"

enum fault_flag {
    CHANGES = 1,           /* changes the event at the place, which no other fault has changed */
    ALONE = 2,             /* would hide other faults, or be hidden by them */
    ONCE = 4,              /* a second fault of this rule would not be found */
    ONLY_101 = 8,          /* only in version 1.0.1, */
    NOT_101 = 16,          /* in 1.0.2 and 1.0.3, */
    ONLY_103 = 32,         /* in 1.0.3, */
    NOT_103 = 64,          /* in 1.0.1 and 1.0.2, */
    ONLY_102 = 128,        /* in 1.0.2 */
    EVERYWHERE = 256,      /* sees all events, and finds its places itself */
    GZIP = 512,            /* a fault of the compressed file: the gzip writer plants it */
    LATE = 1024,           /* the string NAME is defined at the end of the file */
    NO_STRING_ZERO = 2048, /* not if a string has ID 0, */
    NO_THREAD_ZERO = 4096, /* or a root has thread 0 */
    LAST_END = 8192,       /* not if a heap dump follows the last HEAP_DUMP_END */
    CLASSES_FIRST = 16384, /* not if an instance precedes a class */
    HUGE_DUMP = 65536,     /* the dump gets more than 4 GiB */
    BESIDE_QUIRK = 32768   /* the fields that it CHANGES have nothing to do with a quirk */
};

/* The IDs and serial numbers, found nowhere else in the dump, that each fault has. The names say their usual role. */
enum fresh_id { NAME, CLASS, FIELD, OBJECT, OTHER, TOP, MISSING, FRESH_IDS };
enum fresh_serial { CLASS_SERIAL, THREAD_SERIAL, TRACE_SERIAL, OTHER_SERIAL, TOP_SERIAL, FRESH_SERIALS };

/* What precedes the present event. */
struct flow {
    bool series_open;     /* a HEAP_DUMP_SEGMENT, and no HEAP_DUMP_END */
    uint8_t heap_tag;     /* of the present heap dump record; 0 for none */
    uint64_t opened;      /* heap dump records, with the present one */
    uint64_t subrecords;  /* sub-records in all, */
    uint64_t in_record;   /* and of the present record, */
    uint64_t record_size; /* which has this many bytes so far */
    bool in_use;          /* a record other than strings and loaded classes that need no other record */
    uint32_t time;        /* of the preceding record */
    bool instances;       /* this heap dump has some */
    /* The preceding record is an empty heap dump record. The next record decides which rule it breaks. */
    bool after_empty;
    uint64_t top_class; /* a class without superclass and fields that this heap dump has; 0 for none */
};

/* A sample of the heap dump records with sub-records, at equal distances. */
enum { SAMPLES = 1024 };
struct sample {
    uint64_t opened;     /* its number, from 1 */
    uint64_t subrecords; /* sub-records before it, */
    uint64_t inside;     /* and in it */
};

/* What the first pass finds out, besides the places. */
struct facts {
    uint64_t subrecords;
    struct sample samples[SAMPLES];
    size_t sample_count;
    uint64_t stride, seen;
    bool string_zero;  /* a string, */
    bool thread_zero;  /* a thread root has ID 0, or a root has thread 0 */
    bool classes_late; /* a CLASS_DUMP follows an instance */
    bool frames_again; /* a FRAME or a TRACE may appear twice, and changing one of them would break another rule */
    uint8_t seen_frames[1 << 17];
    uint64_t last_segment;   /* the last HEAP_DUMP_SEGMENT before the last HEAP_DUMP_END, unless another follows; else 0 */
    uint64_t segments_end;   /* in the first pass: the last HEAP_DUMP_SEGMENT so far */
    uint64_t long_heap_dump; /* the first HEAP_DUMP of more bytes than 32 bits can hold; 0 for none */
};

struct chosen {
    const struct fault *row;
    uint64_t places;      /* found in the first pass */
    bool shared;          /* some of them in common with other rows that change the same event */
    uint64_t first, left; /* of the places that may be taken */
    uint64_t at;          /* in the second pass: places passed, */
    uint64_t done, due;   /* faults planted, and still to plant */
    size_t base;          /* the first of its fresh numbers, in faults */
};

enum {
    VIOLATIONS_MOST = 1000000,          /* the number of faults: each has IDs of its own */
    BODY_MOST = 64 << 10,               /* longer bodies are not changed; */
    SCRATCH = 2 * BODY_MOST + (8 << 10) /* so any new body fits */
};

struct faults {
    struct stage look, break_;
    struct violate_options options;
    unsigned id_size;
    enum version version;
    struct chosen *chosen;
    size_t count;
    struct fresh_ids ids, serials;
    bool seen;                       /* the first pass needs no more events */
    bool scanning, scanning_serials; /* the preceding event's body holds IDs, serial numbers */
    struct facts facts;
    struct flow flow;

    /* In the second pass. */
    struct chosen *present; /* the row at work, */
    uint64_t turn;          /* the number of its fault, among those of the row */
    bool swallow;           /* the present event is dropped */
    bool prepared;          /* the records before the first heap dump are written */
    bool marked;            /* for EVERYWHERE */
    uint8_t scratch[SCRATCH];
    size_t scratch_fill;
};

/* Plants the fault of a row before the event, or in the event if the row CHANGES it. `variant` is that of the row. */
typedef void fault_act(struct faults *v, struct event *e, int variant);
typedef bool fault_place(const struct faults *v, const struct event *e);

/* ---- For the chapters ---- */

/* For a row that works EVERYWHERE: which of its places is the chosen one. */
uint64_t chosen_place(const struct faults *v);
/* Whether this event, which is a place, is the chosen one. */
bool is_chosen_place(struct faults *v);

uint64_t fresh_id(const struct faults *v, enum fresh_id which);
uint32_t fresh_serial(const struct faults *v, enum fresh_serial which);

enum rule rule_at_work(const struct faults *v);
const char *variant_at_work(const struct faults *v);
/* Notes that this event breaks the rule of the row, at this offset in its bytes. */
void break_at(const struct faults *v, struct event *e, uint64_t at);
/* Inserts an event before the present one. A record gets the time of the preceding one. */
void insert(struct faults *v, struct event *e);

/* A body is begun, filled, and attached to an event. One at a time. */
void begin_bytes(struct faults *v);
void add_u1(struct faults *v, unsigned value);
void add_u2(struct faults *v, unsigned value);
void add_u4(struct faults *v, uint32_t value);
void add_id(struct faults *v, uint64_t value);
void add_zeros(struct faults *v, size_t n);
void add_bytes(struct faults *v, const void *bytes, size_t n);
void end_bytes(struct faults *v, struct event *e);
/* All bytes of a short sub-record. */
enum { ENCODED_MOST = 512 };
size_t encode(const struct faults *v, const struct event *e, uint8_t to[ENCODED_MOST]);
void insert_raw(struct faults *v, const uint8_t *bytes, size_t n, bool broken); /* the rule is broken at the first of them */
/* The body of the event, to be changed. It must be complete. */
uint8_t *own_body(struct faults *v, struct event *e);

/* A FRAME or TRACE that may be repeated stays as it is; the event becomes a new one. */
void keep_the_first(struct faults *v, struct event *e);

/* Valid records. */
void insert_utf8(struct faults *v, uint64_t id, const char *text);
void insert_load_class(struct faults *v, uint32_t serial, uint64_t class_id, uint64_t name, const char *text);
void insert_start_thread(struct faults *v, uint32_t serial, uint64_t name);
/* A record without a body; the start or the end of a heap dump record. */
void insert_mark(struct faults *v, enum event_kind kind, uint8_t tag);
/* Sub-records. A class with fields of these types, all named FIELD. The default superclass has no fields. */
struct event class_dump(struct faults *v, uint64_t class_id, uint64_t super_id, const char *types);
struct event instance_dump(struct faults *v, uint64_t id, uint64_t class_id, size_t bytes); /* zeros */
struct event object_array(uint64_t id, uint64_t class_id);
struct event primitive_array(struct faults *v, uint64_t id, enum basic_type type, uint32_t elements); /* zeros */
struct event root(unsigned tag, uint64_t object_id, uint32_t thread_serial, int32_t frame);           /* of any defined tag */
bool root_has_thread(unsigned tag);
void insert_object(struct faults *v, uint64_t id);
void insert_class(struct faults *v, uint64_t class_id, uint64_t super_id, const char *types);
void insert_thread_root(struct faults *v, uint32_t serial, uint32_t trace);

/* Records that a row may need before the first heap dump. */
fault_act prepare_class;           /* CLASS, CLASS_SERIAL, NAME "Broken", FIELD "value" */
fault_act prepare_two_classes;     /* and OTHER, OTHER_SERIAL */
fault_act prepare_array_class;     /* CLASS is "[LBroken;" */
fault_act prepare_int_array_class; /* CLASS is "[I" */
fault_act prepare_array_and_class; /* CLASS is "[LBroken;"; OTHER and TOP are no arrays; FIELD */
fault_act prepare_trace;           /* TRACE_SERIAL, with `variant` frames of the class that prepare_class() makes */
fault_act prepare_strings;         /* NAME and FIELD */

/* A string, or a loaded class without a stack trace: a dump may end after it. */
static inline bool needs_no_other_record(const struct event *e)
{
    return e->layout == LAYOUT_ID_UTF8 || (e->layout == LAYOUT_ID_LOAD_CLASS && !e->fields.LOAD_CLASS.trace_serial);
}

/* Whether an event has no body, or a complete one that is short enough to be changed. */
static inline bool is_whole(const struct event *e)
{
    return (e->body || !e->body_size) && e->body_size <= BODY_MOST;
}

/* The lists in the body of a CLASS_DUMP: their first entries, and their counts. False if the body is malformed. */
struct class_lists {
    size_t statics_at, fields_at;
    unsigned statics, fields;
};
bool find_lists(const struct faults *v, const struct event *e, struct class_lists *lists);

/* Timestamps from 2100-01-01 on, in milliseconds since 1970, break HDR-007. */
#define TIMESTAMP_END UINT64_C(4102444800000)

#define NOTHING NULL

#define PLACE(name, words) fault_place place_##name;
#define FAULT(rule, variant, place, prepare, act, number, flags, about) fault_act act;
#include "faults/faults.def"

#endif
