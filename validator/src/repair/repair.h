/* Repair: the check of the input finds out how it is read; repair_copy.c copies what is read; repair.c checks the copy and leaves
 * out what breaks a rule, until the copy is valid. */
#ifndef HPROF_REPAIR_H
#define HPROF_REPAIR_H

#include "findings/rules.h"
#include "input/gunzip.h"
#include "input/next_item.h"
#include "state/jumps.h"
#include "state/names.h"

/* What was left out, by kind and key. */
enum left_out_kind {
    LEFT_RECORD,          /* by tag */
    LEFT_SUBRECORD,       /* any other sub-record, by tag */
    LEFT_CLASS,           /* a CLASS_DUMP, by class ID */
    LEFT_INSTANCE,        /* by class ID */
    LEFT_OBJECT_ARRAY,    /* by class ID */
    LEFT_PRIMITIVE_ARRAY, /* by element type */
    LEFT_TWICE,           /* any sub-record whose ID another defines */
    LEFT_BYTES,           /* bytes outside of records and sub-records */
    LEFT_DAMAGED,         /* any record or sub-record whose first bytes may be wrong, because its gzip member is damaged */
    LEFT_GZIP_MEMBER,     /* bytes that could not be inflated, by the number of the member */
    LEFT_KINDS
};

struct left_out {
    enum left_out_kind kind;
    uint64_t key;
    uint64_t count, bytes;
};

/* Parts of the input of a pass whose bytes may be wrong, in order: what damaged gzip members gave. */
struct damage {
    struct damaged_part {
        uint64_t from, to;
        uint64_t data;   /* in the compressed file */
        bool is_invalid; /* the rest of the data could not be inflated */
        bool keeps_size; /* the member gave as many bytes as it should */
    } * parts;
    struct shift { /* from this offset of the input on, a byte has an offset in the copy that is smaller by `shift` */
        uint64_t from, shift;
    } * shifts;
    size_t part_count, part_capacity, shift_count, shift_capacity;
    size_t settled; /* those before this one are in files that were copied before the present one, and in terms of the copy */
};

/* Bytes of the input of the first pass that are not those of the dump: see trace_data.h. */
struct unknown {
    struct unknown_part {
        uint64_t from, to;
    } * parts;                    /* in order */
    size_t count, capacity, next; /* `next` is the first that was not passed */
    uint64_t shift;               /* of those that are being found */
    uint64_t *failures;           /* where the check found that reading fails */
    size_t failure_count, failure_capacity;
    struct input_source packed; /* the compressed file */
};

/* What is named although nothing defines it. */
enum missing_kind { MISSING_STRING, MISSING_CLASS_SERIAL, MISSING_FRAME, MISSING_KINDS };

enum misfit_kind { MISFIT_INSTANCE, MISFIT_ARRAY, MISFIT_KINDS };

/* The last heap dump record of the copy. */
struct heap_record {
    bool is_open;          /* sub-records are being copied into it, */
    uint64_t end;          /* up to this offset of the input */
    uint64_t start;        /* in the copy */
    uint32_t first;        /* its first four bytes there; 0 if it is not there any more */
    uint64_t copied_until; /* where it ends there, once it is closed */
    uint64_t length;       /* as it is stated in the copy */
    bool is_mended;
    bool is_reduced;   /* something in it was left out */
    bool has_gap;      /* something in it cannot be read, so that it may end before its length says */
    bool is_truncated; /* the input ends within it */
};

/* A record or sub-record that was copied. */
struct copied {
    uint64_t body; /* in the copy: there most have their ID, or serial number */
    uint64_t end;  /* in the input */
    uint8_t tag;   /* of a sub-record; 0 for a record */
};

/* Records and sub-records that the next pass puts into the copy: names, classes, threads and stack traces that the input lacks. */
struct stand_ins {
    uint8_t *definitions; /* UTF8, LOAD_CLASS and TRACE records */
    size_t definitions_size, definitions_capacity, definitions_put;
    uint8_t *subrecords; /* CLASS_DUMPs and ROOT_THREAD_OBJECTs, those of a heap dump together */
    size_t subrecords_size, subrecords_capacity;
    struct stand_ins_of_dump {
        uint64_t heap_dump; /* its number */
        size_t from, size;  /* in `subrecords` */
    } * dumps;
    size_t dump_count, dump_capacity, next_dump;
    unsigned rounds;
};

