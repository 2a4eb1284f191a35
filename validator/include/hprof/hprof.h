/* libhprof-validate: judges HPROF heap dumps (JAVA PROFILE 1.0.1 and 1.0.2) against SPEC.md.
 *
 * This header is all that a program needs. The library keeps no global state, prints nothing and never ends the process;
 * several threads may check several dumps at once. Strings that it hands out are UTF-8, NUL-terminated, and free of
 * control characters whatever the dump holds. */
#ifndef HPROF_HPROF_H
#define HPROF_HPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPROF_VERSION "0.2.0"

/* What became of one dump. The values are the exit statuses of hprof-validate; the larger, the graver. */
enum hprof_status {
    HPROF_VALID = 0,   /* no error; warnings and notes at most */
    HPROF_INVALID = 1, /* at least one error */
    HPROF_USAGE = 2,   /* the options make no sense; nothing was read */
    HPROF_IO = 3,      /* the input could not be read to its end */
    HPROF_LIMIT = 4    /* a limit of the caller was met: max_memory, or the allocator gave nothing */
};

enum hprof_severity {
    HPROF_OFF = 0,     /* not reported, not counted */
    HPROF_NOTE = 1,    /* a known habit of the producer that the profile names */
    HPROF_WARNING = 2, /* odd, but a reader can live with it */
    HPROF_ERROR = 3    /* breaks the specification */
};

/* An offset that is not known: see hprof_finding. */
#define HPROF_NO_OFFSET UINT64_MAX

/* ---- The rules -------------------------------------------------------------------------------------------------- */

struct hprof_rule {
    const char *id;               /* "OBJ-004": stable, never used again for another rule */
    const char *family;           /* "OBJ" */
    const char *name;             /* "object-id-duplicate" */
    enum hprof_severity severity; /* in the strict profile */
    enum hprof_severity lax;      /* in the other profiles, before their quirks */
    bool framing;                 /* cannot be disabled or softened: what is behind it cannot be judged */
    const char *clause;           /* section of SPEC.md: "6.4.2" */
    const char *rows;             /* rows of the decision table, SPEC.md appendix G */
    const char *summary;          /* what the rule requires, one line */
    const char *why;              /* why it matters */
    const char *producers;        /* which producers break it, and how; or that none is known to */
    const char *readers;          /* how readers fare with a dump that breaks it */
    const char *example;          /* the fault in the notation of corpus/, one line or more */
};

size_t hprof_rule_count(void);
/* Rules in the order of SPEC.md's families; NULL from hprof_rule_count() on. The pointer is good for ever. */
const struct hprof_rule *hprof_rule_at(size_t index);
/* The index of a rule by ID or name, any case; SIZE_MAX if there is none. */
size_t hprof_rule_find(const char *id_or_name);

/* ---- The profiles ----------------------------------------------------------------------------------------------- */

struct hprof_profile {
    const char *name;        /* "jdk8-agent" */
    const char *description; /* one line */
};

/* strict, auto, hotspot, jdk8-agent, sa, android, graalvm, mat, in this order; NULL behind the last. */
const struct hprof_profile *hprof_profile_at(size_t index);
/* The index of a profile by name; SIZE_MAX if there is none. */
size_t hprof_profile_find(const char *name);

/* What a producer is known to do: a finding of exactly that shape counts as something else in its profile. */
struct hprof_quirk {
    size_t profile;               /* index for hprof_profile_at() */
    size_t rule;                  /* index for hprof_rule_at() */
    enum hprof_severity severity; /* what such a finding counts as */
    const char *shape;            /* in which shape, in words; NULL for any */
    const char *versions;         /* which versions of the producer do it */
    const char *evidence;         /* how that is known */
};

/* The quirks, those of one profile together, in the order of the profiles; NULL behind the last. */
const struct hprof_quirk *hprof_quirk_at(size_t index);

/* ---- Tags ------------------------------------------------------------------------------------------------------- */

/* "LOAD_CLASS" for 0x02; NULL for a tag that no version defines. */
const char *hprof_record_name(uint8_t tag);
/* "INSTANCE_DUMP" for 0x21; NULL likewise. */
const char *hprof_subrecord_name(uint8_t tag);

/* ---- What is found ---------------------------------------------------------------------------------------------- */

/* Offsets count bytes of the dump from 0; in a compressed file, bytes after decompression, but for the findings of the GZ
 * family, whose offset counts bytes of the file itself. All pointers are good during the callback only. */
