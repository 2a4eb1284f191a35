/* A source of raw bytes: a descriptor or memory. Positions count from the initial position of the descriptor, or from the
 * start of memory. */
#ifndef HPROF_INPUT_SOURCE_H
#define HPROF_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_source {
    uint64_t position; /* of the next byte */
    uint64_t size;     /* as found at first; 0 if that is not known */
    bool seekable;     /* a regular file, or memory that does not pose as a pipe */
    bool ended;        /* nothing was left, or a read failed */
    int error;         /* errno of the read that failed; ESTALE if a regular file became shorter than `size` */

    /* private */
    int fd;      /* -1 for memory */
    int wake_fd; /* readable once source_wake() was called; -1 for none */
    uint64_t origin;
    const uint8_t *bytes;
    uint64_t byte_count;
};

struct input_source source_of_fd(int fd);
struct input_source source_of_memory(const void *bytes, size_t size, bool as_pipe);

/* Up to n > 0 bytes, as many as one read gives. 0 at the end or after an error, and `ended` is then set. A file that grew
 * is read to its end as found. */
size_t source_read(struct input_source *s, uint8_t *to, size_t n);

/* Lets another thread end a read that waits for a pipe: with source_wake() the source ends. False if that is not possible.
 * source_wake_end() takes it back. */
bool source_wake_begin(struct input_source *s);
void source_wake(struct input_source *s);
void source_wake_end(struct input_source *s);

/* The next byte read is the one at `position` <= size. Only if seekable. */
void source_seek(struct input_source *s, uint64_t position);

/* Reads n bytes at a position of a seekable source, fewer at its end or after an error; changes nothing: several threads may do
 * that at once. */
size_t source_read_at(const struct input_source *s, uint64_t position, uint8_t *to, size_t n);

#endif
