/* The context of a check: everything that is known about the dump so far. */
#ifndef HPROF_CHECKER_H
#define HPROF_CHECKER_H

#include "base/byte_log.h"
#include "checks/plain_objects.h"
#include "engine/jobs.h"
#include "engine/recovery.h"
#include "findings/findings.h"
#include "format/format.h"
#include "format/subrecord.h"
#include "input/input.h"
#include "state/classes.h"
#include "state/heap_index.h"
#include "state/id_set.h"
#include "state/pending_uses.h"
#include "state/stretches.h"
#include "state/string_table.h"

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
enum thread_role { THREAD_OF_END, THREAD_OF_TRACE };
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
enum class_role { CLASS_IS_DUMPED, CLASS_IS_ARRAY, CLASS_HAS_NO_SUPERCLASS, CLASS_HAS_INSTANCES };

enum {
    PIECE = 64 << 10 /* bytes of a string, an array or an instance that are checked at a time */
};

/* The first instance of each of the first FIRST_INSTANCES undefined classes, for the path of a finding. Arrays are not kept:
 * whether the class of an array is known when it is checked depends on the input. */
enum { FIRST_INSTANCES = 64 };
struct first_instance {
    uint64_t class_id, offset /* of the class ID */, object_id;
};

/* A sub-record that crosses the end of its heap dump record. The rule that it breaks depends on what follows. */
struct crossing_subrecord {
    bool active;
    uint8_t tag;
    uint8_t record_tag;
    uint8_t *bytes; /* its first bytes, as far as they are needed to know its size */
    size_t bytes_size;
    uint64_t record_at; /* the heap dump record */
    uint64_t at;        /* the sub-record */
    uint64_t had;       /* its bytes within the record */
    uint64_t passed;    /* its bytes within all segments so far */
    uint64_t size;      /* its size; 0 while unknown */
    unsigned segments;  /* complete segments that it contains */
    uint64_t record_end;
    uint64_t number;
};

/* An instance of wrong length. It is reported only once the next sub-record is well framed: directly before a failure, it is
 * the cause of the failure. */
struct wrong_instance {
    bool held;
    uint64_t at;    /* its fields, after the tag */
    uint64_t total; /* the size that its class gives */
    uint8_t first[1 + sizeof(struct INSTANCE_DUMP_in8)];
};

/* Instances that wait until all class dumps are known: see waiting_instances.c. */
struct waiting {
    struct byte_log log;
    uint64_t last_at; /* of the last entry of the log */
    /* As ranges: consecutive waiting instances that are not in the log yet. */
    uint64_t run, run_at, run_end;
    uint64_t next_instance; /* the number of the instance that would continue the range */
    size_t next_stretch;    /* while they are checked */
    /* As bytes: the present instance. */
    uint64_t at;      /* its offset */
    uint64_t body;    /* offset of its values in the log */
    uint64_t body_at; /* offset of its values in the dump */
    uint64_t there;   /* the number of its values' bytes; too few if the dump ended within */
    uint8_t *piece;   /* buffer for the own fields of a class */
    size_t piece_capacity;
};

/* What producer.c looks at. */
struct producer_signs {
    uint8_t first_tag;
    bool any_time;             /* a record's time is not 0 */
    bool trace_one_empty;      /* TRACE 1 has no frames */
    uint32_t trace_one_thread; /* the thread of TRACE 1 */
};

/* Everything that is reported, as it was before a record or sub-record, except for offsets that are found later. */
struct checkpoint {
    uint64_t offset;
    uint64_t record_at; /* the record itself, or the one with the sub-record */
    struct findings_checkpoint findings;
    struct hprof_summary sum;
    struct producer_signs signs;
    uint64_t complete_until;
    size_t loaded_classes;
    bool framing_lost, second_header;
};

