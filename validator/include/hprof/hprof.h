/* libhprof-validate: checks HPROF heap dumps (JAVA PROFILE 1.0.1 and 1.0.2) against SPEC.md.
 *
 * This header checks, shows and repairs dumps; hprof/read.h reads them. The library keeps no global state, prints nothing and
 * never ends the process; several threads may check several dumps at once. The strings that it hands out are UTF-8,
 * NUL-terminated, and free of control characters, whatever the dump contains.
 *
 * Structures begin with their size, so that programs and library may be of different versions. The functions whose names end in
 * _init fill in the size that the caller was compiled with, and the defaults; each structure must be passed to its function
 * first. Later versions only add members at the end. A library that gets a larger structure than it knows uses the members that
 * it knows, and refuses, with HPROF_USAGE, if any of the others is not zero. A structure of results is filled in as far as
 * both know it; the rest is zero. Structures that the library hands to callbacks may be smaller than the caller's type if the
 * library is older: HPROF_HAS() says whether a member is there. */
#ifndef HPROF_HPROF_H
#define HPROF_HPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPROF_VERSION "0.3.0"

/* The version of the library, which may differ from the header's: "0.3.0". */
const char *hprof_version(void);

/* Whether the structure that a pointer points to has a member. */
#define HPROF_HAS(pointer, member) \
    ((size_t)((const char *)(&(pointer)->member + 1) - (const char *)(pointer)) <= (pointer)->struct_size)

/* The result for one dump. The values are the exit statuses of hprof-validate; a larger one is graver. */
enum hprof_status {
    HPROF_VALID = 0,   /* no errors; there may be warnings and notes. Or incomplete, if that is allowed */
    HPROF_INVALID = 1, /* at least one error, or incomplete: see struct hprof_summary */
    HPROF_USAGE = 2,   /* the arguments or options are not valid; nothing was read */
    HPROF_IO = 3,      /* the input could not be read to its end */
    HPROF_LIMIT = 4,   /* max_memory was reached, or the allocator returned NULL */
    HPROF_STOPPED = 5  /* a callback ended the run; hprof-validate never has this status */
};

enum hprof_severity {
    HPROF_OFF = 0,     /* not reported, not counted */
    HPROF_NOTE = 1,    /* a known quirk of the producer whose profile is used */
    HPROF_WARNING = 2, /* unusual, but readers can cope */
    HPROF_ERROR = 3    /* breaks the specification */
};

/* An unknown offset: see struct hprof_finding. */
#define HPROF_NO_OFFSET UINT64_MAX

/* ---- The rules -------------------------------------------------------------------------------------------------- */

struct hprof_rule {
    const char *id;               /* "OBJ-004": stable, and never reused for another rule */
    const char *family;           /* "OBJ" */
    const char *name;             /* "object-id-duplicate" */
    enum hprof_severity severity; /* in the strict profile */
    enum hprof_severity lax;      /* in the other profiles, before their quirks */
    bool framing;                 /* cannot be disabled or softened, because what follows cannot be checked */
    const char *clause;           /* section of SPEC.md: "6.4.2" */
    const char *rows;             /* rows of the decision table, RULES.md G */
    const char *summary;          /* what the rule requires, one line */
    const char *why;              /* why it matters */
    const char *producers;        /* which producers break it and how, or that none is known to */
    const char *readers;          /* how readers fare with a dump that breaks it */
    const char *example;          /* the fault in the notation of corpus/, one line or more */
};

size_t hprof_rule_count(void);
/* Rules in the order of SPEC.md's families; NULL from hprof_rule_count() on. The pointer is always valid. */
const struct hprof_rule *hprof_rule_at(size_t index);
/* The index of a rule by ID or name, in any case; SIZE_MAX if there is none. */
size_t hprof_rule_find(const char *id_or_name);

/* ---- The profiles ----------------------------------------------------------------------------------------------- */

