/* Breaking rules: filters that change, add or take away records, one fault each, at a chosen place, and nothing else. What
 * can be broken, and how: violations.def. */
#ifndef HPROF_GEN_VIOLATE_H
#define HPROF_GEN_VIOLATE_H

#include "event.h"

struct violation; /* a row of violations.def */

struct violate_options {
    uint64_t at;    /* where, as a share of the places there are, in 2^32ths: 0 the first, UINT32_MAX the last */
    uint64_t count; /* how often, from 1 */
    uint64_t seed;
};

struct violations;

/* NULL, and *failure says why, for rules that cannot be broken, or not together; it is NULL when memory ran out. `what` is "RULE"
 * or "RULE/VARIANT". */
struct violations *violations_new(const char *const *what, size_t count, const struct violate_options *options,
                                  unsigned id_size, enum version version, const char **failure);
void violations_free(struct violations *v);

/* First all events go through the look: it counts the places there are, and hands nothing on. */
struct stage *violations_look(struct violations *v);
/* Then the places are chosen. False, and *failure says why, if the dump has none of the kind that is needed. */
bool violations_settle(struct violations *v, const char **failure);
/* Then, as often as is needed, the same events come again, and are handed to `next`, broken. */
struct stage *violations_break(struct violations *v, struct stage *next);

/* Some faults are of the compressed file: what gzip is to do wrong, and the row's variant; NO_RULE for none of these. */
int violations_gzip_rule(const struct violations *v, const char **variant);

/* Some of these rules are such: the dump will be compressed. */
bool violate_gzip(const char *const *what, size_t count);

/* The rows: NULL behind the last. */
const struct violation *violation_at(size_t index);
const char *violation_rule(const struct violation *row);    /* "OBJ-004" */
const char *violation_variant(const struct violation *row); /* "same-kind" */
const char *violation_about(const struct violation *row);   /* one line */
bool violation_is_alone(const struct violation *row);       /* it goes with no other */
bool violation_is_once(const struct violation *row);        /* a second one would not be found */

#endif
