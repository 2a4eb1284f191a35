/* See gunzip.h. The headers and trailers of members are read here, field by field; ISA-L inflates the data between them. After each
 * call, the whole bytes that ISA-L took but did not use are given back to the input, so that the result depends on the bytes
 * alone, not on the size of blocks. ISA-L is laxer than zlib in one point: a block may declare a code with unused words. If such
 * a block inflates to something wrong, the checksum shows it.
 *
 * ISA-L was chosen by measurement, on a HotSpot -gz=1 dump of 0.65 GB (2.05 GB inflated), with one thread: 0.54 GB/s; zlib 0.24;
 * libdeflate 0.60, but it cannot stream a member. ISA-L allocates nothing: its state is a struct of ours. */
#include "input/gunzip.h"

#include <inttypes.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "input/gzip_header.h"
#include "input/members.h"

enum {
    UNUSED_MOST = 512, /* more than ISA-L ever leaves unused until more comes: a dynamic block's header takes 286 bytes */
    PIECE_BLOCKS = 2,  /* blocks in a piece of the file in which a thread looks for members */
    PIECES_LEAST = 4,  /* a file of fewer pieces is inflated by one thread */

    KEPT_BLOCKS = USUAL_OR_SMALL(32, 2), /* decompressed blocks between two within a member: these take one byte in a hundred */
    MEMBERS_PART =
        USUAL_OR_SMALL(4096, 4), /* and between two member starts this part of all bytes before: so their number is bounded */

    GO_BACK_MOST =
        USUAL_OR_SMALL(16 << 20, 512), /* compressed bytes before a fault that are searched for the header of the next member */
    INFLATED_MOST = 1032               /* bytes that one byte of deflate data can make */
};

enum part { HEADER, DATA, BROKEN_DATA, INFLATED_DATA, TRAILER, NOTHING };

/* A position in the stream, and all that is known of its member there, except the state of the inflater. */
struct position {
    uint64_t offset;        /* in the file */
    uint64_t output;        /* decompressed bytes before it */
    enum part part;         /* of the member: what comes next */
    bool end_is_doubtful;   /* of the preceding member: its data was damaged, so it may have ended elsewhere */
    uint64_t member;        /* number of the present one, from 1 */
    uint64_t member_offset; /* of its header */
    uint64_t data_offset;   /* of its compressed data */
    uint64_t member_output; /* decompressed bytes before it */
    uint32_t crc, size;     /* of its data so far */
};

/* A position to which the stream can return. */
struct snapshot {
    struct snapshot *before; /* the one before it in the stream */
    size_t size;             /* of this, which ends with the history that `state` has; without `state` between two members */
    struct position position;
    struct inflate_state state;
};

struct gunzip {
    struct memory *memory;
    struct input_source *source;
    uint8_t *buffer;
    size_t capacity;
    size_t block;
    uint64_t snapshot_distance; /* at least, where blocks are not small */
    const uint8_t *at, *end;    /* compressed bytes in memory */

    struct position now; /* of `at` */
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

    struct gzip_listening listening;
    uint64_t reported;           /* the last member with a fault that was reported */
    struct gzip_finding pending; /* to be reported when more bytes are wanted; GZIP_VALID for none */

    struct snapshot *last; /* of those in the order of the stream */
    struct snapshot *kept; /* one of them that was asked for */
};

/* ---- Compressed bytes ------------------------------------------------------------------------------------------- */

/* Grows the buffer to its usual size and keeps its bytes. */
static bool grow_buffer(struct gunzip *g)
{
    size_t capacity = g->block + UNUSED_MOST, rest = (size_t)(g->end - g->at);
    uint8_t *grown;

    if (g->capacity >= capacity)
        return true;
    grown = memory_get(g->memory, capacity);
    if (!grown)
        return false;
    memcpy(grown, g->at, rest);
    memory_put(g->memory, g->buffer, g->capacity);
    g->buffer = grown;
    g->capacity = capacity;
    g->at = grown;
    g->end = grown + rest;
    return true;
}

