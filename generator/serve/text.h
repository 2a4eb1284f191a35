/* The text that the HPROF agent of JDK 8 writes with format=a (TEXT.md H), from the records of a dump. */
#ifndef HPROF_GEN_SERVE_TEXT_H
#define HPROF_GEN_SERVE_TEXT_H

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

#endif