/* Of a compressed dump: see check_gzip.c. A unit is a record, the header of a heap dump record, or a sub-record. */
enum { LAST_MIB = 3 /* the one that data is wrong from, the next, and one that a unit ahead may hold */ };
struct checkpoints {
    struct checkpoint member;        /* before the unit with the first byte of the member that is being inflated; */
    struct checkpoint mib[LAST_MIB]; /* before those with the last multiples of 1 MiB, in order; */
    struct checkpoint unit;          /* before the last unit that called for a checkpoint */
    uint64_t member_start;           /* of the member that `member` is for */
    uint64_t unit_end;               /* of the last unit that was not left to the fast loops */
    uint64_t damaged_from;           /* the first byte that may be wrong; UINT64_MAX for none */
    const struct checkpoint *rolled_back_to;
};

/* What is known of the framing so far. */
struct framing {
    unsigned lost;           /* enum may_define: what skipped bytes may have defined. Nothing of it is called undefined */
    bool truncated;          /* the dump ended early, so nothing is reported to be missing */
    bool stopped;            /* what follows cannot be checked */
    bool failed;             /* because of something other than an early end */
    bool second_header;      /* a header is where a record should be: two files were joined */
    uint64_t complete_until; /* the end of the latest HEAP_DUMP_END; 0 for none */
    bool segment_reported;   /* REC-005 was reported */
    bool heap_lost;          /* a skipped record may have been a heap dump */
    bool heap_end_lost;      /* a skipped record may have been a HEAP_DUMP_END */
    struct {                 /* the records of unknown tag since the last known record; held until a known one follows */
        uint64_t from, count;
        unsigned may_define; /* all of them in the dump, by their lengths: counts only if REC-003 is an error at the end */
        bool may_end_heap;   /* one of them is empty, as HEAP_DUMP_END is; likewise */
    } unknown;
    struct { /* an empty heap dump record before what may be sub-records: its length may never have been filled in */
        uint64_t at, number;
        unsigned records; /* records that followed it */
    } unfilled;
    uint32_t last_time;
};

struct checker {
    struct memory memory;
    struct input in;
    struct findings findings;
    struct hash_key key;
    const struct hprof_options *options;
    struct hprof_summary sum;
    uint64_t totals[RULE_COUNT], quirks[RULE_COUNT];
    bool in_baseline[RULE_COUNT];
    char failure[256];
    uint64_t progress_shown;
    struct checkpoints *checkpoints; /* NULL unless the dump is compressed */

    unsigned id_size;
    enum version version;
    struct framing framing;
    bool line_ends_changed; /* in the first bytes, each LF follows a CR */
    bool was_transcoded;    /* in the first bytes, invalid UTF-8 was replaced */
    bool garbage_after;     /* what follows the last gzip member may have been a member */
    struct chunks jumps;    /* struct jump */

    /* The present record and sub-record, for the path of a finding. */
    uint8_t record_tag;
    uint64_t record_at;
    uint64_t record_number; /* among those of its tag, from 1; 0 for no record */
    uint64_t record_length; /* of its body, as declared */
    struct heap_index heap_index;
    const uint8_t *sub; /* its first bytes, NULL for none */
    size_t sub_size;

    /* Defined so far. */
    struct strings strings;
    struct id_set class_serials;    /* *defined* if there was a LOAD_CLASS */
    struct id_set unloaded_serials; /* *defined* if an UNLOAD_CLASS followed it */
    struct keymap frames;           /* to the hash of the record */
    struct keymap traces;           /* to an index in trace_list */
    struct chunks trace_list;
    struct keymap threads;        /* serial of a started thread to enum thread_flag */
    struct id_set rooted_threads; /* *defined* if an earlier heap dump has a ROOT_THREAD_OBJECT, or its absence was reported */
    struct classes classes;

    /* Used before they were defined. */
    struct pending_uses string_uses, class_serial_uses, frame_uses, trace_uses, thread_uses, class_uses;