/* Reads more bytes after those in memory: a whole block if possible, since each call of ISA-L has a price. */
static bool fetch(struct gunzip *g)
{
    size_t rest = (size_t)(g->end - g->at), size = rest, got;

    if (rest > UNUSED_MOST || (g->end == g->buffer + g->capacity && !grow_buffer(g)))
        return false;
    memmove(g->buffer, g->at, rest);
    while (size < g->capacity && (got = source_read(g->source, g->buffer + size, g->capacity - size)) > 0)
        size += got;
    g->at = g->buffer;
    g->end = g->buffer + size;
    return size > rest;
}

static void go_to(struct gunzip *g, uint64_t offset)
{
    source_seek(g->source, offset);
    g->at = g->end = g->buffer;
    g->now.offset = offset;
}

static void pass(struct gunzip *g, size_t n)
{
    g->at += n;
    g->now.offset += n;
}

static bool take(struct gunzip *g, uint8_t *byte)
{
    if (g->at == g->end && !fetch(g))
        return false;
    *byte = *g->at;
    pass(g, 1);
    return true;
}

/* ---- Faults ----------------------------------------------------------------------------------------------------- */

/* Reports a fault of the present member. `found` and what follows are as for printf(). Unless only the trailer is wrong, the
 * stream ends. */
__attribute__((format(printf, 5, 6))) static void report(struct gunzip *g, enum gzip_fault fault, uint64_t offset,
                                                         const char *expected, const char *found, ...)
{
    va_list arguments;

    if (g->now.member > g->reported) {
        g->pending = (struct gzip_finding){
            .fault = fault, .member = g->now.member, .offset = offset, .start = g->now.member_output, .end = g->now.output};
        snprintf(g->pending.expected, sizeof g->pending.expected, "%s", expected);
        va_start(arguments, found);
        vsnprintf(g->pending.found, sizeof g->pending.found, found, arguments);
        va_end(arguments);
    }
    if (fault == GZIP_CHECKSUM || fault == GZIP_SIZE)
        return;
    g->now.part = NOTHING;
    g->ended_by_fault = fault != GZIP_ZEROS && fault != GZIP_NESTED;
}

static void report_pending(struct gunzip *g)
{
    struct gzip_finding finding = g->pending;

    g->pending.fault = GZIP_VALID;
    g->reported = finding.member;
    if (g->listening.on_fault)
        g->listening.on_fault(g->listening.context, &finding);
}

/* The file ends within the present member. A failed read is no fault of the file. */
static void report_truncated(struct gunzip *g, const char *within)
{
    if (g->source->error)
        g->now.part = NOTHING;
    else
        report(g, GZIP_TRUNCATED, g->now.member_offset, "a complete member",
               "the end of the file at 0x%" PRIx64 ", within the %s", g->now.offset + (uint64_t)(g->end - g->at), within);
}

/* Whether the stream is gzip again. It then counts as empty. */
static bool is_nested(const struct gunzip *g)
{
    return g->now.output >= 2 && g->output_start[0] == 0x1f && g->output_start[1] == 0x8b;
}

/* ---- Snapshots -------------------------------------------------------------------------------------------------- */

/* With only the part of the history that is in use: a file of many small members should not pay for all of it each time. */
static size_t state_size(const struct inflate_state *state)
{
    return offsetof(struct inflate_state, tmp_out_buffer) + (size_t)state->tmp_out_valid;
}

static void copy_state(struct inflate_state *to, const struct inflate_state *from)
{
    memcpy(to, from, state_size(from));
}

