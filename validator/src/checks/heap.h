/* The present heap dump: what its sub-records define and use. */
#ifndef HPROF_HEAP_H
#define HPROF_HEAP_H

#include "base/byte_log.h"
#include "checks/plain_objects.h"
#include "format/format.h"
#include "state/pending_uses.h"
#include "state/stretches.h"

/* The first instance of each of the first FIRST_INSTANCES undefined classes, for the path of a finding. Arrays are not kept:
 * whether the class of an array is known when it is checked depends on the input. */
enum { FIRST_INSTANCES = 64 };
struct first_instance {
    uint64_t class_id, offset /* of the class ID */, object_id;
};

/* An instance of wrong length. It is reported only once the next sub-record is well framed: directly before a failure, it is
 * the cause of the failure. */
struct wrong_instance {
    bool held;
    uint64_t at;    /* its fields, after the tag */
    uint64_t total; /* the size that its class gives */
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
};

/* Instances that wait until all class dumps are known: see waiting.c. */
struct waiting {
    struct byte_log log;
    uint64_t last_at; /* of the last entry of the log */
    /* As ranges, each a run of instances; the present run is not in the log yet. */
    uint64_t run_end;        /* of the heap dump record in which it began */
    bool must_some_be_plain; /* a range in the log has instances that must be plain */
    uint64_t left;           /* of the range that is being checked: its instances that are left, */
    bool must_be_plain;      /* whether they must be plain, */
    size_t next_stretch;     /* and the stretch after the present one */
    /* As bytes: the present instance. */
    uint64_t at;      /* its offset */
    uint64_t body;    /* offset of its values in the log */
    uint64_t body_at; /* offset of its values in the dump */
    uint64_t there;   /* the number of its values' bytes; too few if the dump ended within */
    uint8_t *piece;   /* buffer for the own fields of a class */
    size_t piece_capacity;
};

/* What an array may be that names missing objects: the archive's list as HotSpot or as the serviceability agent writes it, or none.
 * Flags of an ID in a set. */
enum list_kind { ROOTED_LIST = ID_ELEMENT, UNROOTED_LIST = ID_DEFINED, NO_LIST = ID_REFERENCED };

enum rooted_flag { ROOTED_BY_GLOBAL = 1, ROOTED_OTHERWISE = 2 /* or by two ROOT_JNI_GLOBAL */ };

/* The archive of class data sharing has a list of roots, an Object[] whose elements need not be dumped (PRODUCERS.md A.1). */
struct archive {
    struct keymap rooted;    /* the ID of an object that roots name, to enum rooted_flag */
    struct array_log arrays; /* of input that cannot be read again */
    struct id_set
        named; /* at the end of the heap dump: missing objects, with an enum list_kind of each array that names them */
    uint64_t last_array; /* the array of the last call of meet_naming_array(), and what it may be */
    enum list_kind last_kind;
    struct lists {
        uint64_t fitting; /* how many arrays fit */
        bool spoiled;     /* something else names an object that one of them names */
    } rooted_lists, unrooted_lists;
    bool undecided; /* the log was given up */
};

enum lost_id {
    LOST_OBJECT,    /* it counts as defined, but was left out, or ends after the end of the dump */
    LOST_REFERENCE, /* an object that was left out refers to it, perhaps by bytes that are no ID */
};
enum { LOST_REFERENCES_MOST = 1 << 16 };

struct heap {
    uint64_t begin;  /* its first record */
    bool begun;      /* and not ended */
    bool open;       /* a series of segments */
    bool is_pending; /* a HEAP_DUMP that has ended by its length, but no record follows: it may go on */
    uint64_t last_segment, last_segment_number;

    uint32_t records_within; /* those that are no part of it */

