/* The fast check of plain instances and arrays (SPEC.md 6.4 to 6.7), which are nearly all of a dump: complete in memory, of
 * known classes, with nothing to report. */
#ifndef HPROF_PLAIN_OBJECTS_H
#define HPROF_PLAIN_OBJECTS_H

#include "state/array_log.h"
#include "state/counted.h"
#include "state/hot_classes.h"
#include "state/id_windows.h"

/* The agent gives each object the stack trace that allocated it: a few hundred of them take turns. */
enum { KNOWN_TRACES = USUAL_OR_SMALL(256, 2) };

/* Longer instances do not wait for their class unseen: their length may be wrong. */
enum { WAITING_MOST = 1024 };

/* The sub-record that uses a stack trace. */
enum object_kind { KIND_INSTANCE, KIND_OBJECT_ARRAY, KIND_PRIMITIVE_ARRAY };

struct object_counts {
    uint64_t instances, object_arrays, primitive_arrays, references;
};

struct segment;

/* What happens when something is met for the first time. False: the sub-record is not plain. */
struct first_meetings {
    /* Puts the class of instances of `bytes` bytes, or of object arrays, into its slot. The first of them is at an offset. */
    bool (*class)(struct segment *s, const uint8_t *raw_id, uint32_t bytes);
    bool (*array_class)(struct segment *s, const uint8_t *raw_id, uint64_t offset);
    bool (*trace)(struct segment *s, uint32_t serial, enum object_kind kind, uint64_t offset);
    /* An instance that waits for its class begins a run. */
    bool (*waiting)(struct segment *s, uint64_t offset);
};

/* Instances that wait for their class, one after the other, whatever other sub-records lie between them. */
struct waiting_run {
    uint64_t at;        /* the first one */
    uint64_t instances; /* how many */
    uint64_t next;      /* the number of the instance that would continue the run; UINT64_MAX for none */
};

struct waiting_range {
    uint64_t at;         /* its first instance */
    uint64_t record_end; /* of the heap dump record there */
    uint64_t instances;  /* that wait */
    bool must_be_plain;  /* a class that a thread did not know may have been dumped before them, so they need not have waited */
};

/* What the check of plain objects needs and changes. Each thread has its own; `objects` is shared. */
struct segment {
    const struct first_meetings *meet;
    void *context;
    unsigned id_size;
    uint32_t dump; /* the number of the heap dump */
    struct id_set *objects;
    struct id_set *special; /* IDs of instances of special classes: enum special are its flags; shared, too */
    struct wide_classes wide;
    struct array_log *arrays; /* gets each Object[]; NULL if the input can be read again */
    struct counted *counted;  /* gets all objects; NULL if they are not counted */
    struct hot_classes hot;
    struct recent_page defined, referenced, element;
    uint32_t known_traces[KNOWN_TRACES]; /* serials that are already checked, by their lowest bits; 0 needs no check */
    struct object_counts counts;         /* of what was checked */
    uint64_t instances_before;           /* those that `counts` begins after */
    struct waiting_run waiting;
    uint32_t epoch; /* counts class dumps, and records within the heap dump: until then, what is known of other classes holds */
};

/* Whether a slot has the class of object arrays with this ID. */
static inline bool is_hot_array(const struct segment *s, const struct hot_class *class, uint64_t raw_id)
{
    return class->raw_id == raw_id && class->dump == s->dump && class->kind >= HOT_OBJECT_ARRAY &&
           (class->epoch == ALWAYS || class->epoch == s->epoch);
}

static inline bool is_known_trace(const struct segment *s, uint32_t serial)
{
    return __builtin_expect(s->known_traces[serial % KNOWN_TRACES] == serial, 1);
}

/* Checks consecutive plain instances and arrays at p, and returns the bytes they take. Stops at anything else: another
 * sub-record, an incomplete one, a class without a slot, a fault. */
size_t check_plain_objects(struct segment *s, const uint8_t *p, size_t n, uint64_t offset);
/* The same while other threads mark IDs. READ_BEYOND bytes after the n may be read, whatever they are. */
enum { READ_BEYOND = 32 };
size_t check_plain_objects_with_others(struct segment *s, const uint8_t *p, size_t n, uint64_t offset);

/* Checks what depends on the class of waiting instances, among consecutive instances and arrays at p. `instances` counts
 * them down. Returns the bytes they take; stops at anything that is not plain. */
size_t refer_instances(struct segment *s, const uint8_t *p, size_t n, uint64_t *instances);
size_t refer_instances_with_others(struct segment *s, const uint8_t *p, size_t n, uint64_t *instances);

/* Notes what an instance is: enum special. */
void note_special(struct segment *s, uint64_t id, unsigned special);

/* Marks the objects that n elements at p refer to; separately if the array is, or may be, an Object[], and then without the array
 * itself. */
void refer_elements(struct segment *s, bool is_object_array, uint64_t array_id, const uint8_t *p, size_t n);

/* The first of n bytes that is neither 0 nor 1; n if there is none. */
size_t find_bad_boolean(const uint8_t *p, size_t n);

#endif
