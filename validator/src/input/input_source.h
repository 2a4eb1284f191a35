/* A source of raw bytes: a descriptor, memory, or callbacks. Positions count from the initial position of the descriptor, or from
 * the start of the others. */
#ifndef HPROF_INPUT_SOURCE_H
#define HPROF_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hprof/hprof.h"

struct input_source {
    uint64_t position; /* of the next byte */
    uint64_t size;     /* as found at first; 0 if that is not known */
    bool seekable;     /* a regular file, memory that does not pose as a pipe, or callbacks that read at an offset */
    bool ended;        /* nothing was left, or a read failed */
    int error;         /* errno of the read that failed; ESTALE if a regular file became shorter than `size` */

    /* private */
    int fd;      /* -1 for none */
    int wake[2]; /* a pipe whose first end is readable once source_wake() was called; -1 for none */
    uint64_t origin;
    const uint8_t *bytes;
    uint64_t byte_count;
    struct hprof_source callbacks; /* if it has any */
    const uint8_t *ahead;          /* bytes that were read ahead and come next */
    size_t ahead_count;
};

struct input_source source_of_fd(int fd);
struct input_source source_of_memory(const void *bytes, size_t size, bool as_pipe);
/* NULL, or a sentence that says why the callbacks cannot be used; the source is then empty. */
const char *source_of_callbacks(const struct hprof_source *callbacks, struct input_source *s);

/* Up to n > 0 bytes, as many as one read gives. 0 at the end or after an error, and `ended` is then set. A file that grew
 * is read to its end as found. */
size_t source_read(struct input_source *s, uint8_t *to, size_t n);

/* The last n bytes that were read come next, from memory that must stay until then. */
void source_read_again(struct input_source *s, const uint8_t *bytes, size_t n);

/* Lets another thread read, and end a read that waits for a pipe: with source_wake() the source ends. False if that is not
 * possible: callbacks that cannot read at an offset are called by the thread of the caller alone.
 * source_wake_end() takes it back. */
bool source_wake_begin(struct input_source *s);
void source_wake(struct input_source *s);
void source_wake_end(struct input_source *s);

/* The next byte read is the one at `position` <= size. Only if seekable. */
void source_seek(struct input_source *s, uint64_t position);

/* Reads n bytes at a position of a seekable source, fewer at its end or after an error; changes nothing: several threads may do
 * that at once. */
size_t source_read_at(const struct input_source *s, uint64_t position, uint8_t *to, size_t n);
/* The same for bytes that were read before. 0, or the errno of a read that failed, as in `error`. */
int source_read_there(const struct input_source *s, uint64_t position, uint8_t *to, size_t n);

/* The size of a seekable source without the zeros that end it, if there are as many as a sector of a disk has: a file may be
 * extended before it is written. The next byte read stays the same. If reading fails, the source ends. */
uint64_t source_without_zeros(struct input_source *s);

#endif
