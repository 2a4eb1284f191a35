/* A thread that reads and inflates while the caller checks what has come: for a pipe, and for gzip. */
#ifndef HPROF_READ_AHEAD_H
#define HPROF_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "input/gunzip.h"
#include "input/input_source.h"

struct read_ahead;

/* Starts to read blocks of at most `block` bytes from `gunzip`, or, if it is NULL, from the source. Both belong to the thread until
 * read_ahead_stop(). `threads` more inflate members of gzip ahead. NULL: there is no thread, or no memory for it, and nothing has
 * changed. */
struct read_ahead *read_ahead_start(struct memory *memory, struct input_source *source, struct gunzip *gunzip, size_t block,
                                    unsigned threads);

/* As gunzip_read() or source_read(). 0 at the end. Faults are reported here, on the calling thread. */
size_t read_ahead_take(struct read_ahead *a, uint8_t *to, size_t room);

/* Ends the thread. The source and `gunzip` are then anywhere. */
void read_ahead_stop(struct read_ahead *a);

/* After read_ahead_take(): what the source and `gunzip` said then. */
struct read_ahead_state {
    int error;
    uint64_t position;     /* in the file, after what was read */
    uint64_t member_start; /* gunzip_member_start() */
};
struct read_ahead_state read_ahead_state(const struct read_ahead *a);

#endif