struct repair {
    struct hprof_repair asked;
    struct hprof_repair_result result;
    uint64_t missing_before; /* objects, as the check of the input counted those that are certain to be missing */
    struct memory memory;
    struct hash_key key;
    struct input in;
    unsigned id_size;
    enum version version;
    bool has_segments; /* the input; then the copy is not of 1.0.1, which has none */
    struct names names;
    struct damage damage;
    struct unknown unknown;
    size_t profile;      /* in which the copy is checked */
    bool may_lack_names; /* a class of the copy may have no name */
    bool has_names;      /* names must be cleared */
    bool takes_names;    /* this pass adds them: the first, and the second if then some parts are known to be damaged */
    struct gzip_finding truncated; /* of the member that the end of the file truncates */
    bool lacks_trailer;            /* the gzip file ends within a trailer: no data is missing */
    uint64_t lost;                 /* bytes of the dump that could not be inflated, as far as known */
    bool offsets_moved;            /* a transfer of the dump itself was undone, so gzip had other offsets */

    /* Where the check of the input did not go on at the end of a record or sub-record. */
    struct jumps jumps;
    size_t next_jump;

    /* the copy */
    struct heap_record heap;
    bool is_series;      /* of segments, which a HEAP_DUMP_END ends */
    bool is_made_series; /* its first segment was a HEAP_DUMP, in which records are */
    uint64_t end_at;     /* the offset of the last HEAP_DUMP_END */
    uint64_t base;       /* of the input, if that is in the file of the copy too */
    bool is_in_place;    /* the input is the file of the copy */
    bool may_be_lost;    /* the last check may not have found all lost objects (lost_objects.c) */
    int to;
    uint8_t *buffer;
    size_t buffered;
    uint64_t written; /* bytes before those in the buffer */
    int error;        /* errno of a failed write, or of a failed read of the copy */

    struct copied last;    /* the last one; */
    struct copied *doubts; /* those that damage follows directly, of the first pass */
    size_t doubt_count, doubt_capacity;
    bool has_doubtful_class;       /* one of them is a class; */
    bool doubts_classes;           /* the check of the copy found instances that do not have the size of their class */
    bool doubts_found;             /* so that a class is left out */
    struct keymap doubted_classes; /* those that were left out because their instances contradict them: once */

    /* The offsets of errors in the previous copy, in order: this pass leaves out the records and sub-records that contain them. */
    uint64_t *offsets;
    size_t offset_count, offset_capacity, next_offset;

    /* Serial numbers of stack traces that the previous copy lacks. References to them are set to 0, because leaving out
     * everything that has one would often leave out all classes. */
    struct keymap missing_traces;

    struct keymap missing[MISSING_KINDS]; /* IDs or serial numbers that an earlier copy names, but does not define */

    /* Only the first use of a class or thread that its heap dump lacks is an error. This pass leaves out all later uses. */
    struct keymap undefined_at;    /* offsets of these errors in the previous copy */
    struct keymap twice_at;        /* likewise those of IDs that are defined twice */
    struct keymap missing_classes; /* class ID to the number of the last heap dump that lacks it; */
    struct keymap missing_threads; /* likewise the serials of threads */
    bool needs_classes;            /* instances of the class 0 are errors: even the first pass leaves them out */
    uint64_t heap_dump;            /* number of the present one */

    /* What the copy has, to find out whether classes of primitive arrays or threads are lost. */
    unsigned array_types; /* bits by element type */
    struct keymap dumped_classes;
    struct keymap threads; /* by serial: what the copy has of a thread (repair_threads.c) */

    struct stand_ins stand_ins;
    struct keymap
        stood_in;    /* a class in a heap dump, to the pass that put in its stand-in: if that is left out, there is no other */
    struct misfits { /* objects of a kind that the name of their class denies */
        struct keymap found;   /* their classes, as the check of the copy found them */
        struct keymap classes; /* to the class that these objects get: the same if its name is wrong, 0 if they are left out */
    } misfits[MISFIT_KINDS];
    struct keymap renamed; /* a class whose name is wrong: its LOAD_CLASS is left out, once, and gets a stand-in. The pass that
                               does so; 0 for the next one */
    unsigned pass;         /* 1 is the first one that reads the copy */
    bool may_stand_in;     /* what is missing gets stand-ins; if not, what needs it is left out */
    bool wants_stand_in;   /* the check of the copy found something that is missing */