struct hprof_profile {
    const char *name;        /* "jdk8-agent" */
    const char *description; /* one line */
};

/* strict, auto, hotspot, jdk8-agent, jvmpi-agent, sa, android, graalvm, mat, in this order; NULL after the last. */
const struct hprof_profile *hprof_profile_at(size_t index);
/* The index of a profile by name; SIZE_MAX if there is none. */
size_t hprof_profile_find(const char *name);

/* A known deviation of a producer: its profile changes the severity of findings of exactly this shape. */
struct hprof_quirk {
    size_t profile;               /* index for hprof_profile_at() */
    size_t rule;                  /* index for hprof_rule_at() */
    enum hprof_severity severity; /* of such a finding */
    const char *shape;            /* the shape in words; NULL for any */
    const char *versions;         /* which versions of the producer do it */
    const char *evidence;         /* how this is known */
};

/* The quirks, in the order of the profiles; NULL after the last. */
const struct hprof_quirk *hprof_quirk_at(size_t index);

/* ---- Tags ------------------------------------------------------------------------------------------------------- */

/* "LOAD_CLASS" for 0x02; NULL for a tag that no version defines. */
const char *hprof_record_name(uint8_t tag);
/* "INSTANCE_DUMP" for 0x21; NULL for a tag that no version defines. */
const char *hprof_subrecord_name(uint8_t tag);

/* ---- Findings --------------------------------------------------------------------------------------------------- */

/* Offsets count bytes of the dump from 0, after decompression. Offsets of the GZ family count bytes of the compressed file. All
 * pointers are valid only during the callback. */
struct hprof_finding {
    size_t struct_size;
    size_t rule; /* index for hprof_rule_at() */
    enum hprof_severity severity;
    uint64_t offset; /* of the field at fault; HPROF_NO_OFFSET only for REF-002 on input that cannot be read twice */
    /* Of the earlier definition of what is defined twice; else, and mostly on input that cannot be read twice, HPROF_NO_OFFSET. */
    uint64_t related_offset;
    const char *path;     /* "HEAP_DUMP_SEGMENT #3 > INSTANCE_DUMP 0x7ff0a8 (java.lang.String)"; never NULL, may be empty */
    const char *message;  /* what the rule requires: its summary; never NULL */
    const char *expected; /* never NULL */
    const char *found;    /* never NULL */
    const char *quirk;    /* why a profile changed the severity, or NULL */
    bool in_baseline;     /* a note because of hprof_options.baseline */
};

/* Numbers by rule have room for the rules of later versions. Those from hprof_rule_count() on are 0. */
enum { HPROF_RULE_ROOM = 256, HPROF_FAILURE_SIZE = 256, HPROF_HINT_SIZE = 256 };

/* The summary of a run. Its strings are valid for ever, except a hint that has numbers: it lies in `hint_text` of the summary that
 * was filled in. */