    struct segment segment; /* what this thread checks fast */
    struct id_set objects;
    /* Once threads define IDs of what follows, IDs that are defined twice are reported later, by report_duplicates(), because which
     * definition comes later is not known before. */
    bool reports_twice_later;
    uint64_t twice_from;   /* definitions from this offset on are not reported yet */
    struct id_set twice;   /* as elements; as references, those whose first definition was met */
    bool must_begin_again; /* something that a thread left for later did not have to wait */
    struct pending_uses object_uses, root_thread_uses, component_types;
    struct pending_uses loader_uses; /* of IDs as class loaders; role 0 */
    struct id_set special;           /* see struct segment; an instance of unknown class has all flags */
    struct archive archive;
    struct keymap lost;       /* IDs, to enum lost_id: what recovery left out after it was checked */
    uint64_t lost_references; /* in `lost`; if there are as many as it may hold, no reference counts */
    struct first_instance first_instances[FIRST_INSTANCES];
    unsigned first_instance_count;
    struct wrong_instance wrong; /* the sub-record before this one, if it is an instance of wrong length */
    struct waiting waiting;      /* instances whose class is not known yet */
    uint32_t next_stray;         /* the first layout that next_stray_class() has not seen */

    struct keymap thread_roots;  /* serial of a thread with a ROOT_THREAD_OBJECT to that of its stack trace */
    struct byte_log frame_roots; /* roots that name a frame, by thread: see check_roots.c */
    uint64_t last_frame_root;

    /* For the second look. */
    struct stretches stretches; /* only for input that can be read again */
    struct stretch *stretch;    /* the present one, or NULL */
    size_t first_wanted;        /* in findings.wanted, of this heap dump */
};

/* Whether an ID may be named by nothing but what recovery left out. */
static inline bool is_lost_reference(const struct heap *heap, uint64_t id)
{
    uint64_t lost;

    return heap->lost_references == LOST_REFERENCES_MOST || (keymap_get(&heap->lost, id, &lost) && lost == LOST_REFERENCE);
}

struct checker;
struct file;

/* Before the first heap dump, when the size of IDs is known, and after the last one. */
void heap_init(struct checker *ck);
void heap_free(struct checker *ck);
/* A heap dump begins at the present record. */
void heap_begin(struct checker *ck);
/* Releases most of its memory; */
void heap_clear(struct checker *ck);
/* and the rest, when nothing more is checked in it. */
void heap_end(struct checker *ck);
void heap_drop(struct checker *ck); /* as if it had not begun */
/* See struct segment. */
static inline uint32_t heap_epoch(const struct heap *heap, const struct classes *classes)
{
    return heap->records_within + (uint32_t)classes->layouts.count;
}
/* What is defined and referenced from now on belongs to this stretch. */
void enter_stretch(struct heap *heap, struct stretch *stretch);

/* ---- check_subrecord.c ---- */
/* Checks the sub-record in the window, whose `size` bytes lie within the heap dump record, and moves past it. False if the dump
 * ends within it. */
bool check_subrecord(struct checker *ck, uint64_t size);

/* ---- check_objects.c ---- */
/* For plain objects that are checked in the order of the file. */
extern const struct first_meetings meetings_in_order;
void add_counts(struct checker *ck, const struct object_counts *counts);
/* All classes are known, and the class of an instance, which is at an offset, is 0 or undefined. */
void use_missing_class(struct checker *ck, uint64_t class_id, uint64_t object_id, uint64_t offset);
/* The class of instances of `bytes` bytes, by the bytes of its ID in the dump; NULL if the chain must be walked instead. */
const struct hot_class *hot_class_of(struct checker *ck, const uint8_t *raw_id, uint64_t bytes);
/* Check one sub-record that is not plain (plain_objects.h), at the start of the window, which holds its fixed part. Afterwards the
 * window is after it; false if the dump ends before. */
bool check_instance(struct checker *ck);
bool check_object_array(struct checker *ck, uint64_t size); /* as it was read: the count may be wrong */
bool check_primitive_array(struct checker *ck);
/* The size, with the tag, that its class gives the instance at p; 0 if the class is unknown or the instance has that size. */
uint64_t size_by_class(struct checker *ck, const uint8_t *p);
/* Whether the class of the instance at p and its superclasses are known. */
bool knows_class_of(struct checker *ck, const uint8_t *p);
/* Checks the instance in the window, except its fields: its length is not the size of its class, and led to a failure. */
void check_wrong_instance(struct checker *ck);
/* Reports the preceding instance if it was of wrong length, since what follows is well framed. */
void report_wrong_instance(struct checker *ck);
/* Checks what depends on the class of an instance, once all classes are known: `at` is the offset of its fields, after the tag;
 * `get` gives n bytes of the dump at an offset, NULL if the dump ends before. False if it does. */