    uint64_t *ends; /* where the files that were joined end in the copy; only until the first check of the copy */
    size_t file_count;
    bool *are_in_file;       /* of each part, whether the first file has all of it */
    bool has_all_classes;    /* that file: its heap dump has begun, which LOAD_CLASS records precede */
    size_t unloaded_classes; /* in parts */

    struct left_out *left;
    size_t left_count, left_capacity;
    struct keymap left_index[LEFT_KINDS]; /* key to index in `left` */
    bool is_first_pass;
    uint8_t root[32]; /* the last sub-record, if it was a root; */
    size_t root_size; /* else 0 */
    bool is_unsure;   /* the sub-record before was left out because bytes of it are not known: the next may not begin here */
    bool stopped;     /* by a callback */
    bool has_changed; /* this pass left something out, or set it to 0 */
};

enum { COPY_BUFFER = 1 << 20 };

/* A check of the input or of the copy. */
struct check {
    struct repair *repair;
    uint64_t errors;
    bool refused;          /* by readers, though the profile allows it */
    bool has_doubts;       /* instances that do not have the size of their class, or a cycle of superclasses */
    bool leaves_out_first; /* roots of doubtful threads, or wrong classes: stand-ins are made once these are left out */
    char first[HPROF_FAILURE_SIZE]; /* the first error, as a sentence */
};

/* ---- repair_input.c ---- */

/* Fills in bytes of the source from an offset on. Returns how many: fewer at its end, or if it cannot be read. */
size_t repair_read(struct repair *r, struct input_source source, uint64_t offset, uint8_t *to, size_t size);
/* Whether nothing has failed. */
static inline bool repair_is_good(const struct repair *r)
{
    return !r->error && !r->in.error && !r->memory.exhausted;
}
/* Opens what a pass reads, from its present position on. */
bool repair_open(struct repair *r, struct input_source from);
/* Called for each fault of its gzip file; the context is the repair. */
void repair_count_fault(void *context, const struct gzip_finding *finding);
/* Finds out how the input is read, and opens it. HPROF_VALID, or why it cannot be copied. */
enum hprof_status repair_follow(struct repair *r, struct input_source from);
/* Measures the next sub-record of the input. False if it has no size. */
bool repair_measure_next(struct repair *r, struct measure *m);
/* A check, whose context is a struct check, allocates from the memory of the repair, so that the limit is for both. */
void repair_share_memory(struct repair *r, struct hprof_options *options, struct hprof_allocator *allocator);

/* Why something failed, as a status; the sentence is in result.failure. */
enum hprof_status repair_failure(struct repair *r);
enum hprof_status repair_fail(struct repair *r, enum hprof_status status, const char *sentence);

/* Reports progress. False if the caller wants no more. */
bool repair_goes_on(struct repair *r);

/* ---- repair_spool.c ---- */

/* Appends the input as it is, inflated; what cannot be inflated is left out. */
bool repair_spool(struct repair *r);

/* ---- repair_copy.c, repair_output.c ---- */

/* One pass: copies the input, which is at its start, to the start of the copy; then each part that follows it, a header before it,
 * to its end. If one returns false, `error`, `in`, `memory` or result.failure says why. */
bool repair_copy(struct repair *r);
bool repair_copy_part(struct repair *r);
bool repair_copy_end(struct repair *r);

/* Reads n bytes of the copy, fewer at its end. Returns how many. If the copy cannot be read, also sets `error`. */
size_t copy_read_some(struct repair *r, uint64_t offset, uint8_t *to, size_t n);
/* The same. Returns false if the copy ends before them. */
bool copy_read(struct repair *r, uint64_t offset, uint8_t *to, size_t n);
/* Writes n bytes at an offset of the file of the copy, whatever is still buffered. False if `error` is set, or was. */
bool copy_write(struct repair *r, uint64_t offset, const uint8_t *bytes, size_t n);

/* ---- repair_left_report.c ---- */

/* What a check of the input, or of the copy, has counted. */
void repair_note_input(struct repair *r, const struct hprof_summary *summary);
void repair_note_copy(struct repair *r, const struct hprof_summary *summary);