struct hprof_summary {
    size_t struct_size;
    enum hprof_status status;
    bool compressed;                /* the file was gzip */
    const char *version;            /* "1.0.2"; "" if the header has none */
    uint32_t id_size;               /* 4 or 8; any other value as found; 0 if the header has none */
    uint64_t timestamp;             /* milliseconds since 1970-01-01 UTC, as in the header */
    uint64_t bytes;                 /* of the dump, decompressed; those that were read, if it could not be read to its end */
    uint64_t file_bytes;            /* of the file */
    uint64_t sound_until;           /* the framing has no fault up to this offset */
    uint64_t skipped;               /* bytes that could not be checked because of an earlier fault */
    size_t profile;                 /* index of the profile that was used: for "auto", the one chosen */
    const char *producer;           /* "HotSpot 17": the likely producer; "" if unknown */
    const char *accepted_by;        /* the producer's profile, if the dump has errors, but none in that one; else NULL */
    uint64_t record_counts[256];    /* complete records by tag */
    uint64_t subrecord_counts[256]; /* complete sub-records by tag */
    uint64_t classes, instances, object_arrays, primitive_arrays; /* sub-records of each kind */
    uint64_t loaded_classes;                                      /* class IDs that a LOAD_CLASS defines */
    /* IDs in fields, elements, statics and constants of type object, including null. If bytes were skipped, those of sub-records
     * that were left out with them may be counted. */
    uint64_t references;
    uint64_t strings; /* UTF8 records */
    uint64_t errors, warnings, notes;
    size_t producer_profile;               /* index of the profile of the likely producer; strict if it is unknown */
    uint64_t quirk_errors, quirk_warnings; /* quirks by their severity in this run */
    /* Nothing is wrong but that something is missing: objects that are referred to (in all profiles but strict), the end of a
     * series of segments (REC-007), everything but definitions (REC-016; or a heap dump is there without any sub-record, in all
     * profiles but strict), or the file to which a part belongs (is_part); or missing_undecided. There is no other error. The
     * status is then HPROF_INVALID, unless allow_incomplete is set. */
    bool incomplete;
    uint64_t missing_objects; /* at least so many: the distinct IDs that are referred to and not dumped, outside of quirks */
    bool missing_undecided;   /* one reading was too little to decide whether objects are missing; for a file it would do */
    uint64_t memory_needed;   /* if max_memory was reached: about how much will do; 0 if unknown */
    const char *hint;         /* the usual cause of such findings ("the disk was full, ..."), or NULL */
    /* One sentence, without a full stop, for HPROF_USAGE, HPROF_IO, HPROF_LIMIT and HPROF_STOPPED; else "". */
    char failure[HPROF_FAILURE_SIZE];
    uint64_t totals[HPROF_RULE_ROOM];      /* findings by rule, exact whatever max_errors is; 0 for disabled rules */
    uint64_t quirks[HPROF_RULE_ROOM];      /* by rule: how many of the totals are known quirks of the likely producer */
    uint64_t quirk_notes[HPROF_RULE_ROOM]; /* by rule: how many of the totals are notes because of a quirk of the profile */
    unsigned transfer;                     /* HPROF_TRANSFER_*: what a transfer has done to the dump, by its first bytes */
    size_t kindest_profile;                /* index of the profile in which the dump has the fewest errors */
    bool is_part;                          /* a part of a dump, FILE.p0 or another, which has no header */
    bool header_lost;                      /* the header is damaged or lost; a repair makes one */
    bool found_lost;                       /* missing objects lie within others; a repair gets them back */
    char hint_text[HPROF_HINT_SIZE];       /* for `hint`, which is NULL instead if a caller's structure ends before it */
};

static inline void hprof_summary_init(struct hprof_summary *summary)
{
    memset(summary, 0, sizeof *summary);
    summary->struct_size = sizeof *summary;
}

/* ---- Sources ---------------------------------------------------------------------------------------------------- */

/* The bytes of a file from wherever the caller has them: a TLS stream, the body of an HTTP response, a Blob in a browser.
 * Callbacks return how many bytes they read, from 1 to `size`; 0 at the end; and below 0 if they failed: the negative of an errno
 * value, which the failure then explains.
 * `read` gives the bytes in their order, on the calling thread. `read_at` gives them from an offset of the source, 0 at first,
 * and makes the source like a regular file: parts are read again if that is needed to find an offset. It is called by several
 * threads at once if the options allow more than one. With `read_at`, `read` may be NULL. */
struct hprof_source {
    size_t struct_size;
    int64_t (*read)(void *context, void *to, size_t size);
    int64_t (*read_at)(void *context, uint64_t offset, void *to, size_t size); /* or NULL */
    uint64_t size;                                                             /* of the whole, if there is a `read_at` */
    void *context;
};

static inline void hprof_source_init(struct hprof_source *source)
{
    memset(source, 0, sizeof *source);
    source->struct_size = sizeof *source;
}