    /* The present heap dump. */
    struct {
        bool open;     /* a series of segments */
        bool lost;     /* part of it was skipped */
        bool end_lost; /* skipped bytes may have been its HEAP_DUMP_END, so that what follows may be another heap dump */
        struct wrong_instance wrong; /* the sub-record before this one, if it is an instance of wrong length */
        uint32_t next_stray;         /* the first layout that next_stray_class() has not seen */
        uint64_t begin;              /* its first record */
        uint64_t last_segment, last_segment_number;
        struct id_set objects;
        struct pending_uses object_uses, root_thread_uses;
        struct first_instance first_instances[FIRST_INSTANCES];
        unsigned first_instance_count;
        struct keymap thread_roots;  /* serial of a thread with a ROOT_THREAD_OBJECT to that of its stack trace */
        struct byte_log frame_roots; /* roots that name a frame, by thread: see check_roots.c */
        uint64_t last_frame_root;
        struct wide_classes wide;
        struct stretches stretches; /* only for input that can be read again */
        struct stretch *stretch;    /* the present one, or NULL */
        bool in_object_array;       /* that class is Object[], or may be; */
        bool array_class_is_dumped; /* it is dumped */
        uint64_t last_array_class;  /* the class of an object array that needs no look */
        uint64_t malformed_segment; /* the last one with a malformed sub-record, which may have hidden the end */
        size_t first_wanted;        /* in findings.wanted, of this heap dump */
        struct waiting waiting;     /* instances whose class is not known yet */
    } dump;
    struct byte_log frame_roots; /* of earlier heap dumps, by stack trace */
    uint64_t last_frame_root;

    uint64_t heap_end; /* of the present heap dump record */
    struct crossing_subrecord cut;
    struct producer_signs signs;
    struct segment segment; /* for what this thread checks */
    struct jobs *jobs;      /* NULL if it checks everything */
};

/* The next n bytes, or fewer if the dump ends. */
static inline struct cursor window(struct checker *ck, size_t n)
{
    size_t there = input_need(&ck->in, n);

    return (struct cursor){ck->in.at, ck->in.at + (there < n ? there : n)};
}

/* At most n bytes ahead, and at most `left`, counted the same whatever happens to be in memory: no decision may depend on the
 * size of blocks. */
static inline size_t look_at(struct checker *ck, size_t n, uint64_t left)
{
    size_t there;

    if (n > left)
        n = (size_t)left;
    there = input_need(&ck->in, n);
    return there < n ? there : n;
}

/* The bytes that recovery sees from here on: up to SIGHT_SIZE bytes beyond `n`. */
static inline struct sight sight_beyond(struct checker *ck, uint64_t n)
{
    size_t wanted = SIGHT_SIZE + (n < SIGHT_SIZE ? (size_t)n : SIGHT_SIZE), size = look_at(ck, wanted, UINT64_MAX);

    return (struct sight){ck->in.at, size, size < wanted, ck->id_size, ck->version};
}

/* ---- Findings (report.c) ---- */

/* Counts a finding at an offset of the dump. If it is kept, gives it the path of the present record and returns it. `found`
 * is a format. */
struct finding *report_shape(struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t offset,
                             const char *expected, const char *found, ...) __attribute__((format(printf, 6, 7)));
#define report(ck, rule, offset, expected, ...) report_shape(ck, rule, SHAPE_ANY, offset, expected, __VA_ARGS__)
/* The same with another path, for what is found later. */
struct finding *report_late(struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t order, const char *path,
                            const char *expected, const char *found, ...) __attribute__((format(printf, 7, 8)));

/* The same for an offset within a heap dump: the path is the heap dump record there, followed by `within`. */
struct finding *report_within(struct checker *ck, enum rule rule, enum finding_shape shape, uint64_t offset, const char *within,
                              const char *expected, const char *found, ...) __attribute__((format(printf, 7, 8)));

/* The framing has a fault at this offset. */
static inline void end_sound_part(struct checker *ck, uint64_t offset)
{
    if (offset < ck->sum.sound_until)
        ck->sum.sound_until = offset;
}

enum { NAME_SIZE = 240 };
/* Write a printable name to the caller's buffer of at most NAME_SIZE bytes, shortened to fit: a string, or "" if it is
 * unknown; a class as "java.lang.String", or "". */
