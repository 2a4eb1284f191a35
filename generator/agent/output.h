/* Where bytes go: the file or socket of the options, or a temporary file for a part whose size comes first. */
#ifndef AGENT_OUTPUT_H
#define AGENT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

struct out;

/* The output of this run. False if it cannot be opened; a line on standard error says why. */
bool out_open(const struct options *options);

/* Records and lines are written whole: by one thread at a time. */
void out_lock(void);
void out_unlock(void);

struct out *out_main(void);
bool out_is_socket(void);
int out_socket(void);

/* The temporary file, which is empty; NULL, with a line on standard error, if there is no room for one. */
struct out *out_spool(void);
/* Moves all of the spool to `to`. */
void out_unspool(struct out *to);
uint64_t out_size(const struct out *out); /* bytes written */

void out_bytes(struct out *out, const void *bytes, size_t size);
void out_format(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_fail_memory(struct out *out); /* what follows is lost, as after an error of the disk */
void out_flush(struct out *out);
/* After a record or line of something that happened: the peer of a socket hears of it at once. */
void out_event(void);
void out_close(void);

#endif