/* A transfer has put text before the header, made CR LF of each LF, stored each byte from 128 on as a character of Latin-1 in
 * UTF-8, cleared the highest bit of each byte, put U+FFFD in place of bytes that are not UTF-8, or '?' in place of each byte from
 * 128 on. The first three can be undone exactly, and a repair does that. */
#define HPROF_TRANSFER_TEXT_BEFORE 1u
#define HPROF_TRANSFER_CRLF 2u
#define HPROF_TRANSFER_LATIN1 4u
#define HPROF_TRANSFER_SEVEN_BIT 8u
#define HPROF_TRANSFER_REPLACED 16u
#define HPROF_TRANSFER_ASCII 32u
/* Two pieces of a file were joined in the wrong order, so that it begins within the dump. Only a repair says so, and undoes it. */
#define HPROF_TRANSFER_ORDER 128u
/* With others: they happened to the gzip file that holds the dump, not to the dump. */
#define HPROF_TRANSFER_GZIP 64u

/* ---- Checking --------------------------------------------------------------------------------------------------- */

/* The library takes all memory from here. Blocks are aligned for any type, as malloc's are. release() gets the size that was
 * allocated. Called by any thread of a dump, but never by two at once. */
struct hprof_allocator {
    void *(*allocate)(void *context, size_t size); /* NULL ends the run with HPROF_LIMIT */
    void (*release)(void *context, void *memory, size_t size);
    void *context;
};

struct hprof_testing; /* of the library's own tests */

struct hprof_options {
    size_t struct_size;
    size_t profile;        /* index of the profile; 0 is strict */
    uint64_t max_errors;   /* findings handed out for each rule, the gravest first, then the first; 0 for all */
    uint64_t max_memory;   /* bytes, without the fixed part of a check (at most 256 KiB); 0 for no limit */
    bool werror;           /* warnings count as errors */
    bool allow_incomplete; /* a dump that is incomplete, but has no error, is HPROF_VALID */
    unsigned threads;      /* that check a plain file or inflate members of a gzip file; of a pipe, one reads ahead. 0 is 1 */
    /* By rule, or NULL: a severity that replaces the profile's, or HPROF_UNCHANGED. Ignored for framing rules. */
    const uint8_t *severities;
    /* By rule, or NULL: if a rule has no more findings than this, they are notes. Applies to framing rules, too. */
    const uint64_t *baseline;
    const struct hprof_allocator *allocator; /* NULL for the C library's */
    const struct hprof_testing *testing;     /* NULL, except in tests */

