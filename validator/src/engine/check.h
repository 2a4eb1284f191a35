/* A check in its steps: for validate.c, which takes them at once, and feed.c. */
#ifndef HPROF_CHECK_H
#define HPROF_CHECK_H

#include "base/memory.h"
#include "hprof/hprof.h"
#include "input/input_source.h"

struct engine;

/* Copies the caller's options; and says in a sentence why they, or the caller's summary, are refused. NULL if they are not. If
 * take_options() refuses them, `own` cannot be used at all. */
const char *take_options(struct hprof_options *own, const struct hprof_options *callers);
const char *why_refused(const struct hprof_options *options, const struct hprof_summary *summary);

/* Copies a summary into the caller's, which may be NULL. */
void give_summary(struct hprof_summary *to, const struct hprof_summary *own);

/* Nothing was read, so the summary has nothing but the reason. `options` is NULL if they cannot be used. */
enum hprof_status refuse_check(const struct hprof_options *options, struct hprof_summary *result, enum hprof_status status,
                               const char *reason);
extern const char no_memory_to_begin[];

/* The engine takes about 100 KB, so it comes from the caller's allocator, not from the stack. NULL if there is no memory. `summary`
 * must stay while it is there. */
struct engine *engine_new(const struct hprof_options *options, struct hprof_summary *summary, struct memory *own);
void engine_delete(struct engine *e, struct memory *own);

/* Reads the whole source, and its parts again where that is needed. */
void engine_read(struct engine *e, struct input_source source);

/* Fills in the summary, and tells the callbacks. */
enum hprof_status engine_conclude(struct engine *e);

#endif