static bool snapshot_is_due(const struct gunzip *g)
{
    uint64_t distance = g->block < g->snapshot_distance / 16 ? 16 * g->block : g->snapshot_distance;
    const struct position *now = &g->now, *last = g->last ? &g->last->position : &(struct position){0};

    if (!g->source->seekable || now->part == BROKEN_DATA || now->part == INFLATED_DATA || now->part == NOTHING)
        return false;
    if (now->part == HEADER)
        distance += now->output / MEMBERS_PART;
    return now->output >= last->output + distance || now->offset >= last->offset + distance;
}

/* Drops the snapshot at *link, unless the next one would then be too far from the one before. */
static void drop_between(struct gunzip *g, struct snapshot **link, const struct snapshot *next)
{
    uint64_t blocks = (uint64_t)KEPT_BLOCKS * g->block, most = blocks > g->snapshot_distance ? blocks : g->snapshot_distance;
    struct snapshot *s = *link;
    uint64_t from = s->before ? s->before->position.output : 0;

    if (s == g->kept || s->position.part == HEADER || next->position.output - from > most)
        return;
    *link = s->before;
    memory_put(g->memory, s, s->size);
}

/* The last two stay. Without memory for snapshots the file is still read. */
static void take_snapshot(struct gunzip *g)
{
    size_t size = offsetof(struct snapshot, state);
    struct snapshot *s;

    if (!snapshot_is_due(g))
        return;
    if (g->last && g->last->before)
        drop_between(g, &g->last->before, g->last);
    if (g->now.part != HEADER)
        size += state_size(&g->state);
    s = memory_try(g->memory, size);
    if (!s)
        return;
    s->before = g->last;
    s->size = size;
    s->position = g->now;
    if (g->now.part != HEADER)
        copy_state(&s->state, &g->state);
    g->last = s;
}

/* The nearest snapshot at or before `target`; NULL for the start. */
static struct snapshot *nearest_snapshot(const struct gunzip *g, uint64_t target)
{
    struct snapshot *s = g->last;

    while (s && s->position.output > target)
        s = s->before;
    return s;
}

uint64_t gunzip_member_start(const struct gunzip *g)
{
    return g->now.member_output;
}

void gunzip_keep(struct gunzip *g, uint64_t target)
{
    const struct snapshot *kept = g->kept;

    g->kept = nearest_snapshot(g, target);
    if (kept == g->kept)
        return;
    for (struct snapshot *next = g->last; kept && next->before; next = next->before)
        if (next->before == kept) {
            drop_between(g, &next->before, next);
            return;
        }
}

uint64_t gunzip_rewind(struct gunzip *g, uint64_t target)
{
    const struct snapshot *nearest = nearest_snapshot(g, target);
    struct position to = nearest ? nearest->position : (struct position){.part = HEADER};

    if (is_nested(g))
        return 0;
    if (g->now.output <= target && to.output <= g->now.output)
        return g->now.output;
    if (to.part != HEADER)
        copy_state(&g->state, &nearest->state);
    go_to(g, to.offset);
    g->now = to;
    g->pending.fault = GZIP_VALID; /* it is found again when its bytes are read again */
    return g->now.output;
}

/* ---- A member's header: RFC 1952, 2.3 --------------------------------------------------------------------------- */

static bool take_header_byte(struct gunzip *g, uint8_t *byte)
{
    if (!take(g, byte))
        return false;
    g->header_crc = crc32_gzip_refl(g->header_crc, byte, 1);
    return true;
}

static bool take_header_u16(struct gunzip *g, uint16_t *value)
{
    uint8_t low, high;

    if (!take_header_byte(g, &low) || !take_header_byte(g, &high))
        return false;
    *value = (uint16_t)(low | high << 8);
    return true;
}

static bool pass_header_bytes(struct gunzip *g, unsigned n)
{
    uint8_t byte;

    while (n-- > 0)
        if (!take_header_byte(g, &byte))
            return false;
    return true;
}

static bool pass_header_text(struct gunzip *g)
{
    uint8_t byte;

    do {
        if (!take_header_byte(g, &byte))
            return false;
    } while (byte != 0);
    return true;
}

