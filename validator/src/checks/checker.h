/* What a check may see and change: the run, the file and, with checks/heap.h, the heap dump; the present position; the bytes from
 * there on. How the dump is framed, recovery, threads and checkpoints belong to the engine. */
#ifndef HPROF_CHECKER_H
#define HPROF_CHECKER_H

#include "findings/run.h"
#include "format/format.h"
#include "input/next_item.h"
#include "state/file.h"

/* The present record and sub-record. */
struct position {
    uint8_t record_tag;
    uint64_t record_at;
    uint64_t record_number; /* among those of its tag, from 1; 0 for no record */
    uint64_t record_length; /* of its body, as declared */
    uint64_t heap_end;      /* of the present heap dump record */
    const uint8_t *sub;     /* the first bytes of the sub-record, NULL for none; for the path of a finding */
    size_t sub_size;
};

struct heap;

struct checker {
    struct run *run;
    struct file *file;
    struct heap *heap;
    struct position *position;
    struct input *in;
};

/* The role in which an undefined string, class serial, stack trace or object is used. */
enum string_role {
    NAME_OF_CLASS,
    NAME_OF_METHOD,
    SIGNATURE_OF_METHOD,
    SOURCE_OF_METHOD,
    NAME_OF_THREAD,
    NAME_OF_GROUP,
    NAME_OF_PARENT_GROUP,
    NAME_OF_STATIC_FIELD,
    NAME_OF_INSTANCE_FIELD,
    NAME_OF_HEAP
};
/* The gravest first. */
enum class_serial_role { SERIAL_OF_FRAME, SERIAL_OF_SITE, SERIAL_OF_UNLOAD };
/* The last three only after a record of unknown tag, which may have been the START_THREAD or END_THREAD that is missing. */
enum thread_role { THREAD_OF_END, THREAD_OF_TRACE, THREAD_NEVER_STARTED, THREAD_STARTED_AGAIN, THREAD_ENDED_AGAIN };
enum trace_role {
    TRACE_OF_SITE,
    TRACE_OF_SAMPLE,
    TRACE_OF_THREAD_ROOT,
    TRACE_OF_CLASS,
    TRACE_OF_INSTANCE,
    TRACE_OF_OBJECT_ARRAY,
    TRACE_OF_PRIMITIVE_ARRAY,
    TRACE_OF_LOAD,
    TRACE_OF_START,
    TRACE_OF_UNMARKED_ROOT
};
/* The gravest first; all roots but ROOT_STICKY_CLASS are alike. */
enum object_role {
    OBJECT_AS_CLASS,
    OBJECT_AS_ARRAY_CLASS,
    OBJECT_AS_SUPERCLASS,
    OBJECT_AS_JNI_GLOBAL,
    OBJECT_AS_JNI_LOCAL,
    OBJECT_AS_JAVA_FRAME,
    OBJECT_AS_NATIVE_STACK,
    OBJECT_AS_THREAD_BLOCK,
    OBJECT_AS_MONITOR_USED,
    OBJECT_AS_THREAD_OBJECT,
    OBJECT_AS_UNKNOWN_ROOT,
    OBJECT_AS_INTERNED_STRING,
    OBJECT_AS_VM_INTERNAL,
    OBJECT_AS_JNI_MONITOR,
    OBJECT_AS_OTHER_ROOT,
    OBJECT_AS_STICKY_CLASS
};
/* Checked at the end of the file, when all LOAD_CLASS are known. */
enum class_role {
    CLASS_IS_DUMPED,
    CLASS_IS_ARRAY,
    CLASS_HAS_NO_SUPERCLASS,
    CLASS_HAS_INSTANCES,
    CLASS_HAS_FIELDS,
    CLASS_IS_FAR_FROM_ROOT
};
/* ---- Findings (report.c) ---- */

/* Counts a finding at an offset of the dump. If it is kept, gives it the path of the present record and returns it. `found`
 * is a format. */
struct finding *report_shape(const struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t offset,
                             const char *expected, const char *found, ...) __attribute__((format(printf, 6, 7)));
