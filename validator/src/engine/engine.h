/* The engine: the records of a dump in file order, each passed to its check; what happens where plain reading fails; threads. */
#ifndef HPROF_ENGINE_H
#define HPROF_ENGINE_H

#include <string.h>

#include "checks/checker.h"
#include "checks/heap.h"
#include "engine/jobs.h"
#include "engine/recovery.h"
#include "format/tags.h"

/* A sub-record that crosses the end of its heap dump record. The rule that it breaks depends on what follows. */
struct crossing_subrecord {
    bool active;
    uint8_t tag;
    uint8_t record_tag;
    uint8_t *bytes; /* all that passed, while it may be joined; else its first bytes, so that its size is known */
    size_t bytes_size, capacity;
    uint64_t record_at; /* the heap dump record */
    uint64_t at;        /* the sub-record */
    uint64_t had;       /* its bytes within the record */
    uint64_t passed;    /* its bytes within all segments so far */
    uint64_t size;      /* its size; 0 while unknown */
    unsigned parts;     /* its parts within all segments so far */
    uint64_t record_end;
    uint64_t skipped_before; /* what was skipped before it */
    uint64_t number;
    struct wrong_instance before; /* the sub-record before it: wrong only if this one can be joined */
};

/* A heap dump record that failed and may end beyond the end of the dump: if it does, its length is the fault, or that of the empty
 * heap dump record before it. */
struct overlong {
    uint64_t record_at, end;
    uint64_t unfilled; /* the empty record; 0 for none */
    struct position position;
    enum rule rule;   /* of the last malformed sub-record in it; */
    uint64_t finding; /* its offset */
};

enum { OVERLONG_MOST = 4, HEADERS = 8 };

/* What is known of the framing so far. */
struct framing {
    struct overlong overlong[OVERLONG_MOST]; /* those whose end was not passed: each ends after the ones before it */
    unsigned overlong_count;
    bool truncated;           /* the dump ended early, so nothing is reported to be missing */
    bool gave_up;             /* truncated, only because no way was found */
    bool stopped;             /* what follows cannot be checked */
    bool within_subrecord;    /* the dump ends within a sub-record to which lengths lead: it was truncated */
    bool failed;              /* because of something other than an early end */
    uint64_t second_header;   /* offset of a header where a record should be: two files were joined; 0 for none */
    uint64_t zeros_at;        /* zeros are where a record or a sub-record should be; 0 for none */
    bool appended;            /* reading failed at the end of the dump */
    uint64_t complete_until;  /* the end of the latest HEAP_DUMP_END, or of a dump of which all data was inflated; 0 for none */
    uint64_t heap_until;      /* the end of the latest HEAP_DUMP that ends where its length says; 0 for none */
    uint64_t before_segments; /* a HEAP_DUMP that segments follow directly: it may be one of them; 0 for none */
    bool lacks_trailer;       /* the gzip file ends within a trailer: no data is missing */
    bool is_unwritten;        /* zeros end the gzip file where its rest should be */
    bool segment_reported;    /* REC-005 was reported */
    struct unproven {
        uint64_t from, count;
        uint64_t skipped_before; /* what was skipped before the first */
        uint32_t times[2];       /* as below, before the first; */
        bool is_timed;           /* and this, too */
    } unknown,                   /* the records of unknown tag since the last known record; held until a known one follows */
        doubted; /* those since the last chain of records, or a long string: they, and the known ones after them, may be none */
    struct {     /* an empty heap dump record before what may be sub-records: its length may never have been filled in */
        uint64_t at, number;
        unsigned records; /* records that followed it */
    } unfilled;
    struct { /* the first heap dump record that does not end where its length says, although records follow, or the dump ends */
        uint64_t at, missing, extra; /* its offset, and the bytes that it lacks or has too many */
        bool ends_dump;
    } gap;
    uint64_t left_out_end; /* the latest declared end of a heap dump record that lies in what was left out */
    struct {               /* the first bytes that are there twice, one after the other: the second copy */
        uint64_t at, size;
    } doubled;
    struct {
        unsigned count; /* of primitive arrays before failures whose elements were left out */
        uint64_t last;  /* no other begins before this offset */
    } stripped;
    uint64_t begin;        /* of the dump: it may be begun anew */
    uint64_t sought_until; /* where it was last looked for such bytes: they are sought after it, so that time is linear */
    uint64_t looked_until; /* the same of those where reading went on */
    struct headers {       /* of dumps that may begin anew: the latest ones in the bytes that were searched for them */
        uint64_t at[HEADERS];
        unsigned count;
        uint64_t until; /* the end of these bytes */
    } headers;
    uint64_t failed_at;        /* the latest malformed sub-record where no records follow */
    uint64_t crossed_at;       /* the latest sub-record that crosses the end of its record, and that nothing continues */
    uint64_t recovering_at;    /* reading failed here, and the way is not found yet; 0 for nowhere */
    uint64_t skipped_before;   /* what was skipped before the present record */
    uint64_t last_record;      /* the offset of the latest record; 0 for none */
    struct position last_heap; /* the latest heap dump record */
    uint64_t last_definition;  /* the latest of known tag, if it is of no heap dump; else 0 */
    uint64_t looked_again;     /* bytes that were looked over more than once: see may_look_again() */
    uint64_t steps_spent;      /* see struct search */
    uint64_t searched_until;   /* the end of what was searched for items within a record; none that begins before is searched */
    uint64_t
        frontier;  /* recovery went back once before a failure here: it does so only for later ones, so that time is linear */
    uint32_t time; /* of the present record, */
    uint32_t times[2]; /* of the one before it, and of the one before that; of known tags */
    bool is_timed;     /* there is one before it */
};

