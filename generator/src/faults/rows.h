/* What the files of the engine share: the rows of faults.def, and where the events are. */
#ifndef HPROF_GEN_ROWS_H
#define HPROF_GEN_ROWS_H

#include "faults/fault.h"

struct wanted_kind {
    fault_place *is;
    const char *words;
};

struct fault {
    enum rule rule;
    const char *variant;
    const struct wanted_kind *place;
    fault_act *prepare, *act;
    int number;
    unsigned flags;
    const char *about;
};

/* A sentence for *failure. Only one is kept: the caller gives up. */
void refuse_fault(const char **failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "RULE" means the first variant that the version allows. NULL with a sentence. */
const struct fault *find_fault(const char *what, enum version version, const char **failure);

/* ---- look.c ---- */

/* Before the first event of a pass. */
void start_pass(struct faults *v);
/* Whether an event can be changed; whether it is a place of a row. */
bool is_free(const struct fault *row, const struct event *e);
bool is_place(const struct faults *v, const struct chosen *c, const struct event *e);
/* After the event has passed. */
void flow_on(struct faults *v, const struct event *e);
/* The first pass: an event. */
void look_at(struct faults *v, const struct event *e);

#endif