/* No member begins here. After a member that may have ended elsewhere, that is no fault of its own. */
static void end_without_member(struct gunzip *g, const char *found)
{
    if (g->now.end_is_doubtful) {
        g->now.part = NOTHING;
        g->ended_by_fault = g->ended_after_suspect = true;
        g->now.member--;
    } else {
        report(g, GZIP_TRAILING, g->now.member_offset, "1f 8b, or the end of the file", "%s", found);
    }
}

/* Whether nothing but zeros is left of the file, which is then at its end. */
static bool pass_zeros(struct gunzip *g)
{
    uint8_t byte;

    while (take(g, &byte))
        if (byte != 0)
            return false;
    return !g->source->error;
}

/* A zero is where a member should begin. `gzip -t` ignores zeros up to the end of the file, which tapes and block devices leave. */
static void end_at_zero(struct gunzip *g, const char *found)
{
    if (!g->now.end_is_doubtful && pass_zeros(g))
        report(g, GZIP_ZEROS, g->now.member_offset, "the end of the file", "zeros to the end of the file");
    else if (g->source->error)
        g->now.part = NOTHING;
    else
        end_without_member(g, found);
}

/* Whether a member begins here. If not, the stream ends; without a fault if the file ends here. */
static bool read_magic(struct gunzip *g)
{
    uint8_t id1, id2 = 0;
    bool has_both;
    char found[40];

    g->now.member_offset = g->now.offset;
    g->now.member_output = g->now.output;
    g->header_crc = 0;
    take_snapshot(g);
    if (!take_header_byte(g, &id1)) {
        g->now.part = NOTHING;
        return false;
    }
    g->now.member++;
    has_both = take_header_byte(g, &id2);
    if (id1 == 0x1f && id2 == 0x8b)
        return true;
    if (has_both)
        snprintf(found, sizeof found, "%02x %02x", id1, id2);
    else
        snprintf(found, sizeof found, "%02x, then the end of the file", id1);
    if (!has_both && g->source->error)
        g->now.part = NOTHING;
    else if (id1 == 0 && id2 == 0)
        end_at_zero(g, found);
    else
        end_without_member(g, found);
    return false;
}

/* Reads the fields after the magic, up to the first fault. False if the file ends within them. */
static bool read_fields(struct gunzip *g)
{
    uint64_t at = g->now.offset;
    uint8_t method, flags;
    uint16_t extra_length, crc16, right;
    char expected[32];

    if (!take_header_byte(g, &method))
        return false;
    if (method != DEFLATE_METHOD) {
        report(g, GZIP_HEADER, at, "compression method 8", "compression method %u", method);
        return true;
    }
    if (!take_header_byte(g, &flags))
        return false;
    if (flags & RESERVED_FLAGS) {
        report(g, GZIP_HEADER, at + 1, "reserved flags of 0", "flags 0x%02x", flags);
        return true;
    }
    if (!pass_header_bytes(g, 4 /* MTIME */ + 1 /* XFL */ + 1 /* OS */))
        return false;
    if ((flags & FEXTRA) && (!take_header_u16(g, &extra_length) || !pass_header_bytes(g, extra_length)))
        return false;
    if (((flags & FNAME) && !pass_header_text(g)) || ((flags & FCOMMENT) && !pass_header_text(g)))
        return false;
    if (!(flags & FHCRC))
        return true;
    at = g->now.offset;
    right = (uint16_t)g->header_crc;
    if (!take_header_u16(g, &crc16))
        return false;
    if (crc16 != right) {
        snprintf(expected, sizeof expected, "CRC16 0x%04x", right);
        report(g, GZIP_HEADER, at, expected, "CRC16 0x%04x", crc16);
    }
    return true;
}