/* Everything that is reported, and on which it depends what is reported, as it was before a record or sub-record; without offsets
 * that are found later. Damaged gzip members and jobs that were begun at the wrong place roll back to a checkpoint. */
struct checkpoint {
    uint64_t offset;
    uint64_t record_at; /* the record itself, or the one with the sub-record */
    struct findings_checkpoint findings;
    struct counts sum;
    struct producer_signs signs;
    struct framing framing;
    size_t loaded_classes;
    uint64_t lowest_class, highest_class;
    uint64_t missing[SHAPE_COUNT];
    struct losses losses;
};

/* Of a compressed dump: see gzip_faults.c. A unit is a record, the header of a heap dump record, or a sub-record. */
enum { LAST_MIB = 3 /* the one that data is wrong from, the next, and one that a unit ahead may hold */ };
struct checkpoints {
    struct checkpoint member;        /* before the unit with the first byte of the member that is being inflated; */
    struct checkpoint mib[LAST_MIB]; /* before those with the last multiples of 1 MiB, in order; */
    struct checkpoint unit;          /* before the last unit that called for a checkpoint */
    uint64_t member_start;           /* of the member that `member` is for */
    uint64_t unit_at, unit_end;      /* the last unit that was not left to the fast loops */
    uint64_t damaged_from;           /* the first byte that may be wrong; UINT64_MAX for none */
    const struct checkpoint *rolled_back_to;
    uint64_t failed_at; /* the first offset after that checkpoint at which reading failed; 0 for none */
};

/* After a failure, reading goes on where recovery found the way. */
struct resumption {
    bool pending; /* the present record was left */
    bool in_heap; /* a sub-record is next, of the record in `position`; else a record */
};

/* Where items begin that were read, so that the latest before a failure, and where it is, are found again. A mark for each record;
 * and a mark more for each one or more sub-records. */
enum { LATEST = 8, MARKS = LATEST + 1 };
struct marks {
    uint64_t at[MARKS]; /* a ring */
    unsigned count;
};

/* The last row of roots that cannot be there. */
struct phantoms {
    uint64_t at, last_end; /* where the first one begins, and the last one ends */
    uint64_t end;          /* of the row, and of the roots directly after it */
};

