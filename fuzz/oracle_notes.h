/* What the oracle notes of a dump while it reads: what is defined, what is named, and findings. */
#ifndef HPROF_FUZZ_ORACLE_NOTES_H
#define HPROF_FUZZ_ORACLE_NOTES_H

#include "oracle.h"
#include "oracle_framing.h"
#include "oracle_lists.h"

struct string {
    uint64_t id, at; /* `at`: of the ID, here and below */
    const uint8_t *text;
    uint64_t size;
};

struct loaded_class {
    uint64_t serial, serial_at;
    uint64_t id, id_at;
    uint64_t name, name_at;
    bool unloaded;  /* of the first with its serial */
    size_t current; /* of the first with its ID: the latest LOAD_CLASS that gave the ID a meaning */
    bool reused;    /* likewise: the ID has had two names */
};

struct frame {
    uint64_t id, at;
    const uint8_t *body; /* all fields, the ID among them */
};

struct trace {
    uint64_t serial, at;
    uint64_t frame_count, frames_at;
    const uint8_t *body; /* serial, thread, count, frames */
    uint64_t size;
};

struct thread_event {
    bool start;
    uint64_t serial, at;
};

/* 6.2.6, 6.2.8, 6.3.1: what must be an instance of a class, or of a subclass. */
enum kind { KIND_LOADER, KIND_THREAD, KIND_STICKY_CLASS, KINDS };

/* An object or class defined in a heap dump. */
struct object {
    size_t heap;
    uint64_t id, at;
    bool is_class;
};

struct class_dump {
    size_t heap;
    uint64_t id, at;
    uint64_t super_id, super_at;
    uint64_t instance_size, instance_size_at;
    uint64_t fields_at, field_count;
    uint64_t own_size; /* of its instance fields */
    bool untyped;      /* a field has no basic type */
    bool is_named;     /* its name was known when it was dumped, and is that of the class of a kind: */
    enum kind kind;
};

struct instance {
    size_t heap;
    uint64_t tag_at;
    uint64_t id, class_id, bytes, bytes_at, values_at;
};

struct array {
    size_t heap;
    uint64_t class_id, class_at;
};

struct thread_root {
    size_t heap;
    uint64_t serial, at, trace;
};

/* A root that names a frame of its thread's stack. */
struct frame_root {
    size_t heap;
    uint64_t thread;
    int64_t frame;
    uint64_t frame_at;
};

/* Something is named. An undefined thing is one finding, in the gravest role and there at its first use. */
struct use {
    uint64_t scope, id;
    int role; /* 0 is the gravest */
    uint64_t at;
    const char *rule;
};

/* What size_by_class() found when so many classes were read. */
enum { KNOWN_SIZES = 256 };
struct known_size {
    uint64_t class_id;
    size_t classes, heap;
    uint64_t size;
};

struct oracle {
    const struct dump *d;
    struct known_size *known_sizes; /* KNOWN_SIZES of them */
    struct oracle_report *report;
    struct list findings; /* struct oracle_finding */

    /* What is defined and named, each in the order of the file. */
    struct list strings, loaded_classes, unloads, frames, traces, thread_events;
    struct list heap_ends; /* uint64_t: where each heap dump is closed; UINT64_MAX for the end of the file */
    struct list objects, class_dumps, instances, object_arrays, thread_roots, frame_roots;
    struct list name_uses, trace_uses, frame_uses, class_serial_uses, trace_thread_uses; /* struct use, scope 0 */
    struct list kind_uses[KINDS];                                                        /* struct use, without a rule */
    struct list object_uses, root_thread_uses;                                           /* struct use */
    /* Where IDs and serials are defined: struct definition, sorted when all is read. */
    struct list string_ids, class_serials, class_ids, frame_ids, trace_serials; /* scope 0 */
    struct list object_ids, dumped_class_ids;                                   /* objects has the classes, too */

    /* The heap dump at hand. */
    size_t heap;          /* its number, from 1; that of the last one between heap dumps */
    size_t unclosed_heap; /* the one whose end is missing, in which nothing is called undefined (M.2); 0 for none */
    bool series_open;
    uint64_t last_segment_at;
    bool segment_reported;   /* REC-005 */
    uint64_t previous_at[2]; /* the tags of the record just before and the one before it; 0 for none */
    uint64_t closed_until;   /* heap dumps that begin before are complete */
    uint64_t previous_time;
    bool failed;
    uint64_t doubt_at, closed_before_doubt; /* the first item that may be wrong, or 0; heap dumps closed before it */
};

/* ---- Findings ---------------------------------------------------------------------------------------------------------- */

void report(struct oracle *o, const char *rule, uint64_t offset);

/* Plain reading has failed. Findings before read_until do not depend on it. */
void note_failure(struct oracle *o, struct oracle_finding finding, uint64_t read_until);

void note_use(struct list *uses, uint64_t scope, uint64_t id, int role, uint64_t at, const char *rule);

/* The present heap dump ends here, unless it has ended before. */
void close_heap_dump(struct oracle *o, uint64_t at);

/* ---- What is named ----------------------------------------------------------------------------------------------------- */

/* 7.1, the gravest first. A sticky class without an object is a quirk that profiles allow. */
enum object_role { ROLE_CLASS, ROLE_ARRAY_CLASS, ROLE_SUPERCLASS, ROLE_ROOT, ROLE_STICKY_CLASS, ROLE_REFERENCE };

enum trace_role { TRACE_IS_NEEDED, TRACE_MAY_BE_LOST, TRACE_IS_MINUS_1 };

/* 4.1: the name must not be 0 and must be defined, further up. */
void note_name(struct oracle *o, uint64_t at);

void note_name_or_0(struct oracle *o, uint64_t at);

/* 4.5: a stack trace serial that is named is 0 or has a TRACE. Where a known producer loses traces, or means none by -1, is a
 * lesser role. */
void note_trace(struct oracle *o, uint64_t at, enum trace_role role);

/* A reference, which may be 0. */
void note_reference(struct oracle *o, size_t heap, uint64_t at);

/* A value of a field or constant. */
void note_value(struct oracle *o, size_t heap, uint64_t type, uint64_t at);

/* Leaves, of everything that is named, the first use in the gravest role. */
void reduce_uses(struct list *uses);

/* Reports the first of all uses of a thing in the gravest role. */
void report_uses(struct oracle *o, struct list *uses);

/* Reports what is named and not defined. */
void check_defined(struct oracle *o, struct list *uses, const struct list *definitions);

#endif