#define report(ck, rule, offset, expected, ...) report_shape(ck, rule, SHAPE_ANY, offset, expected, __VA_ARGS__)
/* The same with another path, for what is found later. */
struct finding *report_late(const struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t order,
                            const char *path, const char *expected, const char *found, ...)
    __attribute__((format(printf, 7, 8)));
/* The same for an offset within a heap dump: the path is the heap dump record there, followed by `within`. */
struct finding *report_within(const struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t offset,
                              const char *within, const char *expected, const char *found, ...)
    __attribute__((format(printf, 7, 8)));

enum { NAME_SIZE = 240 };
/* Write to the caller's buffer of at most NAME_SIZE bytes, with a name shortened to fit: " (java.lang.String)", or "" if it is
 * unknown; */
const char *show_class_after(const struct file *file, uint64_t class_id, char *to, size_t size);
/* "CLASS_DUMP 0x7ff0a8 (java.lang.String)", a path within a record. */
const char *show_class_dump(const struct file *file, uint64_t class_id, char *to, size_t size);

/* Whether the record at an offset was read before, and defined then what it defines. */
static inline bool is_read_again(const struct checker *ck, uint64_t at)
{
    return at < ck->file->losses.again_until;
}

/* The same of a sub-record of this heap dump. */
static inline bool is_subrecord_read_again(const struct checker *ck, uint64_t at)
{
    return at < ck->file->losses.heap.again_until;
}

/* ---- The window ---- */

enum { HEAD_SIZE = 64 /* as many as the fixed part of any sub-record but CLASS_DUMP takes */ };

/* The next n bytes, or fewer if the dump ends. */
static inline struct cursor window(struct input *in, size_t n)
{
    size_t there = input_need(in, n);

    return (struct cursor){in->at, in->at + (there < n ? there : n)};
}

/* ---- Names, as every record uses them (check_strings.c) ---- */

void use_name(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset);         /* 0 is a finding */
void use_name_or_none(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset); /* 0 is none */
bool check_utf8(struct checker *ck, uint64_t length); /* false: the dump ended within */
void finish_strings(struct checker *ck);

/* ---- uses.c: what is not defined so far may be defined by a later record ---- */
bool class_is_loaded(const struct checker *ck, uint32_t serial);
void use_class_serial(struct checker *ck, uint32_t serial, enum class_serial_role role, uint64_t offset);
void use_trace(struct checker *ck, uint32_t serial, enum trace_role role, uint64_t offset);
/* Discards the latest uses from an offset on: what used them is left out, or is read again. */
void discard_uses(struct checker *ck, uint64_t from);

/* ---- check_stacks.c ---- */
void check_frame(struct checker *ck, const struct FRAME *r, const uint8_t *body, uint64_t at);
bool check_trace(struct checker *ck); /* false: the dump ended within */
void finish_stacks(struct checker *ck);
/* The number of frames of a stack trace; false if it is undefined. */
bool trace_depth(const struct checker *ck, uint32_t serial, uint32_t *frames);

/* ---- check_classes.c ---- */
void check_load_class(struct checker *ck, const struct LOAD_CLASS *r, uint64_t at);
void check_unload_class(struct checker *ck, const struct UNLOAD_CLASS *r, uint64_t at);
void finish_classes(struct checker *ck);

/* ---- check_threads.c ---- */
enum thread_flag { THREAD_STARTED = 1, THREAD_LIVE = 2, THREAD_FLAGS = 2 /* bits; above them the offset of START_THREAD */ };
void check_start_thread(struct checker *ck, const struct START_THREAD *r, uint64_t at);
void check_end_thread(struct checker *ck, const struct END_THREAD *r, uint64_t at);

/* ---- check_profiles.c ---- */
bool check_alloc_sites(struct checker *ck);
bool check_cpu_samples(struct checker *ck);
void check_heap_summary(struct checker *ck, const struct HEAP_SUMMARY *r, uint64_t at);
void check_control_settings(struct checker *ck, const struct CONTROL_SETTINGS *r, uint64_t at);

/* ---- check_header.c ---- */
/* The bytes of the header that are checked. */
size_t header_bytes(struct checker *ck);
/* Reads the header and moves past it. False if it is no header that the rest can be checked by. `is_truncated`: the dump ends early
 * for a reason that was already reported. */
bool check_header(struct checker *ck, bool is_truncated);

#endif