/* Whether lost objects are sought: not at all, where nothing else shows that something is wrong, or always, for who reads the dump
 * after the check. */
enum seeks_lost { SEEK_NO_LOST, SEEK_LOST_IF_SOUND, SEEK_LOST };

struct engine {
    struct run run;
    struct file file;
    struct heap heap;
    struct position position;
    struct input in;
    struct checker ck; /* these five, for checks */

    struct framing framing;
    struct resumption resume;
    struct marks records, subrecords; /* sub-records of the present heap dump record */
    struct phantoms phantoms;
    /* For each of `subrecords`: where a row of phantoms begins that ends there; else the mark itself. */
    uint64_t rows[MARKS];
    struct crossing_subrecord cut;
    struct checkpoint *unfilled;     /* after the empty heap dump record of framing.unfilled; NULL before the first */
    struct checkpoints *checkpoints; /* NULL unless the dump is compressed */
    struct jobs *jobs;               /* NULL if one thread checks everything */
    uint64_t looked_after;           /* bytes that were looked over after arrays, for lost objects: see may_look_again() */
    uint64_t steps_after;            /* the same of steps: see struct search */
    enum seeks_lost seeks_lost;      /* objects, at the end of a heap dump that lacks some */
    bool could_not_seek;             /* them, in a heap dump that lacks some */
    unsigned transfer;               /* HPROF_TRANSFER_*: what the first bytes look like */
    bool high_bytes;                 /* after a failure there are bytes from 128 on */
    bool was_transcoded;             /* in the first bytes, invalid UTF-8 was replaced */
    bool id_size_is_wrong;           /* by the first bytes, the records have IDs of another size than the header says */
    bool lost_gzip;                  /* the beginning of the gzip file that holds the dump is damaged or lost */
    bool garbage_after;              /* what follows the last gzip member may have been a member */
};

/* Where the heap dump record ends by its length. */
static inline uint64_t stated_heap_end(const struct position *p)
{
    return p->record_at + RECORD_HEADER_SIZE + p->record_length;
}

/* A HEAP_DUMP goes on up to the end by its length also where records are within it, as in a file whose blocks changed places. */
static inline bool heap_dump_has_ended(const struct engine *e)
{
    return e->in.offset >= stated_heap_end(&e->framing.last_heap);
}

/* The producer that a dump looks like. */
struct producer {
    enum profile profile; /* PROFILE_STRICT if it looks like none */
    const char *name;     /* then "" */
};

/* The next bytes, up to `wanted`. */
static inline struct sight sight_of(struct engine *e, size_t wanted)
{
    const size_t size = look_at(&e->in, wanted, UINT64_MAX);

    return (struct sight){e->in.at, size, size < wanted, e->file.id_size, e->file.version};
}

/* The bytes that recovery sees from here on: up to `sight` bytes (hprof/testing.h) beyond `n`. */
static inline struct sight sight_beyond(struct engine *e, uint64_t n)
{
    const size_t sight = e->run.sizes.sight;

    return sight_of(e, sight + (n < sight ? (size_t)n : sight));
}

static inline void take_checkpoint(const struct engine *e, struct checkpoint *to)
{
    *to = (struct checkpoint){.offset = e->in.offset,
                              .record_at = e->position.record_at,
                              .sum = e->run.sum,
                              .signs = e->file.signs,
                              .framing = e->framing,
                              .loaded_classes = e->file.classes.loaded.count,
                              .lowest_class = e->file.classes.lowest_id,
                              .highest_class = e->file.classes.highest_id,
                              .losses = e->file.losses};
    memcpy(to->missing, e->run.missing, sizeof to->missing);
    findings_checkpoint(&e->run.findings, &to->findings);
}

