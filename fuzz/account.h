/* All that the library reports of one run, kept to be compared with the report of another run; but not memory_needed, which only a
 * limit of memory sets. */
#ifndef HPROF_FUZZ_ACCOUNT_H
#define HPROF_FUZZ_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

struct account_offsets {
    size_t rule;
    uint64_t offset, related;
};

struct account {
    enum hprof_status status; /* of the summary */
    bool compressed;
    uint64_t bytes, file_bytes, errors;
    /* Everything else, a line for each fact, but for the two offsets that a pipe may lack. */
    char *text;
    size_t size, capacity;
    struct account_offsets *offsets; /* of the findings, in their order */
    size_t count, offsets_capacity;
    uint64_t total; /* sum of the totals by rule */
};

/* Starts an account; its memory is used again. */
void account_begin(struct account *a);
/* Sets the callbacks of `options` and their context. */
void account_listen(struct account *a, struct hprof_options *options);

enum account_exception {
    ACCOUNTS_EQUAL = 0,
    SECOND_IS_A_PIPE = 1,   /* the second may lack the offset of a REF-002 and related offsets (hprof.h) */
    COMPRESSION_DIFFERS = 2 /* so do file_bytes and compressed */
};

/* Fails the target, naming both runs and the first difference, unless the accounts agree. */
void expect_same(const struct account *first, const char *first_name, const struct account *second, const char *second_name,
                 unsigned exceptions);

/* What holds of every report, whatever the dump: the sums agree, offsets lie within the dump or the file. */
void expect_consistent(const struct account *a, const struct hprof_options *options, size_t size);

#endif