const char *show_string(const struct checker *ck, uint64_t string_id, char *to, size_t size);
const char *show_class(const struct checker *ck, uint64_t class_id, char *to, size_t size);
/* "CLASS_DUMP 0x7ff0a8 (java.lang.String)": a path within a record. */
const char *show_class_dump(const struct checker *ck, uint64_t class_id, char *to, size_t size);
/* " (java.lang.String)" or "". */
const char *show_class_after(const struct checker *ck, uint64_t class_id, char *to, size_t size);

/* ---- Names, as every record uses them (check_strings.c) ---- */

void use_name(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset);         /* 0 is a finding */
void use_name_or_none(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset); /* 0 is none */
bool check_utf8(struct checker *ck, uint64_t length); /* false: the dump ended within */
void finish_strings(struct checker *ck);

/* ---- check_stacks.c ---- */
void use_trace(struct checker *ck, uint32_t serial, enum trace_role role, uint64_t offset);
void check_frame(struct checker *ck, const struct FRAME *r, const uint8_t *body, uint64_t at);
size_t trace_size(void);              /* of an element of trace_list */
bool check_trace(struct checker *ck); /* false: the dump ended within */
void finish_stacks(struct checker *ck);
/* The number of frames of a stack trace; false if it is undefined. */
bool trace_depth(const struct checker *ck, uint32_t serial, uint32_t *frames);

/* ---- check_classes.c ---- */
void use_class_serial(struct checker *ck, uint32_t serial, enum class_serial_role role, uint64_t offset);
void check_load_class(struct checker *ck, const struct LOAD_CLASS *r, uint64_t at);
void check_unload_class(struct checker *ck, const struct UNLOAD_CLASS *r, uint64_t at);
void finish_classes(struct checker *ck);

/* ---- check_class_dump.c ---- */
void check_class_dump(struct checker *ck, const uint8_t *p, size_t size, uint64_t at);
void finish_class_dumps(struct checker *ck);
void keep_class_uses(struct checker *ck);

/* ---- check_threads.c ---- */
enum thread_flag { THREAD_STARTED = 1, THREAD_LIVE = 2, THREAD_FLAGS = 2 /* bits; above them the offset of START_THREAD */ };
void check_start_thread(struct checker *ck, const struct START_THREAD *r, uint64_t at);
void check_end_thread(struct checker *ck, const struct END_THREAD *r, uint64_t at);

/* ---- check_profiles.c ---- */
bool check_alloc_sites(struct checker *ck);
bool check_cpu_samples(struct checker *ck);
void check_control_settings(struct checker *ck, const struct CONTROL_SETTINGS *r, uint64_t at);

/* ---- check_roots.c ---- */
void check_root(struct checker *ck, unsigned tag, const uint8_t *p, uint64_t at);
void finish_roots(struct checker *ck); /* at the end of a heap dump; */
void keep_rooted_threads(struct checker *ck);
void finish_frame_roots(struct checker *ck); /* at the end of the file */

/* ---- check_objects.c ---- */
/* For plain objects that are checked in the order of the file. */
extern const struct first_meetings meetings_in_order;
void add_counts(struct checker *ck, const struct object_counts *counts);
/* The class of instances of `bytes` bytes, by the bytes of its ID in the dump; NULL if the chain must be walked instead. */
const struct hot_class *hot_class_of(struct checker *ck, const uint8_t *raw_id, uint64_t bytes);
/* Check one sub-record that is not plain. The sub-record is at the start of the window, which holds its fixed
 * part; all of it lies within the heap dump record. Afterwards the window is after it; false if the dump ends before. */
bool check_instance(struct checker *ck);
bool check_object_array(struct checker *ck);
bool check_primitive_array(struct checker *ck);
/* The size, with the tag, that its class gives the instance at p; 0 if the class is unknown or the instance has that size. */
uint64_t size_by_class(struct checker *ck, const uint8_t *p);
/* Checks the instance in the window, except its fields: its length is not the size of its class, and led to a failure. */
void check_wrong_instance(struct checker *ck);
/* Reports the preceding instance if it was of wrong length, since what follows is well framed. */
void report_wrong_instance(struct checker *ck);
/* Checks what depends on the class of an instance, once all classes are known: `at` is the offset of its fields, after the tag;
 * `get` gives n bytes of the dump at an offset, NULL if the dump ends before. False if it does. */
