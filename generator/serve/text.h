/* The text that the HPROF agent of JDK 8 writes with format=a (TEXT.md H), from the records of a dump. */
#ifndef HPROF_SERVE_TEXT_H
#define HPROF_SERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* Takes a piece of the text; false if nobody reads any more. */
typedef bool text_put(void *context, const uint8_t *bytes, size_t size);

/* `dump` is a file in the manner of the agent, with IDs of 4 bytes. It must stay as it is. NULL without memory, or if a record is
 * longer than the dump. */
struct text *text_new(const uint8_t *dump, size_t size, text_put *put, void *context);
void text_free(struct text *t);

void text_header(struct text *t);

/* What the agent writes for a record of this dump, or for one that is made of its strings, frames and traces. Records that define
 * names are known beforehand, and a summary has no text. The sub-records of a heap dump are between text_heap_begin() and
 * text_heap_end(), whatever records have them. */
void text_record(struct text *t, uint8_t tag, const uint8_t *body, uint32_t size);
void text_heap_begin(struct text *t);
void text_heap_end(struct text *t);

/* ---- text_times.c: what the agent writes with cpu=times and cpu=old. A call of each trace of the CPU_SAMPLES record for each of
 * its samples, as long as the interval of samples; and `spins` more calls of the first one, of 30 intervals each. ---- */
void text_times(struct text *t, const uint8_t *samples, uint32_t size, uint32_t spins);
void text_old_times(struct text *t, const uint8_t *samples, uint32_t size, uint32_t spins);

/* ---- text_monitors.c: what it writes with monitor=y. The first thread owns the monitors that are roots. A thread in
 * Object.wait() waits to be notified at the first of them; of the others, the first waits to enter it. ---- */
void text_waits(struct text *t); /* when the threads start */
void text_monitors(struct text *t);
void text_monitor_times(struct text *t, uint32_t spins); /* before that, each spin kept out the thread that waits to enter */

#endif