static void read_header(struct gunzip *g)
{
    if (!read_magic(g))
        return;
    if (!read_fields(g))
        report_truncated(g, "header");
    if (g->now.part != HEADER)
        return;
    isal_inflate_init(&g->state);
    g->now.data_offset = g->now.offset;
    g->now.crc = 0;
    g->now.size = 0;
    g->member = g->members ? members_find(g->members, g->now.member_offset) : NULL;
    g->now.part = g->member ? INFLATED_DATA : DATA;
}

/* ---- Its data: RFC 1951 ----------------------------------------------------------------------------------------- */

/* Gives back whole bytes in the bit buffer, and the bytes of an incomplete block header that ISA-L set aside. */
static void take_back_unused(struct inflate_state *state)
{
    int32_t unused = state->read_in_length / 8;

    if (state->block_state == ISAL_BLOCK_HDR) {
        unused += state->tmp_in_size;
        state->tmp_in_size = 0;
        state->block_state = ISAL_BLOCK_NEW_HDR;
    }
    state->next_in -= unused;
    state->avail_in += (uint32_t)unused;
    state->read_in_length %= 8;
    state->read_in &= (UINT64_C(1) << state->read_in_length) - 1;
}

/* One call of ISA-L for `size` bytes. Returns 0, or the kind of fault; `state` then says what it used and wrote. */
static int inflate_bytes(struct gunzip *g, uint32_t size, uint8_t *to, uint32_t room)
{
    int result;

    g->state.next_in = (uint8_t *)g->at; /* not written to */
    g->state.avail_in = size;
    g->state.next_out = to;
    g->state.avail_out = room;
    result = isal_inflate(&g->state);
    if (result < 0)
        return result;
    take_back_unused(&g->state);
    return 0;
}

/* To that of save_state(). */
static void restore_state(struct gunzip *g)
{
    if (g->was_new)
        isal_inflate_init(&g->state);
    else
        copy_state(&g->state, g->before);
}

static const char *name_of_fault(int result)
{
    switch (result) {
    case ISAL_INVALID_BLOCK:
        return "a block with an invalid header";
    case ISAL_INVALID_SYMBOL:
        return "an invalid code";
    case ISAL_INVALID_LOOKBACK:
        return "a copy of bytes before the first one";
    default:
        return "data that cannot be inflated";
    }
}

/* The last call failed with `size` bytes, without saying where. The bad byte is the last one of the shortest piece that fails,
 * found by bisection: some twenty calls, once a file. Afterwards `state` is that of the failed call with exactly this piece,
 * because with more bytes ISA-L may count a copy that it refuses as output. */
static void find_bad_byte(struct gunzip *g, uint32_t size, uint8_t *to, uint32_t room)
{
    uint32_t good = 0, bad = size;

    while (good < bad) {
        uint32_t middle = good + (bad - good) / 2;

        restore_state(g);
        if (inflate_bytes(g, middle, to, room) < 0)
            bad = middle;
        else
            good = middle + 1;
    }
    restore_state(g);
    g->bad_because = name_of_fault(inflate_bytes(g, bad, to, room));
    /* With no byte at all, the fault is in the unused bits of the preceding byte. */
    g->bad_offset = g->now.offset + bad - 1;
}

static void note_output(struct gunzip *g, const uint8_t *made, size_t size)
{
    for (size_t i = 0; g->now.output + i < sizeof g->output_start && i < size; i++)
        g->output_start[g->now.output + i] = made[i];
    g->now.size += (uint32_t)size;
    g->now.output += size;
}

static void account(struct gunzip *g, const uint8_t *made, size_t size)
{
    g->now.crc = crc32_gzip_refl(g->now.crc, made, size);
    note_output(g, made, size);
}