bool check_known_instance(struct checker *ck, const struct INSTANCE_DUMP *r, uint64_t at, bool led_to_failure,
                          const uint8_t *(*get)(struct checker *ck, uint64_t offset, size_t n));
/* Reads from the input, and moves it. */
const uint8_t *get_from_input(struct checker *ck, uint64_t offset, size_t n);
/* Whether a class is that of Object[], as far as is known here: elsewhere no producer is known to name what it does not dump. */
bool is_object_array(const struct checker *ck, uint64_t class_id);
void define_object(struct checker *ck, uint64_t id, bool is_class, uint64_t offset);

/* ---- waiting.c ---- */
/* Whether instances wait as ranges. */
static inline bool waits_in_ranges(const struct checker *ck)
{
    return input_can_reread(&ck->in) && !ck->in.compressed; /* seeking back would inflate everything before it again */
}
/* The instance at an offset waits in a range; `number` instances precede it in the dump. */
void wait_in_range(struct checker *ck, uint64_t offset, uint64_t number);
void waiting_begin(struct checker *ck);
void waiting_clear(struct checker *ck);
/* The instance in the window waits for its class. Moves past it; false if the dump ends before. */
bool wait_for_class(struct checker *ck, uint64_t size);
/* Checks the instances that waited, once all classes of the heap dump are known. */
void check_waiting(struct checker *ck);

/* ---- check_references.c ---- */
static inline void refer(struct checker *ck, uint64_t id);
void finish_objects(struct checker *ck);

/* ---- find_offsets.c ---- */
void find_offsets_in_dump(struct checker *ck); /* at the end of a heap dump */
void find_offsets_of_records(struct checker *ck);

/* ---- check_gzip.c ---- */
void begin_gzip(struct checker *ck);
void end_gzip(struct checker *ck);
void on_gzip_fault(void *context, const struct gzip_finding *g);
bool begin_gzip_unit(struct checker *ck, uint64_t size);
/* To be called before what is checked without a fast loop: the next `size` bytes, where a gzip member may turn out to be damaged.
 * False if checking ends here because of one. */
static inline bool begin_unit(struct checker *ck, uint64_t size)
{
    return !ck->checkpoints || begin_gzip_unit(ck, size);
}
/* Where the fast loops must stop. */
uint64_t next_checkpoint(const struct checker *ck);
/* When all was read: what is reported becomes what it was at the checkpoint that was rolled back to, if any. */
void restore_checkpoint(struct checker *ck);
/* The offset of that checkpoint; UINT64_MAX if there is none. */
uint64_t checked_until(const struct checker *ck);

/* ---- heap.c ---- */
void begin_heap_dump(struct checker *ck);
void end_heap_dump(struct checker *ck);
void clear_heap_dump(struct checker *ck); /* releases its memory */
void drop_heap_dump(struct checker *ck);  /* as if it had not begun */
/* Reports a sub-record that crossed the end of its record, once its rule is known; or drops it. */
void settle_crossing(struct checker *ck, enum rule rule);
void drop_crossing(struct checker *ck);
bool check_heap_record(struct checker *ck, uint64_t length); /* false: the dump ended within */
/* What is defined and referenced from now on belongs to this stretch. */
void enter_stretch(struct checker *ck, struct stretch *stretch);
/* Measures the sub-record at the start of the window, with as many of its bytes as that takes. MEASURE_MORE if the `left`
 * bytes of the heap dump record are too few; *ended if the dump ends first. */
enum measured measure_next(struct checker *ck, uint64_t left, struct measure *m, bool *ended);

/* ---- reread.c ---- */

/* Callbacks for records that are read again; each may be NULL. They return false to stop. */
struct visitor {
    /* A record; the window is at its body and must stay there. */
    bool (*record)(struct checker *ck, void *context, unsigned tag, uint64_t length);
    /* A sub-record, whose fixed part is in the window; must move past it. Without this callback, heap dump records are
     * skipped; with it, reading ends with the heap dump. */
    bool (*subrecord)(struct checker *ck, uint64_t size);
    /* Handles as many sub-records of the n bytes in the window as it can, and returns the bytes they take. */
    size_t (*many)(struct checker *ck, size_t n);
    void *context;
};
/* Reads the dump again, exactly as the first time, from a record, or from a sub-record of the heap dump record that ends at
 * heap_end (0 for a record), up to an offset. */