/* The name of a class, or "class 0x7f00"; of a primitive type, "byte[]". */
void left_class_name(const struct repair *r, const struct left_out *l, char to[NAME_ROOM]);
/* Hands over what was left out, by kind. */
void repair_report_left(struct repair *r);

/* ---- repair_losses.c ---- */

/* Hands over the classes of which objects were left out, with what the copy has of them. */
void repair_report_losses(struct repair *r);

/* ---- find_dump.c ---- */

/* Makes `*from` the dump: undoes transfers, and inflates what is compressed, into the copy. The copy is the input also if this is a
 * stream, or parts follow. */
enum hprof_status find_dump(struct repair *r, struct input_source *from);

/* ---- undo.c ---- */

/* Undoes what a transfer has done to the dump, or the gzip file, in `*from`: the file from which the copy is made, or the copy
 * itself. Then *from is the copy. HPROF_VALID, also if there is nothing to undo; else result.failure says why. */
enum hprof_status undo_transfer(struct repair *r, struct input_source *from);

/* ---- turn_around.c ---- */

/* The same for a file that begins within the dump, whose header follows: it was cut into pieces, and they were joined in the wrong
 * order. */
enum hprof_status turn_around(struct repair *r, struct input_source *from);

/* ---- make_header.c ---- */

/* The same for a header that was damaged or lost: it is made anew in place of the first bytes. */
enum hprof_status make_header(struct repair *r, struct input_source *from);

/* ---- repair_damage.c ---- */

void damage_clear(struct repair *r);
void damage_begin_pass(struct repair *r);
/* Makes the offsets those of the copy, which is the input of the next pass. */
void damage_end_pass(struct repair *r);

/* A gzip member is damaged: that part of the input may be wrong. It follows all parts that are known. */
void damage_note(struct repair *r, const struct gzip_finding *finding);

/* What the input gave from an offset on is not used. */
void damage_forget(struct repair *r, uint64_t from);

/* Whether bytes of the input may be wrong, as far as that is known. */
bool damage_is_at(const struct repair *r, uint64_t offset, uint64_t size);
/* Whether they may also be others once more: deflate data that gives another number of bytes copies from elsewhere. */
bool damage_repeats_at(const struct repair *r, uint64_t offset, uint64_t size);

/* The next byte of the input is copied to the offset `copied`. To be called after something was left out, or put in. */
void damage_note_shift(struct repair *r, uint64_t copied);
/* At the end of a pass: the offset in the copy of the byte at an offset of the input, or of the next byte that was copied. */
uint64_t damage_moved(const struct repair *r, uint64_t offset);

/* ---- repair_unknown.c: what is certainly wrong in a damaged gzip member ---- */

enum { FAILURES_MOST = 1000 /* for each rule */ };

/* The check of the input, which begins, notes where reading fails; */
void unknown_clear(struct repair *r);
void unknown_note_failure(struct repair *r, uint64_t offset);
/* then the bytes that are not known are found. */
void unknown_find(struct repair *r);
/* Offsets of the input, of which the pass asks in order: whether some of the next n bytes are not known; */
bool unknown_is_in_next(struct repair *r, uint64_t n);
/* Whether the next sub-record, of so many bytes, is a root that repeats the one before it, in a damaged gzip member: there damage
 * repeats bytes, and the only items that may be there many times are roots. */
bool unknown_repeats_root(struct repair *r, uint64_t size);
/* the first byte from here on that is not known, UINT64_MAX for none. */
uint64_t unknown_next(struct repair *r);

/* ---- repair_doubt.c: what damage follows directly may itself be damaged ---- */

/* The damage that begins at an offset of the input is being left out. */
void doubt_note(struct repair *r, uint64_t damage_at);
/* The offset of the one of two definitions of an ID that is to be left out. */
uint64_t doubt_choose(const struct repair *r, enum rule rule, uint64_t offset, uint64_t earlier);
/* Whether a finding of this rule may say that such a class is damaged, not the instance. */
bool doubt_explains(struct repair *r, enum rule rule);
/* The next pass begins: it leaves out such classes, if a finding says so. */
void doubt_leave_out(struct repair *r);
/* It has ended: it wrote elsewhere what is doubted. */
void doubt_end_pass(struct repair *r);
/* Reads the copy, which is the input: the next pass leaves out the classes that most of their instances contradict, each one once.
 * `doubts_found` says whether there are any. False if reading failed. */
