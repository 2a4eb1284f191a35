/* --assert-redacted: whether B has nothing left of the heap of A but its structure and its names. */
#ifndef HPROF_CLI_DIFF_REDACTED_H
#define HPROF_CLI_DIFF_REDACTED_H

#include "diff.h"

enum { VALUE_TYPES = 12 };

enum leak_kind {
    LEAK_VALUE,  /* a primitive value that is not the constant of its type */
    LEAK_STRING, /* a UTF8 that is no name, and not one character repeated */
    LEAK_RECORD, /* an undefined record, or damage */
    LEAK_TEXT,   /* text of A, of six characters or more */
    LEAKS
};
extern const char *const leak_names[LEAKS], *const leak_keys[LEAKS];

struct leak {
    enum leak_kind kind;
    uint64_t offset; /* in B */
    char text[PART_SIZE];
};

/* What remains by design, and is listed: names of these, and the lengths of arrays. */
struct remains {
    uint64_t classes, fields, frames, threads, arrays, elements;
};

struct redaction {
    struct diff *diff;
    bool wants_names;
    uint64_t constants[VALUE_TYPES]; /* bits, by type */
    uint64_t counts[LEAKS];
    struct leak *leaks; /* the first ones of each kind */
    size_t leak_count, leak_most;
    struct remains remains;
    char **names; /* if wanted: those of B, each once, sorted */
    size_t name_count;
    char failure[HPROF_FAILURE_SIZE];
};

/* "char=42,float=-1": false if it is not understood. */
bool redaction_constants(struct redaction *redaction, const char *text);

/* False if it failed: see `failure`. */
bool redaction_check(struct redaction *redaction);
bool redaction_is_clean(const struct redaction *redaction);
void redaction_free(struct redaction *redaction);

/* ---- For the parts of the check ---- */
void add_leak(struct redaction *redaction, enum leak_kind kind, uint64_t offset, const char *text);

/* A set of IDs of strings that are names. */
struct names {
    uint64_t *ids; /* sorted once `is_sorted` */
    size_t count, capacity;
    bool is_sorted, out_of_memory;
};
/* Reads all of a dump, and collects the strings that are used as names; with `redaction`, counts undefined records and damage. */
bool names_collect(struct names *names, struct hprof_reader *reader, unsigned id_size, struct redaction *redaction);
bool names_have(const struct names *names, uint64_t id);

/* Looks up the names of B for the report. False if memory is out. */
bool names_list(struct redaction *redaction, const struct names *names);

/* Seeks text of A in what B has that is neither constant nor a name of A. */
bool texts_check(struct redaction *redaction, const struct names names[SIDES]);

/* ---- The writers ---- */
void redaction_print_text(const struct redaction *redaction, FILE *out);
void redaction_print_json(const struct redaction *redaction, FILE *out);

#endif