/* What take_checkpoint() noted, except findings, becomes as it was. */
static inline void restore(struct engine *e, const struct checkpoint *to)
{
    e->run.sum = to->sum;
    memcpy(e->run.missing, to->missing, sizeof e->run.missing);
    e->file.signs = to->signs;
    e->file.losses = to->losses;
    e->file.classes.lowest_id = to->lowest_class;
    e->file.classes.highest_id = to->highest_class;
    e->framing = to->framing;
}

/* ---- gzip_faults.c ---- */
void begin_gzip(struct engine *e);
void end_gzip(struct engine *e);
void on_gzip_fault(void *context, const struct gzip_finding *g);
bool begin_gzip_unit(struct engine *e, uint64_t size);
/* To be called before what is checked without a fast loop: the next `size` bytes, where a gzip member may turn out to be damaged.
 * False if checking ends here because of one. */
static inline bool begin_unit(struct engine *e, uint64_t size)
{
    return !e->checkpoints || begin_gzip_unit(e, size);
}
/* Where the fast loops must stop. */
uint64_t next_checkpoint(const struct engine *e);
/* When all was read: what is reported becomes what it was at the checkpoint that was rolled back to, if any. */
void restore_checkpoint(struct engine *e);
/* What was read since a checkpoint does not count: no later fault rolls back to what followed it. */
void forget_checkpoints(struct engine *e, const struct checkpoint *to);
/* The offset of that checkpoint; UINT64_MAX if there is none. */
uint64_t checked_until(const struct engine *e);

/* ---- heap_dump.c ---- */
void begin_heap_dump(struct engine *e);
void end_heap_dump(struct engine *e);
void settle_heap_dump(struct engine *e); /* ends one that might have gone on */
/* By tag: how many records are none of UTF8, LOAD_CLASS, FRAME and TRACE. */
uint64_t count_besides_definitions(const uint64_t records[256]);
/* Whether a heap dump has no sub-record, in a file that has else only definitions, of more than a few classes: its records were
 * lost. */
bool heap_dump_is_empty(const struct counts *counts);

/* ---- lost_objects.c ---- */
/* At the end of a heap dump, whose objects are known up to an offset: finds lost objects, if the caller reads the dump after the
 * check, or to say that they are there. */
void find_lost_objects(struct engine *e, uint64_t end);

/* ---- missing_dumped.c ---- */
/* Whether the ID of a missing object follows the tag of an object between two offsets. True also if that is not known. */
bool missing_may_be_dumped(struct engine *e, uint64_t from, uint64_t end);

/* ---- heap_records.c ---- */
/* False: the dump ended within. Otherwise the record ended, or was left (e->resume). */
bool check_heap_record(struct engine *e, uint64_t length);
bool check_subrecords(struct engine *e); /* from here on */

/* ---- crossing.c ---- */
/* The sub-record here crosses the end of its record: passes the part of it that is there. False if the dump ends before, or memory
 * ran out. */
bool crossing_subrecord(struct engine *e);
/* Reports a sub-record that crossed the end of its record, once its rule is known; or drops it. */
void settle_crossing(struct engine *e, enum rule rule);
void drop_crossing(struct engine *e);
/* At the header of a segment of `length` bytes: whether it goes on with the sub-record that crossed the end of the record before.
 * */
bool crossing_goes_on(struct engine *e, uint64_t length);
/* At the first byte of a HEAP_DUMP_SEGMENT of `length` bytes: if it begins with the rest of a sub-record from the preceding
 * segment, moves past that. False if the dump ends before. */
bool pass_crossing_part(struct engine *e, uint64_t length);

/* ---- resume.c ---- */
/* The first record before an offset, where reading may fail, that may be none or too long: recovery goes back to it. */
uint64_t first_doubted(const struct engine *e, uint64_t at);
/* Reading failed in a heap dump record, at or after an offset: finds the way from that offset on, in the record and beyond it,
 * and sets e->resume. Only with `may_be_here` may it begin at that offset itself. False if there is none, or the input cannot go
 * back to that offset; then the input may have moved. */