    /* Each callback may be NULL, and is called on the calling thread. One that returns anything but 0 ends the run with
     * HPROF_STOPPED; no other callback follows. */
    /* Called once, after reading, before the findings. For HPROF_USAGE the summary has the failure and nothing else. */
    int (*on_summary)(void *context, const struct hprof_summary *summary);
    /* Called for each finding, by offset; REF-002 comes last, by the ID that is undefined. */
    int (*on_finding)(void *context, const struct hprof_finding *finding);
    /* Called every few MB, and at the end unless the run fails. Both arguments count bytes of the file; total is 0 if unknown. */
    int (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context; /* passed to the callbacks */
};
#define HPROF_UNCHANGED 255

/* The defaults: strict, 20 findings a rule, no limit, one thread, malloc, no callbacks; incomplete dumps are invalid. Called with
 * the caller's size by hprof_options_init(). */
void hprof_options_defaults(struct hprof_options *options, size_t size);
static inline void hprof_options_init(struct hprof_options *options)
{
    hprof_options_defaults(options, sizeof *options);
}

/* The functions that check return the status, and fill in the caller's summary, which may be NULL. */

/* Checks the bytes of `fd` from its present position to the end. Parts of a regular file are read again if that is needed to find
 * an offset; anything else is read once. The caller closes the descriptor. */
enum hprof_status hprof_validate_fd(int fd, const struct hprof_options *options, struct hprof_summary *summary);

/* Checks bytes in memory, which must not change meanwhile. They are read like a file, or, with `as_pipe`, like a pipe. `bytes` may
 * be NULL only if `size` is 0. */
enum hprof_status hprof_validate_memory(const void *bytes, size_t size, bool as_pipe, const struct hprof_options *options,
                                        struct hprof_summary *summary);

/* Checks the bytes of a source. */
enum hprof_status hprof_validate_source(const struct hprof_source *source, const struct hprof_options *options,
                                        struct hprof_summary *summary);

/* ---- Feeding ---------------------------------------------------------------------------------------------------- */

/* A check of bytes that come in pieces, of any size: to an event loop, for instance. They are read once, as from a pipe, and no
 * more of them are kept. There is no thread. on_progress and the allocator are called on a stack of 128 KiB. */
struct hprof_feeder;

/* Begins a check. NULL if there is no memory; the other functions take that, too. What the options point to must stay until the
 * check ends. */
struct hprof_feeder *hprof_feeder_open(const struct hprof_options *options);

/* Checks the next bytes. False once the check needs no more: because it failed, or because this is no dump. */
bool hprof_feed(struct hprof_feeder *feeder, const void *bytes, size_t size);

/* The dump ends here. Ends the check as the functions above do, and releases the feeder. HPROF_USAGE if the options are not valid,
 * or if the system has no makecontext(): musl, macOS and WASI have none. */
enum hprof_status hprof_finish(struct hprof_feeder *feeder, struct hprof_summary *summary);

/* ---- Showing ---------------------------------------------------------------------------------------------------- */

/* A line about a record, a sub-record, a part of one, or its bytes. All pointers are valid only during the callback. */
struct hprof_line {
    size_t struct_size;
    uint64_t offset;      /* of the first byte that the line describes; HPROF_NO_OFFSET for a closing bracket */
    unsigned depth;       /* 0 for a record, 1 for a sub-record, 1 more for a part of either */
    bool here;            /* the line describes the byte at hprof_show.offset */
    const char *text;     /* in the notation of corpus/; "" in a line of bytes or about hidden parts */
    const char *remark;   /* the names of the IDs in the text, or what is hidden; may be "" */
    const uint8_t *bytes; /* at most 16 bytes; NULL in a line of text */
    size_t byte_count;
};

struct hprof_show {
    size_t struct_size;
    uint64_t offset;                         /* the record or sub-record that contains this byte is shown */
    uint64_t around;                         /* and at most this many before it and after it */
    const struct hprof_allocator *allocator; /* NULL for the C library's */
    int (*on_line)(void *context, const struct hprof_line *line); /* anything but 0 ends the run with HPROF_STOPPED */
    void *context;
};

static inline void hprof_show_init(struct hprof_show *show)
{
    memset(show, 0, sizeof *show);
    show->struct_size = sizeof *show;
}

struct hprof_show_result {
    size_t struct_size;
    char failure[HPROF_FAILURE_SIZE]; /* one sentence for any result but HPROF_VALID */
};

static inline void hprof_show_result_init(struct hprof_show_result *result)
{
    memset(result, 0, sizeof *result);
    result->struct_size = sizeof *result;
}

/* Shows the records around an offset of a dump in a regular file, plain or gzip. The lengths of records lead to the offset, so that
 * a plain dump of any size takes a fraction of a second, and a compressed one as long as it takes to inflate. Where lengths do not
 * lead on, the dump is checked first, and read as the check reads it: what that steps over is shown as bytes with a remark.
 * HPROF_VALID: the records are shown. HPROF_INVALID: the offset is in what the check steps over, or in a record that is malformed
 * or truncated; or the file does not begin with a valid header. HPROF_USAGE: the dump has no such offset, or the file is not a
 * regular file. HPROF_IO and HPROF_LIMIT as usual. `result` may be NULL. */
enum hprof_status hprof_show_fd(int fd, const struct hprof_show *show, struct hprof_show_result *result);

/* The same of a source that has a `read_at`. */
enum hprof_status hprof_show_source(const struct hprof_source *source, const struct hprof_show *show,
                                    struct hprof_show_result *result);

/* ---- Repairing -------------------------------------------------------------------------------------------------- */

/* What was left out of a repaired dump, by kind and class. */
struct hprof_left_out {
    size_t struct_size;
    /* "INSTANCE_DUMP java.lang.String", "UTF8"; "bytes" outside of records; "records and objects that may be wrong: ..." for
     * those whose kind and class are not certain. Valid only during the callback. */
    const char *what;
    uint64_t count; /* records, sub-records or ranges of bytes */
    uint64_t bytes;
};

/* A class of which objects were left out; for arrays of a primitive type, "byte[]". Valid only during the callback. */
struct hprof_class_loss {
    size_t struct_size;
    const char *class_name;
    uint64_t objects, bytes; /* that were left out: instances or arrays, with their headers */
    uint64_t kept;           /* objects that the copy has */
};

struct hprof_repair {
    size_t struct_size;
    size_t profile;                          /* index of the profile in which the copy must be valid */
    const uint8_t *severities;               /* as in struct hprof_options, or NULL */
    const struct hprof_allocator *allocator; /* NULL for the C library's */
    uint64_t max_memory;                     /* bytes; 0 for no limit */
    /* Each may be NULL; one that returns anything but 0 ends the run with HPROF_STOPPED. */
    int (*on_left_out)(void *context, const struct hprof_left_out *left_out); /* called at the end, the most bytes first */
    int (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
    /* Parts of the dump, regular files: a VM of JDK 22 or later that is killed while it dumps leaves them beside `from`. Each is
     * read to its last complete sub-record, and appended. */
    const int *parts;
    size_t part_count;
    bool parts_are_sure; /* else they are used only if the dump in `from` has no end */
    bool no_stand_ins;   /* leave out what needs a class, a name, a thread or a stack trace that is lost */
    /* Called at the end for each class, the most bytes first; or NULL, which saves the time to count the objects of these
     * classes. */
    int (*on_class_loss)(void *context, const struct hprof_class_loss *loss);
    unsigned threads; /* as in struct hprof_options; 0 means 1 */
};

static inline void hprof_repair_init(struct hprof_repair *repair)
{
    memset(repair, 0, sizeof *repair);
    repair->struct_size = sizeof *repair;
}

struct hprof_repair_result {
    size_t struct_size;
    uint64_t bytes_in, bytes_out; /* of the decompressed dump, and of the copy */
    uint64_t left_out;            /* bytes */
    uint64_t lengths_mended;      /* records whose length was changed: it was wrong, or parts were left out */
    uint64_t headers_made;        /* records that were given to sub-records whose own record was lost */
    uint64_t joined;              /* sub-records that crossed the end of a segment, which is joined with the next one */
    uint64_t traces_cleared;      /* serial numbers of missing stack traces, set to 0: no stack trace */
    uint64_t gzip_faults;         /* faults of the gzip container */
    uint64_t gzip_mismatches;     /* gzip members whose bytes were used, though their checksum or size is wrong */
    uint64_t gzip_resumed;        /* gzip members that could not be inflated to their end, after which reading resumed */
    uint64_t gzip_unknown;        /* such members of which it is unknown how many bytes were left out */
    bool gzip_ended_early;        /* what follows a damaged gzip member was left out: no record was found in later members */
    uint64_t other_dump;          /* offset of the header of another dump, left out with all that follows it; 0 for none */
    bool is_ended;                /* a HEAP_DUMP_END was added */
    size_t checked_profile;       /* index of the profile that was used: for "auto", the one chosen */
    uint64_t warnings;            /* that the copy has in this profile */
    char failure[HPROF_FAILURE_SIZE]; /* one sentence for any result but HPROF_VALID */
    size_t parts_joined;
    size_t refused_part;           /* from 1; 0 for none. `failure` says why; then the result is HPROF_INVALID */
    uint64_t overlap;              /* bytes of `from` that are in a part, too: the VM was killed while it appended that part */
    uint64_t stand_in_classes;     /* CLASS_DUMPs that were added, their fields unknown */
    uint64_t stand_in_names;       /* names of classes, fields and methods that were added: "unknown.Class_0x7f..." */
    uint64_t stand_in_traces;      /* stack traces that were added, with the frames that roots name */
    uint64_t stand_in_objects;     /* objects whose class has such a CLASS_DUMP or name */
    uint64_t text_before;          /* bytes before the header, not counted in bytes_in and left_out */
    unsigned undone;               /* HPROF_TRANSFER_*: what was undone */
    bool failed_on_copy;           /* HPROF_IO: the copy could not be written, or read again */
    uint64_t records_out[256];     /* records of the copy, by tag; */
    uint64_t subrecords_in[256];   /* sub-records that were read, */
    uint64_t subrecords_out[256];  /* and those of the copy */
    uint64_t missing_objects;      /* that the copy refers to and does not have: at least so many */
    uint64_t classes_without_name; /* CLASS_DUMPs of the copy; known if on_class_loss is set */
    uint64_t stand_in_frames;      /* frames that were added, because stack traces name them */
    uint64_t sizes_mended;         /* lengths of instances and numbers of elements that were wrong */
    uint64_t stand_in_loads;       /* LOAD_CLASSes that were added */
    bool incomplete;               /* the copy, as in hprof_summary: what is missing cannot be brought back */
    bool version_mended;           /* the dump says 1.0.1, and has segments: the copy says 1.0.2 */
    bool header_made;              /* in place of the first 31 bytes, because the header was damaged or lost */
    uint64_t root_gaps; /* places that may have held roots: next to one, or the end of the dump, and not to be read */
    uint64_t
        stand_in_threads;    /* ROOT_THREAD_OBJECTs that were added, without the ID of an object: other roots name the thread */
    uint64_t unread_threads; /* threads that roots or stack traces name, whose ROOT_THREAD_OBJECT was not read */
    uint64_t gzip_headers_mended; /* gzip members of whose header one byte was wrong */
    uint64_t tags_mended;         /* HEAP_DUMPs among segments, which are HEAP_DUMP_SEGMENTs in the copy */
    bool is_part;                 /* `from` is a part of a dump: the header that was made is before its first byte */
    /* Known if there are stand-ins for classes or names, and on_class_loss is set: no class of the copy has this name. */
    bool lacks_system; /* java.lang.System, which VisualVM needs */
    bool lacks_class;  /* java.lang.Class, which MAT needs */
};

static inline void hprof_repair_result_init(struct hprof_repair_result *result)
{
    memset(result, 0, sizeof *result);
    result->struct_size = sizeof *result;
}

/* Makes a valid copy of a dump: leaves out what is incomplete or malformed or breaks a rule, corrects lengths, and ends the series
 * of segments; undoes what a transfer has done, if that gives a better dump. It adds nothing else but stand-ins for classes, names
 * and stack traces that are lost. `from` is read once, a regular file again if it was transferred. `to` is an empty regular file,
 * open for reading and writing.
 * HPROF_VALID: the copy was checked and is valid, or incomplete. With HPROF_INVALID (no valid copy can be made), HPROF_IO and
 * HPROF_LIMIT, the contents of `to` are useless. `result` may be NULL. */
enum hprof_status hprof_repair_fd(int from, int to, const struct hprof_repair *repair, struct hprof_repair_result *result);

/* The same from a source. */
enum hprof_status hprof_repair_source(const struct hprof_source *from, int to, const struct hprof_repair *repair,
                                      struct hprof_repair_result *result);

#ifdef __cplusplus
}
#endif

#endif