void read_again(struct checker *ck, uint64_t from, uint64_t heap_end, uint64_t end, const struct visitor *visitor);

/* ---- failure.c ---- */

/* Where reading did not continue at the end of a record or sub-record. The second look makes the same jumps. */
struct jump {
    uint64_t from : 63;
    uint64_t
        failed : 1; /* plain reading failed at `from`; else it failed after it, and the instance there has the size of its class */
    uint64_t to;    /* UINT64_MAX for the end */
};
_Static_assert(sizeof(struct jump) == 16, "the smallest heap dump record with a jump takes 10 bytes");
#define NO_JUMP (UINT64_MAX >> 1) /* where the jump after the last one is from */
void note_jump(struct checker *ck, uint64_t from, uint64_t to, bool failed);
/* The index of the first jump from an offset or later. */
size_t find_jump(const struct checker *ck, uint64_t from);
/* The jump with an index; after the last, a jump from NO_JUMP. */
struct jump jump_at(const struct checker *ck, size_t i);
/* Whether plain reading failed at an offset. */
bool failed_at(const struct checker *ck, uint64_t offset);

/* Whether records follow here, up to `count`, or the end. */
bool records_follow_here(struct checker *ck, unsigned count);
/* The dump ends within the present record, or within a header of which n bytes exist. Consequences are not reported. */
void report_truncated(struct checker *ck);
void report_truncated_header(struct checker *ck, size_t n);
/* Whether the dump is incomplete and that was already reported. Bytes after the last gzip member may have been a member, so
 * they explain an early end. */
bool end_was_reported(struct checker *ck);
/* Skips the body of the present record. False if the dump ends before. */
bool skip_body(struct checker *ck);
/* Reads to the end without checking. The bytes from an offset on count as skipped. */
void skip_to_end(struct checker *ck, uint64_t from);
/* Reports that the present record does not have the length of its kind or count, and resumes where a record follows. */
void wrong_length(struct checker *ck, enum rule rule, const char *expected, uint64_t right);
/* Holds a record of unknown tag. */
void hold_unknown(struct checker *ck);
/* Called at the header of a known record after held ones. False if they were not records, so that nothing after them can be
 * checked. */
bool release_unknown(struct checker *ck);
/* Called after the header of a heap dump record of length 0: if sub-records follow, that explains a later failure. */
void hold_empty(struct checker *ck);
/* Plain reading failed at the present record. If an unfilled length explains that, reports it and returns true. */
bool was_unfilled(struct checker *ck);
/* Notes that skipped bytes may have been a HEAP_DUMP_END. */
void lose_heap_end(struct checker *ck);
/* Called at the end: if records of unknown tag are errors, what they may have defined is not called undefined. */
void settle_unknown(struct checker *ck);

/* ---- cause.c ---- */
/* Called before the header: looks for the effects of a transfer as text. */
void look_for_text(struct checker *ck);
/* The hint, or NULL. Called when all findings are counted and have their severities. */
const char *choose_hint(const struct checker *ck);

/* ---- record.c ---- */
void check_records(struct checker *ck);
void show_progress(struct checker *ck);

/* ---- validate.c ---- */
/* How findings get their severities; known after reading. */
struct severity_choice choose_severity(const struct checker *ck, enum profile *looks_like, const char **producer);

/* ---- header.c ---- */
bool check_header(struct checker *ck);

/* ---- producer.c ---- */
enum profile guess_producer(const struct checker *ck, const char **name);

/* A reference that is not null, from a field, a static, a constant or a class header. */
static inline void refer(struct checker *ck, uint64_t id)
{
    if (id)
        id_set_refer(&ck->dump.objects, &ck->segment.referenced, id_to_key(id, ck->id_size));
}

#endif
