/* What the files of gunzip.h share: the state of a stream, and what each does with it. */
#ifndef HPROF_GUNZIP_STREAM_H
#define HPROF_GUNZIP_STREAM_H

#include <isa-l/igzip_lib.h>
#include <string.h>

#include "input/gunzip.h"
#include "input/members.h"

enum gunzip_part { HEADER, DATA, BROKEN_DATA, INFLATED_DATA, TRAILER, NOTHING };

/* A position in the stream, and all that is known of its member there, except the state of the inflater. */
struct gunzip_position {
    uint64_t offset;        /* in the file */
    uint64_t output;        /* decompressed bytes before it */
    enum gunzip_part part;  /* of the member: what comes next */
    bool end_is_doubtful;   /* of the preceding member: its data was damaged, so it may have ended elsewhere */
    uint64_t member;        /* number of the present one, from 1 */
    uint64_t member_offset; /* of its header */
    uint64_t data_offset;   /* of its compressed data */
    uint64_t member_output; /* decompressed bytes before it */
    uint32_t crc, size;     /* of its data so far */
};

/* A position to which the stream can return. */
struct gunzip_snapshot {
    struct gunzip_snapshot *before; /* the one before it in the stream */
    size_t size; /* of this, which ends with the history that `state` has; without `state` between two members */
    struct gunzip_position position;
    struct inflate_state state;
};

struct gunzip {
    struct memory *memory;
    struct input_source *source;
    uint8_t *buffer;
    size_t capacity;
    size_t block;
    uint64_t snapshot_distance; /* at least, where blocks are not small */
    uint64_t zeros_from;        /* nothing but zeros is in the file from there on; UINT64_MAX if that is not known */
    const uint8_t *at, *end;    /* compressed bytes in memory */

    struct gunzip_position now; /* of `at` */
    struct inflate_state state;
    struct inflate_state *before; /* a copy of `state` from before the last call, without the unused end of its history; */
    size_t before_size;           /* its bytes */
    bool was_new;                 /* that call was the member's first, which needs no copy */
    uint32_t header_crc;          /* of the present member's header so far */
    uint8_t output_start[2];      /* the first bytes of the stream */
    uint64_t bad_offset;          /* BROKEN_DATA: the first bad byte */
    const char *bad_because;

    struct members *members;     /* NULL unless threads inflate members ahead */
    const struct member *member; /* INFLATED_DATA: the present one */
    bool ended_by_fault;
    bool ended_after_suspect;                /* a member with a wrong checksum or size, */
    uint64_t suspect_offset, suspect_output; /* the last one: offsets of its header and of its data */
    bool may_resume;
    uint64_t gone_back; /* compressed bytes that gunzip_resume() had read before */
    uint64_t mended;    /* headers that it tried to mend */

    struct gzip_listening listening;
    uint64_t reported;           /* the last member with a fault that was reported */
    struct gzip_finding pending; /* to be reported when more bytes are wanted; GZIP_VALID for none */

    struct gunzip_snapshot *last; /* of those in the order of the stream */
    struct gunzip_snapshot *kept; /* one of them that was asked for */
};

/* ---- gunzip_bytes.c: the compressed bytes ---- */

enum { UNUSED_MOST = 512 /* more than ISA-L ever leaves unused until more comes: a dynamic block's header takes 286 bytes */ };

/* Grows the buffer to its usual size and keeps its bytes. False if there is no memory. */
bool gunzip_grow_buffer(struct gunzip *g);
/* Reads more bytes after those in memory: a whole block if possible, since each call of ISA-L has a price. False at the end of the
 * file. */
bool gunzip_fetch(struct gunzip *g);
void gunzip_go_to(struct gunzip *g, uint64_t offset);
/* Passes bytes in memory. */
void gunzip_pass(struct gunzip *g, size_t n);
bool gunzip_take(struct gunzip *g, uint8_t *byte);
/* Of the bytes in memory those before the zeros that end the file. */
size_t gunzip_written(const struct gunzip *g);

/* ---- gunzip_faults.c ---- */

/* Reports a fault of the present member, when more bytes are wanted. `found` and what follows are as for printf(). Unless only the
 * trailer is wrong, the stream ends. */
__attribute__((format(printf, 5, 6))) void gunzip_fault(struct gunzip *g, enum gzip_fault fault, uint64_t offset,
                                                        const char *expected, const char *found, ...);
/* The file, or what was written of it, ends within the present member. A failed read is no fault of the file. */
void gunzip_truncated(struct gunzip *g, const char *within);
void gunzip_report_pending(struct gunzip *g);
/* Whether the stream is gzip again. It then counts as empty. */
bool gunzip_is_nested(const struct gunzip *g);

/* ---- gunzip_snapshots.c: positions to which the stream can return ---- */

/* Of `state` the history that is in use: a file of many small members should not pay for all of it each time. */
static inline size_t gunzip_state_size(const struct inflate_state *state)
{
    return offsetof(struct inflate_state, tmp_out_buffer) + (size_t)state->tmp_out_valid;
}

static inline void gunzip_copy_state(struct inflate_state *to, const struct inflate_state *from)
{
    memcpy(to, from, gunzip_state_size(from));
}

/* If one is due. The last two stay. Without memory for snapshots the file is still read. */
void gunzip_take_snapshot(struct gunzip *g);

/* ---- gunzip_header.c ---- */

/* Reads the header of the next member, if there is one. */
void gunzip_read_header(struct gunzip *g);

/* ---- gunzip_data.c ---- */

/* These three return the bytes that they have written. */
size_t gunzip_read_data(struct gunzip *g, uint8_t *to, size_t room);
/* Hands out what was inflated before the bad byte and had no room yet. */
size_t gunzip_read_data_before_fault(struct gunzip *g, uint8_t *to, size_t room);
/* Of a member that a thread has inflated. */
size_t gunzip_read_inflated_data(struct gunzip *g, uint8_t *to, size_t room);
/* Makes room for `size` bytes of saved state; what was saved is dropped. False if there is no memory. */
bool gunzip_grow_saved_state(struct gunzip *g, size_t size);

#endif
