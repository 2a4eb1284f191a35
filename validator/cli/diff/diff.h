/* hprof-diff: how two dumps differ. which.c decides whether objects are compared by ID or by content. By ID, join.c pairs what has
 * the same ID, whatever the order; describe.c says how a pair differs; text.c and json.c print. By content: see content/content.h.
 * All of it uses the public interface of the library. */
#ifndef HPROF_CLI_DIFF_H
#define HPROF_CLI_DIFF_H

#include <stdio.h>

#include "hprof/read.h"

enum { SIDES = 2 /* A and B */ };

enum kind {
    KIND_STRINGS,
    KIND_LOADED_CLASSES,
    KIND_FRAMES,
    KIND_TRACES,
    KIND_OTHER_RECORDS,
    KIND_CLASSES,
    KIND_INSTANCES,
    KIND_OBJECT_ARRAYS,
    KIND_PRIMITIVE_ARRAYS,
    KIND_ROOTS,
    KINDS
};
/* In items.c: "object arrays", "object_arrays". */
extern const char *const kind_names[KINDS], *const kind_keys[KINDS];

struct counts {
    uint64_t same, changed, only[SIDES];
};

/* The counts of a class, or of the arrays of a primitive type. */
struct class_counts {
    char *name;
    struct counts counts;
};

/* A difference that is described: a pair that differs, or what only one side has. */
struct difference {
    enum kind kind;
    uint64_t id;             /* of what it is; the serial number of a trace */
    uint64_t offsets[SIDES]; /* HPROF_NO_OFFSET where it is not */
    struct hprof_item items[SIDES];
};

/* How a pair differs: "hash", "1", "0". */
#define PART_SIZE 512
struct part {
    char what[PART_SIZE], texts[SIDES][PART_SIZE];
};

struct side {
    const char *file;
    int fd;
    struct hprof_reader *reader;
    struct hprof_header header;
    struct hprof_summary summary;
    uint64_t damage; /* bytes that cannot be compared */
};

/* Why dumps are compared by ID or by content. */
enum reason { REASON_ASKED, REASON_ID_SIZE, REASON_SHARE };
enum { SHARED_OBJECTS, SHARED_STRINGS, SHARED_KINDS };

struct diff {
    struct side sides[SIDES];
    enum reason reason;
    unsigned shared[SHARED_KINDS]; /* of a thousand of the smaller dump: those with the same ID in the other */
    struct counts kinds[KINDS];
    struct class_counts *classes; /* those with differences, the most first */
    size_t class_count;
    struct difference *differences; /* the first ones, by their offset in A, then in B */
    size_t difference_count, difference_most;
    char failure[HPROF_FAILURE_SIZE];
    unsigned failed_side; /* the one that could not be read */
};

/* ---- join.c ---- */
/* On at most `jobs` threads. False if it failed: see `failure`. */
bool diff_join(struct diff *diff, unsigned jobs);
bool diff_is_equal(const struct diff *diff);
void diff_free(struct diff *diff);

/* ---- describe.c ---- */
/* "java.lang.String 0x7000", "string 0x12". */
void diff_name(struct diff *diff, const struct difference *difference, char name[PART_SIZE]);
/* Calls `visit` for each way in which the pair differs, at most `most` times; returns how many there are. */
uint64_t diff_describe(struct diff *diff, const struct difference *difference, uint64_t most,
                       void (*visit)(void *context, const struct part *part), void *context);

/* "'a'", "0x7000", "1.5" */
void format_value(const struct hprof_value *value, char to[PART_SIZE]);

/* ---- The writers ---- */
void diff_print_text(struct diff *diff, FILE *out);
void diff_print_json(struct diff *diff, FILE *out);

#endif