bool check_known_instance(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t at, bool led_to_failure,
                          const uint8_t *(*get)(struct checker *ck, uint64_t offset, size_t n));
/* Checks the value of a field, a static field or a constant. */
void check_value(struct checker *ck, unsigned type, const uint8_t *value, uint64_t offset);
/* Reads from the input, and moves it. */
const uint8_t *get_from_input(struct checker *ck, uint64_t offset, size_t n);
/* Whether a class is that of Object[], as far as is known here: elsewhere no producer is known to name what it does not dump. */
bool is_object_array(const struct file *file, uint64_t class_id);
/* An object array is of this class; its class ID is at an offset. */
void use_array_class(struct checker *ck, uint64_t class_id, uint64_t offset);
void define_object(struct checker *ck, uint64_t id, bool is_class, uint64_t offset);
/* Checks the ID at an offset and the stack trace after it, with which every instance and array begins. */
void check_object_head(struct checker *ck, uint64_t id, uint32_t trace_serial, enum object_kind kind, uint64_t at);
/* Reports that an object or a class has an ID that is already defined. */
void report_duplicate(struct checker *ck, uint64_t id, bool is_class, uint64_t offset);

/* ---- check_class_dump.c ---- */
void check_class_dump(struct checker *ck, const uint8_t *p, size_t size, uint64_t at);
void finish_class_dumps(struct checker *ck);
void keep_class_uses(struct checker *ck);

/* ---- check_roots.c ---- */
void check_root(struct checker *ck, unsigned tag, const uint8_t *p, uint64_t at);
const char *root_name(unsigned role);  /* enum object_role */
void finish_roots(struct checker *ck); /* at the end of a heap dump; */
void keep_rooted_threads(struct checker *ck);
void finish_frame_roots(struct checker *ck); /* at the end of the file */

/* ---- check_references.c ---- */
/* A reference from a field, a static, a constant or a class header. */
static inline void refer(struct heap *heap, uint64_t id)
{
    if (id)
        id_set_refer(&heap->objects, &heap->segment.referenced, id_to_key(id, heap->segment.id_size), ID_REFERENCED);
}
/* `counts`: what is missing is counted, even where it is not reported. */
void finish_objects(struct checker *ck, bool counts);

/* ---- archive.c: before finish_objects() ---- */
/* A root names an object. */
void root_object(struct heap *heap, unsigned tag, uint64_t id);
/* Whether anything but a root names an array. */
bool is_array_named(void *heap, uint64_t array_id);
/* An object array names an object that is missing. Called for all that an array names before another array comes. */
void meet_naming_array(struct checker *ck, uint64_t array_id, uint64_t class_id, uint64_t missing);
/* Calls that for what the log has. */
void meet_logged_arrays(struct checker *ck);
/* When all have been met: in which shape a missing object is excused that only elements of Object[] name; SHAPE_ANY if it is
 * not. */
enum finding_shape archive_shape(struct checker *ck, uint64_t id);

/* ---- waiting.c: instances that wait for their class are noted; waiting_instances.c checks them ---- */
/* Whether instances wait as ranges. */
bool waits_in_ranges(const struct checker *ck);
/* The waiting instance at an offset is the first of a range. */
void begin_waiting_range(struct checker *ck, uint64_t offset);
/* The instance in the window waits for its class. Moves past it; false if the dump ends before. */
bool wait_for_class(struct checker *ck, uint64_t size);
/* Notes the present range, if there is one. */
void end_waiting_range(struct heap *heap);
/* Notes a range, after those noted so far. */
void add_waiting_range(struct waiting *w, const struct waiting_range *range);
/* Reads the next range from *next in the log on that is not left out, after `range`, and moves *next past it. False at the end. */
bool next_waiting_range(const struct checker *ck, uint64_t *next, struct waiting_range *range);
/* Reads the instance at *next in the log, with `first` for its fixed part, and moves *next past it. False at the end. */
bool next_waiting_copy(struct checker *ck, uint64_t *next, uint8_t *first, struct INSTANCE_DUMP *r);
const uint8_t *get_from_copy(struct checker *ck, uint64_t offset, size_t n);

#endif