bool resume_in_record(struct engine *e, uint64_t from, uint64_t record_end, bool may_be_here);
/* Where, from an offset on and before another, a chain of sub-records begins within the sub-record here, of `size` bytes, and leads
 * past its end; 0 if there is none. *record_end becomes UINT64_MAX where it is not credible. Where it is in doubt whether this
 * sub-record is too long at all, the chain must be sure before its end. */
uint64_t way_within(struct engine *e, uint64_t size, bool is_doubt, uint64_t from, uint64_t until, uint64_t *record_end);
/* Such a chain may be one of bytes that are there twice: goes on after the second copy, and sets e->resume. */
bool resume_after_copy(struct engine *e, uint64_t way);
/* Goes on with that chain, and sets e->resume. */
void resume_within(struct engine *e, uint64_t way, uint64_t record_end);
/* Like resume_in_record() where no record is known to hold what follows. */
bool resume_anywhere(struct engine *e, uint64_t from);
/* The length of an empty heap dump record may never have been filled in. If its sub-records lead past the failure, goes on with
 * them: what was read as records after it does not count. */
bool resume_unfilled(struct engine *e, uint64_t failed_at);
/* Whether the body of the present record, which is next, begins with sub-records. */
bool holds_subrecords(struct engine *e);

/* ---- trail.c ---- */
/* An item begins at an offset. */
void add_mark(struct marks *marks, uint64_t at);
/* The last item, from the one at an offset after all marks back, that begins at an offset of at most `most`; the first mark if all
 * begin later. */
uint64_t last_mark(const struct marks *marks, uint64_t after, uint64_t most);
/* A sub-record begins here; with `first`, the first one that is read. */
void mark(struct engine *e, bool first);
/* Its size is known: it may be a root that cannot be there. */
void mark_phantom(struct engine *e, uint64_t size);

/* ---- failure.c ---- */
/* The first heap dump record with a malformed sub-record that ends after what was read; NULL if there is none. */
const struct overlong *overlong_record(const struct engine *e);
/* Whether records follow here, up to `count`, or the end. */
bool records_follow_here(struct engine *e, unsigned count);
/* The dump ends within the present record, or within a header of which n bytes exist. Consequences are not reported. */
void report_truncated(struct engine *e);
void report_truncated_header(struct engine *e, size_t n);
/* Whether the dump is incomplete and that was already reported. Bytes after the last gzip member may have been a member, so
 * they explain an early end. */
bool end_was_reported(struct engine *e);
/* Skips the body of the present record. False if the dump ends before. */
bool skip_body(struct engine *e);
/* No length leads on: goes on at the first place after an offset from which records or sub-records lead on; if there is none,
 * reads to the end without checking. The bytes between count as skipped, with those that were skipped before the offset. */
void go_on_from(struct engine *e, uint64_t from, uint64_t skipped_before);
/* Reads to the end without checking. */
void skip_to_end(struct engine *e, uint64_t from);
/* Reports that the present record does not have the length of its kind or count, and resumes where a record follows. */
void wrong_length(struct engine *e, enum rule rule, const char *expected, uint64_t right);
/* The present record is a string. If it is so long that recovery could hardly go back from its end, and other items begin within
 * it, reports that its length is wrong, and resumes where the way is found. */
bool leave_too_long(struct engine *e);
/* Holds a record of unknown tag. */
void hold_unknown(struct engine *e);
/* Called at the header of a known record after held ones. False if they were not records, so that nothing after them can be
 * checked. */
bool release_unknown(struct engine *e);
/* Called after the header of a heap dump record of length 0: if sub-records follow, that explains a later failure. */
void hold_empty(struct engine *e);
/* Plain reading failed at the present record. If an unfilled length explains that, reports it and returns true. */
bool was_unfilled(struct engine *e);
/* Reports that the length of an empty heap dump record was not filled in, in place of REC-010. */
void report_unfilled(struct engine *e, uint64_t at);

