/* Breaking rules: filters that change, add or take away records, one fault each, at a chosen place, and nothing else. What
 * can be broken, and how: faults.def. */
#ifndef HPROF_GEN_VIOLATE_H
#define HPROF_GEN_VIOLATE_H

#include "event.h"

struct fault; /* a row of faults.def */

struct violate_options {
    uint64_t at;    /* where, as a share of the places there are, in 2^32ths: 0 the first, UINT32_MAX the last */
    uint64_t count; /* how often, from 1 */
    uint64_t seed;
};

struct faults;

/* NULL, and *failure says why, for rules that cannot be broken, or not together; it is NULL when memory ran out. `what` is "RULE"
 * or "RULE/VARIANT". */
struct faults *faults_new(const char *const *what, size_t count, const struct violate_options *options, unsigned id_size,
                          enum version version, const char **failure);
void faults_free(struct faults *v);

/* First all events go through the look: it counts the places there are, and hands nothing on. */
struct stage *faults_look(struct faults *v);
/* Then the places are chosen. False, and *failure says why, if the dump has none of the kind that is needed. */
bool faults_settle(struct faults *v, const char **failure);
/* Then, as often as is needed, the same events come again, and are handed to `next`, broken. */
struct stage *faults_break(struct faults *v, struct stage *next);

/* Some faults are of the compressed file: what gzip is to do wrong, and the row's variant; NO_RULE for none of these. */
int faults_gzip_rule(const struct faults *v, const char **variant);

/* Some of these rules are such: the dump will be compressed. */
bool violate_gzip(const char *const *what, size_t count);

/* The rows: NULL after the last. */
const struct fault *fault_at(size_t index);
const char *fault_rule(const struct fault *row);    /* "OBJ-004" */
const char *fault_variant(const struct fault *row); /* "same-kind" */
const char *fault_about(const struct fault *row);   /* one line */
bool fault_is_alone(const struct fault *row);       /* it goes with no other */
bool fault_is_once(const struct fault *row);        /* a second one would not be found */

#endif
