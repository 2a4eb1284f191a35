/* Breaks rules: a filter that changes, adds or removes a record at a chosen place, one fault each, and nothing else. faults.def
 * lists the faults. */
#ifndef HPROF_GEN_VIOLATE_H
#define HPROF_GEN_VIOLATE_H

#include "stream/event.h"

struct fault; /* a row of faults.def */

struct violate_options {
    uint64_t at;    /* where, as a share of the existing places: 0 for the first, UINT32_MAX for the last */
    uint64_t count; /* the number of faults, from 1 */
    uint64_t seed;
};

struct faults;

/* Returns NULL with *failure for rules that cannot be broken, or not together. *failure is NULL if memory ran out. `what` is
 * "RULE" or "RULE/VARIANT". */
struct faults *faults_new(const char *const *what, size_t count, const struct violate_options *options, unsigned id_size,
                          enum version version, const char **failure);
void faults_free(struct faults *v);

/* The first pass: counts the places, and passes nothing on. It may stop once *faults_seen(v) is true. */
struct stage *faults_look(struct faults *v);
const bool *faults_seen(const struct faults *v);
/* Chooses the places. False, with *failure, if the dump has no suitable place. */
bool faults_settle(struct faults *v, const char **failure);
/* Further passes: the same events, with the faults, go to `next`. */
struct stage *faults_break(struct faults *v, struct stage *next);

/* Whether all faults are in the header, so that the other events are passed on as they are, in any detail. */
bool faults_are_of_header(const struct faults *v);
/* Whether heap dump records of up to this many bytes have at most `most` with the faults. */
bool faults_fit(const struct faults *v, uint64_t longest, uint64_t most);

/* Some faults are in the compressed file: the rule that the gzip writer must break, and the variant; NO_RULE for none. */
int faults_gzip_rule(const struct faults *v, const char **variant);

/* Whether such a fault is among them, so that the dump must be compressed. */
bool violate_gzip(const char *const *what, size_t count);

/* The rows: NULL after the last. */
const struct fault *fault_at(size_t index);
const char *fault_rule(const struct fault *row);    /* "OBJ-004" */
const char *fault_variant(const struct fault *row); /* "same-kind" */
const char *fault_about(const struct fault *row);   /* one line */
bool fault_is_alone(const struct fault *row);       /* it cannot be combined with others */
bool fault_is_huge(const struct fault *row);        /* the dump gets more than 4 GiB */
bool fault_is_once(const struct fault *row);        /* a second fault would not be found */

#endif
