/* All that the library reports of one run, kept to be compared with the report of another run; but not memory_needed, which only
 * a limit of memory sets. */
#ifndef HPROF_FUZZ_ACCOUNT_H
#define HPROF_FUZZ_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

enum { ACCOUNT_RULES_MOST = 512 };

/* What is checked of a finding. */
struct account_finding {
    size_t rule;
    enum hprof_severity severity;
    uint64_t offset, related;
};

struct account {
    struct hprof_summary summary; /* HPROF_USAGE: none came. Its pointers are not valid, but are NULL where it has none */
    uint64_t totals[ACCOUNT_RULES_MOST];
    char hint[256]; /* "": none */
    /* Everything else, a line for each fact, but for the two offsets that a pipe may lack. */
    char *text;
    size_t size, capacity;
    struct account_finding *findings; /* in their order */
    size_t count, findings_capacity;
};

/* Starts an account; its memory is used again. */
void account_begin(struct account *a);
/* Sets the callbacks of `options` and their context. */
void account_listen(struct account *a, struct hprof_options *options);

enum account_exception {
    ACCOUNTS_EQUAL = 0,
    SECOND_IS_A_PIPE =
        1, /* the second may lack the offset of a REF-002, related offsets (hprof.h), and what is known only of bytes
                             * that are read again: which missing objects lie within others, and that this is the cause */
    COMPRESSION_DIFFERS = 2 /* so do file_bytes and compressed */
};

/* Recovery may go back over any number of bytes of a plain file, and over so many of a pipe or of gzip (RULES.md M.2): there it may
 * find another way. */
enum { MAY_GO_BACK = 1 << 20 };

/* Fails the target, naming both runs and the first difference, unless the accounts agree. */
void expect_same(const struct account *first, const char *first_name, const struct account *second, const char *second_name,
                 unsigned exceptions);

/* Fails the target unless the report agrees with itself: sums, counts, the number of findings that `max_errors` allows, their
 * order, and offsets within the dump or the file; of a run that failed, only that it has a sentence. `size` is that of the
 * input. */
void expect_consistent(const struct account *a, const struct hprof_options *options, size_t size, bool as_pipe);

#endif