static uint32_t at_most_u32(size_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Drops the saved state. */
static bool grow_saved_state(struct gunzip *g, size_t size)
{
    void *larger;

    if (size <= g->before_size)
        return true;
    larger = memory_get(g->memory, size);
    if (!larger)
        return false;
    memory_put(g->memory, g->before, g->before_size);
    g->before_size = size;
    g->before = larger;
    return true;
}

/* For find_bad_byte(). */
static bool save_state(struct gunzip *g)
{
    g->was_new = g->now.offset == g->now.data_offset;
    if (g->was_new)
        return true;
    if (state_size(&g->state) > g->before_size &&
        !grow_saved_state(g, g->before_size ? sizeof g->state : state_size(&g->state)))
        return false;
    copy_state(g->before, &g->state);
    return true;
}

/* The bytes that ISA-L has inflated beyond the room that it had. */
static size_t held_output(const struct gunzip *g)
{
    return (size_t)(g->state.tmp_out_valid - g->state.tmp_out_processed);
}

/* Whether a call, before which the state is saved, can be left out. At the end of a call ISA-L drops what it has handed out beyond
 * the history, so when the next call begins, there may not be more than that. */
static bool may_skip_call(const struct gunzip *g, size_t room)
{
    return held_output(g) > room && (size_t)g->state.tmp_out_processed + room < ISAL_DEF_HIST_SIZE;
}

static size_t take_held_output(struct gunzip *g, uint8_t *to, size_t room)
{
    struct inflate_state *state = &g->state;
    size_t held = held_output(g), n = held < room ? held : room;

    memcpy(to, state->tmp_out_buffer + state->tmp_out_processed, n);
    state->tmp_out_processed += (int32_t)n;
    account(g, to, n);
    return n;
}

static size_t read_data(struct gunzip *g, uint8_t *to, size_t room_there)
{
    uint32_t room = at_most_u32(room_there), size, used, made;

    if (may_skip_call(g, room_there))
        return take_held_output(g, to, room_there);
    if (g->at == g->end)
        fetch(g); /* even if nothing comes, ISA-L may still hold output */
    size = at_most_u32((size_t)(g->end - g->at));
    if (!save_state(g)) {
        g->now.part = NOTHING;
        return 0;
    }
    if (inflate_bytes(g, size, to, room) < 0) {
        find_bad_byte(g, size, to, room);
        g->now.part = BROKEN_DATA;
    }
    used = size - g->state.avail_in;
    made = room - g->state.avail_out;
    account(g, to, made);
    if (g->now.part == BROKEN_DATA)
        return made;
    pass(g, used);
    if (g->state.block_state == ISAL_BLOCK_FINISH)
        g->now.part = TRAILER;
    else if (used == 0 && made == 0 && !fetch(g))
        report_truncated(g, "data");
    return made;
}

/* Hands out what was inflated before the bad byte and had no room yet. */
static size_t read_data_before_fault(struct gunzip *g, uint8_t *to, size_t room)
{
    size_t made = take_held_output(g, to, room);

    if (!made)
        report(g, GZIP_DATA, g->bad_offset, "deflate data", "%s", g->bad_because);
    return made;
}

/* ---- Its data, if a thread has inflated it ---------------------------------------------------------------------- */

/* Goes to a later offset of the file. */
static void pass_to(struct gunzip *g, uint64_t offset)
{
    uint64_t left = offset - g->now.offset;

    if (left > (uint64_t)(g->end - g->at))
        go_to(g, offset);
    else
        pass(g, (size_t)left);
}

static size_t read_inflated_data(struct gunzip *g, uint8_t *to, size_t room)
{
    const struct member *m = g->member;
    size_t done = (size_t)(g->now.output - g->now.member_output), rest = m->size - done, n = rest < room ? rest : room;

    memcpy(to, m->bytes + done, n);
    note_output(g, to, n);
    if (n == rest) {
        g->now.crc = m->crc;
        g->now.part = TRAILER;
        pass_to(g, m->end);
    }
    return n;
}

/* ---- Its trailer: RFC 1952, 2.3 --------------------------------------------------------------------------------- */

static void read_trailer(struct gunzip *g)
{
    uint64_t at = g->now.offset;
    uint32_t crc, size;
    char expected[32];

    if (g->end - g->at < TRAILER_SIZE)
        fetch(g);
    if (g->end - g->at < TRAILER_SIZE) {
        pass(g, (size_t)(g->end - g->at));
        report_truncated(g, "trailer");
        return;
    }
    crc = get_u32_little(g->at);
    size = get_u32_little(g->at + 4);
    pass(g, TRAILER_SIZE);
    if (crc != g->now.crc) {
        snprintf(expected, sizeof expected, "CRC32 0x%08" PRIx32, g->now.crc);
        report(g, GZIP_CHECKSUM, at, expected, "CRC32 0x%08" PRIx32, crc);
    } else if (size != g->now.size) {
        snprintf(expected, sizeof expected, "ISIZE %" PRIu32, g->now.size);
        report(g, GZIP_SIZE, at + 4, expected, "ISIZE %" PRIu32, size);
    }
    g->now.end_is_doubtful = crc != g->now.crc || size != g->now.size;
    g->now.part = HEADER;
    if (!g->now.end_is_doubtful)
        return;
    g->suspect_offset = g->now.member_offset;
    g->suspect_output = g->now.member_output;
    if (g->may_resume && crc != g->now.crc && size != g->now.size) {
        g->now.part = NOTHING;
        g->ended_by_fault = g->ended_after_suspect = true;
    }
}

/* ---- After a fault ---------------------------------------------------------------------------------------------- */

/* Goes to the next bytes that may be a header: magic, method and flags are valid. */
static bool find_header(struct gunzip *g)
{
    for (;;) {
        const uint8_t *id1 = memchr(g->at, 0x1f, (size_t)(g->end - g->at));

        pass(g, (size_t)((id1 ? id1 : g->end) - g->at));
        if (g->end - g->at < GZIP_SIGN) {
            if (!fetch(g))
                return false;
        } else if (is_gzip_sign(g->at)) {
            return true;
        } else {
            pass(g, 1);
        }
    }
}

/* Invalid data may inflate for a while, even beyond the header that is looked for. But no more bytes are read again than were
 * read before, so that the time stays linear. */
static void go_back(struct gunzip *g, uint64_t offset)
{
    uint64_t distance = g->now.offset - offset;

    if (!g->source->seekable || distance > GO_BACK_MOST || g->gone_back + distance > g->now.offset)
        return;
    g->gone_back += distance;
    go_to(g, offset);
}

/* The ISIZE of the member from `offset`, if it ends before the present offset. */
static uint64_t stated_size(const struct gunzip *g, uint64_t offset)
{
    uint64_t most = (g->now.offset - offset) * INFLATED_MOST;
    uint8_t isize[4];
    uint32_t size;

    if (!g->source->seekable || g->now.offset < offset + sizeof isize ||
        source_read_at(g->source, g->now.offset - sizeof isize, isize, sizeof isize) < sizeof isize)
        return GZIP_SIZE_UNKNOWN;
    size = get_u32_little(isize);
    return size > most ? GZIP_SIZE_UNKNOWN : size;
}

void gunzip_allow_resume(struct gunzip *g)
{
    g->may_resume = true;
}

bool gunzip_ended_by_fault(const struct gunzip *g)
{
    return g->ended_by_fault;
}

bool gunzip_resume(struct gunzip *g, struct gzip_resumption *resumption)
{
    uint64_t offset = g->ended_after_suspect ? g->suspect_offset : g->now.member_offset;
    uint64_t output = g->ended_after_suspect ? g->suspect_output : g->now.member_output;

    if (!g->ended_by_fault || g->source->error)
        return false;
    go_back(g, offset + 1);
    if (!find_header(g))
        return false;
    resumption->damaged = g->now.member;
    resumption->size = stated_size(g, offset);
    resumption->made = g->now.output - output;
    g->ended_by_fault = g->ended_after_suspect = g->now.end_is_doubtful = false;
    g->now.part = HEADER;
    return true;
}

/* ---- All members ------------------------------------------------------------------------------------------------ */

bool gunzip_ended(const struct gunzip *g)
{
    return g->now.part == NOTHING && g->pending.fault == GZIP_VALID;
}

struct gzip_listening gunzip_listen(struct gunzip *g, struct gzip_listening listening)
{
    struct gzip_listening before = g->listening;

    g->listening = listening;
    return before;
}

bool gunzip_prepare_thread(struct gunzip *g)
{
    return grow_saved_state(g, sizeof g->state) && grow_buffer(g);
}

void gunzip_inflate_ahead(struct gunzip *g, unsigned threads)
{
    size_t piece = PIECE_BLOCKS * g->block;

    if (threads && g->source->seekable && g->source->size > g->now.offset &&
        g->source->size - g->now.offset >= PIECES_LEAST * piece)
        g->members = members_start(g->memory, g->source, g->now.offset, piece, threads);
}

void gunzip_end_inflating_ahead(struct gunzip *g)
{
    members_stop(g->members);
    g->members = NULL;
    if (g->now.part == INFLATED_DATA) { /* its bytes are gone, so the member begins again */
        g->now.part = HEADER;
        g->now.member--;
        g->now.output = g->now.member_output;
        go_to(g, g->now.member_offset);
    }
}

void gunzip_report_again(struct gunzip *g, uint64_t member)
{
    g->reported = member - 1;
}

size_t gunzip_read(struct gunzip *g, uint8_t *to, size_t room)
{
    size_t done = 0;
    bool is_reported = false;

    take_snapshot(g);
    while (done < room) {
        if (g->pending.fault != GZIP_VALID && (done || is_reported))
            return done;
        if (g->pending.fault != GZIP_VALID) {
            report_pending(g);
            is_reported = true;
        }
        switch (g->now.part) {
        case HEADER:
            read_header(g);
            break;
        case DATA:
            done += read_data(g, to + done, room - done);
            break;
        case BROKEN_DATA:
            done += read_data_before_fault(g, to + done, room - done);
            break;
        case INFLATED_DATA:
            done += read_inflated_data(g, to + done, room - done);
            break;
        case TRAILER:
            read_trailer(g);
            break;
        case NOTHING:
            return done;
        }
        if (is_nested(g)) {
            if (g->now.part != NOTHING)
                report(g, GZIP_NESTED, 0, "a dump, compressed once", "1f 8b: gzip within gzip");
            if (g->pending.fault != GZIP_VALID)
                report_pending(g);
            return 0;
        }
    }
    return done;
}

struct gunzip *gunzip_open(struct input_source *source, const uint8_t *start, size_t size, size_t block,
                           const struct sizes *sizes, struct memory *memory, gzip_listener *on_fault, void *context)
{
    struct gunzip *g = memory_get_zeroed(memory, sizeof *g);

    if (!g)
        return NULL;
    g->memory = memory;
    g->source = source;
    g->block = block;
    g->snapshot_distance = sizes->snapshot;
    g->capacity = (block < sizes->first_buffer ? block : sizes->first_buffer) + UNUSED_MOST;
    if (g->capacity < size)
        g->capacity = size;
    g->buffer = memory_get(memory, g->capacity);
    g->listening = (struct gzip_listening){on_fault, context};
    if (!g->buffer) {
        gunzip_close(g, memory);
        return NULL;
    }
    memcpy(g->buffer, start, size);
    g->at = g->buffer;
    g->end = g->buffer + size;
    return g;
}

void gunzip_close(struct gunzip *g, struct memory *memory)
{
    if (!g)
        return;
    for (struct snapshot *s = g->last, *before; s; s = before) {
        before = s->before;
        memory_put(memory, s, s->size);
    }
    memory_put(memory, g->before, g->before_size);
    memory_put(memory, g->buffer, g->capacity);
    memory_put(memory, g, sizeof *g);
}