struct hprof_finding {
    size_t rule; /* index for hprof_rule_at() */
    enum hprof_severity severity;
    uint64_t offset; /* of the field at fault. HPROF_NO_OFFSET only for REF-002, at input that cannot be read twice */
    uint64_t
        related_offset;   /* of the earlier definition in a duplicate, else HPROF_NO_OFFSET; also at input that cannot be read
                                twice, where the place was not kept */
    const char *path;     /* "HEAP_DUMP_SEGMENT #3 > INSTANCE_DUMP 0x7ff0a8 (java.lang.String)"; never NULL, may be empty */
    const char *message;  /* what the rule requires: its summary; never NULL */
    const char *expected; /* never NULL */
    const char *found;    /* never NULL */
    const char *quirk;    /* why a profile changed the severity, or NULL */
    bool in_baseline;     /* a note because of hprof_options.baseline */
};

/* What was read, once all of it was. */
struct hprof_summary {
    enum hprof_status status;
    bool compressed;                /* the file was gzip */
    const char *version;            /* "1.0.2"; "" when the header did not tell */
    uint32_t id_size;               /* 4 or 8; 0 when the header did not tell; another value as found */
    uint64_t timestamp;             /* milliseconds since 1970-01-01 UTC, as in the header */
    uint64_t bytes;                 /* of the dump, decompressed; what was read of it if it could not be read to its end */
    uint64_t file_bytes;            /* of the file */
    uint64_t sound_until;           /* nothing is wrong with the framing up to this offset */
    uint64_t skipped;               /* bytes that could not be judged because of a fault in front of them */
    size_t profile;                 /* index of the profile that judged: for "auto" the one chosen */
    const char *producer;           /* "HotSpot 17": what the dump looks like; "" if like none that is known */
    const char *accepted_by;        /* name of the producer's profile, if this one finds errors and that one none; else NULL */
    uint64_t record_counts[256];    /* complete records by tag */
    uint64_t subrecord_counts[256]; /* complete sub-records by tag */
    uint64_t classes, instances, object_arrays, primitive_arrays; /* sub-records of each kind */
    uint64_t references;    /* IDs in fields, elements, statics and constants that are of type object, null or not */
    uint64_t strings;       /* UTF8 records */
    const uint64_t *totals; /* findings by rule, hprof_rule_count() of them, exact whatever max_errors; disabled rules 0 */
    uint64_t errors, warnings, notes;
    size_t producer_profile; /* index of the profile for what the dump looks like: strict if like none that is known */
    const uint64_t *quirks; /* of the totals, by rule: the known quirks of that producer, notes in its profile; NULL if the dump
                                was not read */
    uint64_t quirk_errors, quirk_warnings; /* these by their severity here */
    uint64_t memory_needed;                /* if max_memory was met: about how much will do; 0 if that is not known */
    const char *hint;                      /* the usual cause of a fault that was found ("a truncated tail: ..."), or NULL */
    const char *failure;                   /* for HPROF_IO and HPROF_LIMIT: what went wrong, one sentence; else NULL */
};

/* ---- Judging ---------------------------------------------------------------------------------------------------- */

/* All memory comes from here, aligned for any type, as malloc's is. `size` is given back on release. Not called from two threads at
 * once for one dump. */
struct hprof_allocator {
    void *(*allocate)(void *context, size_t size); /* NULL if there is none: the run ends with HPROF_LIMIT */
    void (*release)(void *context, void *memory, size_t size);
    void *context;
};

/* For tests: fixes what otherwise depends on chance or on the source of the bytes. No report may depend on it. */
struct hprof_testing {
    uint64_t hash_seed; /* the key of the hash tables follows from it; 0 draws a key */
    size_t block;       /* bytes read at once, at least 2; memory is then read in blocks too. 0 for the usual size */
};

struct hprof_options {
    size_t profile;      /* index; 0 is strict */
    uint64_t max_errors; /* findings handed out for each rule, the gravest and then the first ones; 0 for all */
    uint64_t max_memory; /* bytes; 0 for no limit */
    bool werror;         /* warnings count as errors */
    /* By rule, hprof_rule_count() of them, or NULL: severity that replaces the profile's where it is not `HPROF_UNCHANGED`.
     * A framing rule's entry is ignored. */
    const uint8_t *severities;
    /* By rule, hprof_rule_count() of them, or NULL: a rule with no more findings than that has notes only. Framing rules too. */
    const uint64_t *baseline;
    const struct hprof_allocator *allocator; /* NULL for the C library's */
    const struct hprof_testing *testing;     /* NULL, except in tests */