bool doubt_find_classes(struct repair *r);

/* ---- repair_left.c ---- */

/* The next pass leaves out what contains this offset of the copy. */
void leave_out_at(struct repair *r, uint64_t offset);

/* ---- repair_threads.c ---- */

void threads_clear(struct repair *r);
void threads_begin_pass(struct repair *r);
/* The next record, or sub-record that is no object, is copied. */
void threads_note_record(struct repair *r);
void threads_note_root(struct repair *r);
/* Whether the copy has roots of a thread, but not its ROOT_THREAD_OBJECT. */
bool threads_are_missing(const struct repair *r);
/* How many threads have lost it: those that such roots or a stack trace name. */
uint64_t threads_count_lost(const struct repair *r);
/* Whether only one root of the copy names the thread whose serial is at this offset: that root may be other bytes, or damaged. */
bool thread_is_doubtful(struct repair *r, uint64_t offset);

/* ---- repair_stand_ins.c ---- */

/* Of a class in the present heap dump. Two of them have the same key by chance only. */
static inline uint64_t stand_in_key(const struct repair *r, uint64_t class_id)
{
    return class_id ^ r->heap_dump * UINT64_C(0x9e3779b97f4a7c15);
}

void stand_ins_clear(struct repair *r);
/* Whether a finding is about something that a stand-in replaces. */
bool stand_ins_fit(enum rule rule);
/* Whether the copy has primitive arrays, but not the class of these arrays; or roots of a thread, but not its ROOT_THREAD_OBJECT.
 * Readers refuse both, where the rules allow it. */
bool stand_ins_are_missing(const struct repair *r);
/* Reads the copy, which is the input, and makes stand-ins for what it lacks. False if memory ran out or reading failed. */
bool stand_ins_make(struct repair *r);

/* ---- repair_parts.c ---- */

/* Appends the parts to the copy of the first file, which is not ended yet. */
enum hprof_status parts_join(struct repair *r);
/* Where the first file, as it is, ends with the beginning of a part, as it does if the VM was killed while it appended that part,
 * these bytes are taken off: they come again with the part. A part of which the first file has all is not joined. */
bool parts_cut_overlap(struct repair *r);
/* The copy defines an ID twice, at these offsets: whether the definitions are in different files and differ is noted. */
void parts_note_duplicate(struct repair *r, enum rule rule, uint64_t offset, uint64_t earlier);
/* Likewise the class of an object, at this offset, that is not dumped: whether the object is in a part, and its class not
 * loaded. */
void parts_note_unloaded(struct repair *r, enum rule rule, uint64_t offset);

/* ---- repair_missing.c ---- */

void missing_init(struct repair *r);
void missing_clear(struct repair *r);

/* The copy has a finding of the rule at the offset: if something undefined is used there, all its uses are to be left out. */
void missing_note(struct repair *r, enum rule rule, uint64_t offset);

/* Whether the record of the cursor, or the CLASS_DUMP at p, all bytes of which are available, uses something that is missing. */
bool missing_in_record(struct repair *r, struct cursor c);
bool missing_in_class(const struct repair *r, const uint8_t *p);

/* ---- repair_misfits.c ---- */

void misfits_init(struct repair *r);
void misfits_clear(struct repair *r);
/* What the last check found. */
void misfits_forget(struct repair *r);

/* The copy has a finding of the rule at the offset. Whether it is that a class has objects which its name does not fit, for the
 * first time. misfits_decide() says what becomes of them; without stand-ins they are left out. */
bool misfit_note(struct repair *r, enum rule rule, uint64_t offset);

/* The same of OBJ-002 and OBJ-003, where an object has the ID of the class. False of CLS-010: there is no stand-in then. */
bool misfit_note_no_class(struct repair *r, enum rule rule, uint64_t offset);

/* Whether this pass leaves out the LOAD_CLASS of the class. */
bool is_renamed(struct repair *r, uint64_t class_id);

/* The class that an object gets, 0 if it is left out; and where its class is, an offset from the tag. */
struct other_class {
    uint64_t id, at;
};

/* Whether the sub-record that begins with the bytes of `c` is an object that gets another class. */
bool is_misfit(const struct repair *r, struct cursor c, struct other_class *other);

#endif
