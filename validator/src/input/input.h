/* The bytes of a dump as one stream, read in blocks from a file, a pipe, memory, or any of these compressed with gzip.
 * Readers see decompressed bytes and offsets; only input_can_reread() shows a difference. */
#ifndef HPROF_INPUT_H
#define HPROF_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "input/gunzip.h"
#include "input/input_source.h"

enum { INPUT_BLOCK = 256 << 10 }; /* fits into the cache of a core, with what is checked against it */

struct input {
    const uint8_t *at;  /* the next byte */
    const uint8_t *end; /* after the last byte in memory */
    uint64_t offset;    /* of `at` in the dump */
    bool ended;         /* the dump ends at `end` */
    bool compressed;
    unsigned transfer; /* HPROF_TRANSFER_*: what the first bytes of a compressed file look like */
    int error;         /* errno of a failed read, 0 for none; the stream then ends. ESTALE: the file became shorter */

    /* private */
    struct memory *memory;
    struct sizes sizes;
    struct input_source source;
    const uint8_t *first; /* start of what is in memory, `at` or before it */
    uint8_t *buffer;      /* NULL when all of the dump lies in the caller's memory */
    size_t capacity;
    size_t block; /* bytes asked for at once, */
    size_t next;  /* and the next time: fewer after a seek, because often few are wanted before the next one */
    struct gunzip *gunzip;
    const uint8_t *packed, *packed_end; /* the first bytes of a compressed file, in the buffer until the first read */
    uint8_t *sample;                    /* the first bytes of a compressed pipe; else NULL */
    size_t sample_capacity;
    uint8_t *history; /* the bytes before `first`, as many as input_go_back() may need; NULL before a file goes back */
    size_t history_size, history_capacity;
    bool may_go_back;
    bool may_read_ahead;
    unsigned threads;
    bool may_resume;
    unsigned blocks_alone;    /* that are read before a thread starts */
    struct read_ahead *ahead; /* NULL while there is no thread */
};

/* A struct input must stay where it is while it is open. Each fault of the gzip container is reported to `on_fault` once.
 * Reading begins at the present position of a descriptor, or at the start of memory; bytes that begin with 1f 8b are gzip. The
 * position of a regular file does not change. Blocks have 2 bytes or more, or the usual size if `block` is 0; nothing depends on
 * where a block ends, which tests show. A plain dump in memory is its own window, unless `block` is given or it poses as a pipe.
 * False: no memory (memory->exhausted) or the first read failed (error). Either way input_close() must follow. */
bool input_open(struct input *in, struct input_source source, size_t block, const struct sizes *sizes, struct memory *memory,
                gzip_listener *on_fault, void *context);
void input_close(struct input *in);

/* Before the first read: the bytes are inflated, though they do not begin as a gzip file does, since its beginning is damaged or
 * lost. False if that cannot be. */
bool input_inflate(struct input *in, gzip_listener *on_fault, void *context);
/* Before the first read: the bytes are those of the file itself, compressed or not. */
void input_leave_compressed(struct input *in);

/* Lets threads work ahead where that pays: one reads from a pipe or from gzip, and `threads` inflate members of a gzip file. */
void input_allow_threads(struct input *in, unsigned threads);

/* Before the first read: input_resume() may follow the end of the stream. See gunzip_allow_resume(). */
void input_allow_resume(struct input *in);

/* At the end of the stream, if a fault of the gzip container ended it: lets the stream continue, as gunzip_resume() says. */
bool input_resume(struct input *in, struct gzip_resumption *resumption);
bool input_ended_by_fault(const struct input *in);

/* See input_need(). */
size_t input_fill(struct input *in, size_t wanted);

/* Makes at least `wanted` bytes contiguous at `at`; the buffer grows if it must. Returns how many there are: fewer only at the
 * end of the stream, after an error, or when memory ran out. Pointers into the window are invalid afterwards. Cheap if the bytes
 * are in memory. */
static inline size_t input_need(struct input *in, size_t wanted)
{
    size_t have = (size_t)(in->end - in->at);

    return have >= wanted ? have : input_fill(in, wanted);
}

/* Moves past n bytes that are in memory: n <= end - at. */
static inline void input_advance(struct input *in, size_t n)
{
    in->at += n;
    in->offset += n;
}

/* Moves past n bytes, in memory or not; seeks where that is possible. Returns how many bytes it moved: fewer at the end of the
 * stream. Never seeks beyond the end of a plain file. */
uint64_t input_skip(struct input *in, uint64_t n);

/* Whether input_seek() works: regular files and memory that is not a pipe. */
static inline bool input_can_reread(const struct input *in)
{
    return in->source.seekable;
}

/* Goes to any offset of the dump. A compressed file is inflated again from the nearest position noted before the offset: a
 * member start, or what input_keep() kept. False if the stream ends before the offset, failed, or cannot be read again. */
bool input_seek(struct input *in, uint64_t offset);

/* The bytes that a stream which cannot seek cheaply can go back over. */
enum { INPUT_HISTORY = 1 << 20 };

/* Before the first read: input_go_back() may be called. */
void input_allow_going_back(struct input *in);

/* Goes back to an offset: in a plain file any, elsewhere at most INPUT_HISTORY bytes. False, without moving, if that is too far. */
bool input_go_back(struct input *in, uint64_t offset);
static inline bool input_can_go_anywhere(const struct input *in)
{
    return in->source.seekable && !in->compressed;
}
static inline bool input_can_go_back(const struct input *in, uint64_t offset)
{
    return input_can_go_anywhere(in) || in->offset - offset <= INPUT_HISTORY;
}

/* For a plain file or memory: reads at an offset, whatever is in the window. Several threads may do so at once. Returns how many
 * bytes there are. */
static inline size_t input_read_at(const struct input *in, uint64_t offset, uint8_t *to, size_t n)
{
    return source_read_at(&in->source, offset, to, n);
}
static inline int input_read_there(const struct input *in, uint64_t offset, uint8_t *to, size_t n)
{
    return source_read_there(&in->source, offset, to, n);
}

/* Continues at a later offset. Of a plain file or memory nothing before it is read. */
void input_go_on_at(struct input *in, uint64_t offset);

/* Puts `size` bytes in memory in place of the window: the stream seems to end after them. input_restore() takes them away. */
struct input_window {
    const uint8_t *first, *at, *end;
    uint64_t offset;
    bool ended;
};
static inline struct input_window input_replace(struct input *in, const uint8_t *bytes, size_t size)
{
    struct input_window window = {in->first, in->at, in->end, in->offset, in->ended};

    in->first = in->at = bytes;
    in->end = bytes + size;
    in->ended = true;
    return window;
}

static inline void input_restore(struct input *in, const struct input_window *window)
{
    in->first = window->first;
    in->at = window->at;
    in->end = window->end;
    in->offset = window->offset;
    in->ended = window->ended;
}

/* input_seek() will be called for `offset`, shortly before the present one: for a compressed file, the state there is kept until
 * the next call. */
void input_keep(struct input *in, uint64_t offset);

/* In a compressed file: the offset of the first byte of the gzip member that was last read of; else 0. */
uint64_t input_member_start(const struct input *in);

/* Ends the stream here, with an error: that of a read elsewhere, or ECANCELED if the caller wants no more. */
void input_stop(struct input *in, int error);

/* What `error` means, for a sentence. */
void input_reason(const struct input *in, char *to, size_t size);

/* Bytes of the file itself that were read so far, and its size (0 if unknown): for progress. */
uint64_t input_file_position(const struct input *in);
uint64_t input_file_size(const struct input *in);

#endif