/* ---- losses.c ---- */
/* A heap dump begins. */
void begin_losses(struct engine *e);
/* Skipped bytes may have defined this (enum may_define). */
void lose_definitions(struct engine *e, unsigned definitions);
/* They may have been sub-records of this heap dump; */
void lose_part(struct engine *e);
/* its rest may define anything; */
void lose(struct engine *e);
/* the same after a malformed sub-record of the present record; */
void lose_after_malformed(struct engine *e);
/* an array that had been read; */
void lose_array(struct engine *e);
/* The ID of the object or class that a sub-record here, of this tag, dumps; else 0. It may count as defined, and is lost. */
uint64_t object_here(struct engine *e, uint8_t tag);
void lose_object(struct engine *e, uint64_t id);
/* a heap dump; */
void lose_heap_dump(struct engine *e);
/* a HEAP_DUMP_END; */
void lose_heap_end(struct engine *e);
/* anything. */
void lose_all(struct engine *e);
/* Records before an offset are read again; */
void read_records_again(struct engine *e, uint64_t until);
/* or sub-records of the present heap dump. */
void read_subrecords_again(struct engine *e, uint64_t until);
/* The present record, whose length is not the right one, is about to be skipped: its tag may be wrong instead. */
void lose_record(struct engine *e, const struct sight *body, uint64_t right);
/* The present record, of unknown tag, was skipped. */
void lose_unknown(struct engine *e);
/* Called at the end: if records of unknown tag are errors, what they may have defined is not called undefined. */
void settle_unknown(struct engine *e);

/* ---- lost_references.c ---- */
/* What the object or class here, of so many bytes, refers to need not be in the dump: it is left out. */
void lose_references(struct engine *e, uint64_t size);

/* ---- hints.c ---- */
/* Called before the header: looks for the effects of a transfer as text. */
void look_for_text(struct engine *e);
/* Records follow here, or the dump ends, after a heap dump record whose length leads elsewhere. */
void note_gap(struct engine *e, uint64_t record_at, uint64_t stated_end);
void conclude_transfer(struct engine *e);
/* Where zeros may begin that are the reason of a wrong type, so many bytes after the tag of the sub-record here: at the type of a
 * field, or where a sector of a disk begins in the head of an array. Else 0: at the tag. */
uint64_t zeros_may_begin(struct engine *e, uint8_t tag, uint64_t bad_at);
/* Plain reading failed so many bytes after this offset: looks whether zeros are the reason; */
void look_for_zeros(struct engine *e, uint64_t after);
/* or in the records that were skipped, from an offset up to here. Arrays have zeros anywhere. */
void look_for_skipped_zeros(struct engine *e, uint64_t from);
/* The sub-record here precedes a failure: looks whether it is a primitive array whose elements were left out, so that an object
 * follows its header. */
void look_for_stripped_array(struct engine *e);
/* After a failure in a heap dump record, of a declared end, reading goes on here; what lies between an offset and here is left out.
 */
void note_left_out(struct engine *e, uint64_t from, uint64_t stated_end);
/* The hint, or NULL. Called when all findings are counted and have their severities. */
const char *choose_hint(struct engine *e);

/* ---- lost_header.c ---- */
/* The bytes here are no header of a dump: whether a dump begins in those that follow, so that its header is damaged or lost. */
bool dump_follows(struct engine *e);
/* The same after the zeros that are here, which the input passes. */
bool dump_follows_zeros(struct engine *e);
/* The same of a gzip file whose beginning is damaged or lost, and that holds a dump. The input passes what it looks at. */
bool gzip_follows(struct engine *e);

/* ---- records.c ---- */
void check_records(struct engine *e);

/* ---- progress.c ---- */
/* A callback returned this. If it is not 0, the stream ends, and with it the check. */
void stop_if(struct engine *e, int result);
void show_progress(struct engine *e);

/* ---- producer.c ---- */
struct producer guess_producer(const struct run *run, const struct file *file);
/* How findings get their severities; known after reading. */
struct severity_choice choose_severity(const struct engine *e, struct producer producer);

#endif