    /* Called once, when all was read, before the findings. May be NULL, as the next two. */
    void (*on_summary)(void *context, const struct hprof_summary *summary);
    /* Called for each finding, in the order of offsets; those of REF-002 last, in the order of the IDs that are missing. */
    void (*on_finding)(void *context, const struct hprof_finding *finding);
    /* Called every few MB, and last, unless the run fails, with all bytes. total is 0 if it is not known. Both count bytes of
     * the file. */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context; /* handed to the callbacks */
};
#define HPROF_UNCHANGED 255

/* strict, 20 findings a rule, no limit, malloc, no callback. */
void hprof_options_init(struct hprof_options *options);

/* Judges the bytes that `fd` gives from its present position to its end. A regular file is read again where that is needed
 * to find an offset; anything else is read once. The descriptor stays the caller's and open. */
enum hprof_status hprof_validate_fd(int fd, const struct hprof_options *options);

/* Judges bytes in memory. They are not changed, and must not change meanwhile. As a file, or, if `as_pipe`, as a pipe. */
enum hprof_status hprof_validate_memory(const void *bytes, size_t size, bool as_pipe, const struct hprof_options *options);

/* ---- Showing ---------------------------------------------------------------------------------------------------- */

/* A line about a record, a sub-record, a part of one, or its bytes. All pointers are good during the callback only. */
struct hprof_line {
    uint64_t offset;      /* of the first byte that the line is about; HPROF_NO_OFFSET for a bracket that closes */
    unsigned depth;       /* 0 for a record, 1 for a sub-record, 1 more for a part */
    bool here;            /* the line is about the byte that was asked for */
    const char *text;     /* in the notation of corpus/; "" for bytes and for what is left out */
    const char *remark;   /* what the IDs in the text name, or what is left out; "" for nothing */
    const uint8_t *bytes; /* at most 16; NULL in a line of text */
    size_t byte_count;
};

struct hprof_show {
    uint64_t offset;                         /* the record or sub-record that has this byte is shown, */
    uint64_t around;                         /* and at most so many before it and after it */
    const struct hprof_allocator *allocator; /* NULL for the C library's */
    void (*on_line)(void *context, const struct hprof_line *line);
    void *context;
    char failure[160]; /* filled in: one sentence for any result but HPROF_VALID */
};

/* Shows the records around an offset of a dump in a regular file, plain or gzip. Finds them by the lengths of records, so a plain
 * dump of any size takes a fraction of a second, and a compressed one as long as it takes to inflate.
 * HPROF_VALID: shown. HPROF_INVALID: shown, but lengths do not lead to the offset, so its bytes are shown alone. HPROF_USAGE: the
 * dump has no such offset, or the file is no dump or cannot be sought in. HPROF_IO, HPROF_LIMIT. */
enum hprof_status hprof_show_fd(int fd, struct hprof_show *show);

/* ---- Repairing -------------------------------------------------------------------------------------------------- */

/* What was left out of a repaired dump, by kind and class. */
struct hprof_left_out {
    const char
        *what;      /* "INSTANCE_DUMP java.lang.String", "UTF8"; "bytes" that are of no record. Good during the callback only */
    uint64_t count; /* records, sub-records or stretches of bytes */
    uint64_t bytes;
};

struct hprof_repair {
    size_t profile;                          /* the copy becomes valid in this one, */
    const uint8_t *severities;               /* and these, or NULL, as in struct hprof_options */
    const struct hprof_allocator *allocator; /* NULL for the C library's */
    void (*on_left_out)(void *context, const struct hprof_left_out *left_out); /* at the end, the most bytes first */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
    /* filled in */
    uint64_t bytes_in, bytes_out; /* of the dump, decompressed, and of the copy */
    uint64_t left_out;            /* bytes */
    uint64_t lengths_mended;      /* records whose length changed, because it was wrong or because parts were left out */
    uint64_t gzip_faults;         /* after which the rest of a compressed file may be lost */
    bool is_ended;                /* a HEAP_DUMP_END was added */
    size_t checked_profile;       /* the profile that found the copy valid: for "auto" the one chosen */
    char failure[200];            /* one sentence for any result but HPROF_VALID */
};

/* Copies what can be read of a dump, so that the copy is valid: leaves out what is incomplete, malformed or breaks a rule, mends
 * lengths, ends the series of segments; adds nothing else. `from` is read once. `to` is an empty regular file, open for reading and
 * writing. HPROF_VALID: the copy was checked and is valid. HPROF_INVALID: no valid copy can be made. HPROF_IO, HPROF_LIMIT. What is
 * in `to` then is of no use. */
enum hprof_status hprof_repair_fd(int from, int to, struct hprof_repair *repair);

#ifdef __cplusplus
}
#endif

#endif
